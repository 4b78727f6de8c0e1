//! Where a request can go.

use std::process::Command;

use super::super::super::dial::support::{
    Lookup, Scripted, Server, Trap, dialler, local, named, network,
};
use super::*;
use crate::policy::Permission::{Allow, Deny};
use crate::tool::ErrorCase;

#[tokio::test]
async fn an_address_inside_is_denied_in_every_spelling_and_sees_no_connection() {
    let trap = Trap::set();
    let v6 = Trap::at(&format!("[::1]:{}", trap.port())).ok();
    let spellings = [
        "127.0.0.1",
        "127.0.0.1.",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "0x7f.0.0.1",
        "0X7F.1",
        "017700000001",
        "0177.0.0.01",
        "127.0.0.0x1",
        "0",
        "0.0.0.0",
        "%31%32%37.0.0.1",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "[64:ff9b:1::7f00:1]",
        "[2002:7f00:1::]",
        "[2001:0:7f00:1::]",
        "localhost",
        "LOCALHOST.",
    ];
    for spelling in spellings {
        let url = format!("http://{spelling}:{}/", trap.port());
        // Some are no URI to begin with, which is just as well.
        let Ok(request) = Request::get(&url).body(Empty::new()) else { continue };
        // The port is granted for everything public, so only the address stands in the way.
        let rule = format!("localhost:{}", trap.port());
        let dialler = dialler(network(Allow, &[&rule]), Scripted::finds(&["127.0.0.1"]));
        let error = refused(request, &dialler).await;
        assert!(
            matches!(error.case, ErrorCase::Denied | ErrorCase::InvalidInput),
            "{spelling}: {error}"
        );
        assert_eq!(only_entry(&dialler).address, None, "{spelling}");
    }
    trap.assert_untouched();
    if let Some(v6) = v6 {
        v6.assert_untouched();
    }
}

#[tokio::test]
async fn a_name_is_looked_up_once_and_what_was_checked_is_dialled() {
    let (server, _) = Server::answering("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await;
    // A second look-up would lead somewhere else, and a third would fail.
    let resolver =
        Scripted::new([Lookup::Finds(vec!["127.0.0.1"]), Lookup::Finds(vec!["169.254.169.254"])]);
    let dialler = named(server.port(), resolver.clone());
    let url = format!("http://name.test:{}/", server.port());
    let response = send(get(&url), &dialler).await.unwrap();
    assert_eq!(text(response).await.unwrap(), "ok");
    assert_eq!(resolver.lookups(), 1);
    assert_eq!(only_entry(&dialler).address, Some(format!("127.0.0.1:{}", server.port())));

    // The next request looks again, and finds what is not allowed.
    let error = refused(get(&url), &dialler).await;
    assert_eq!(error.case, ErrorCase::Denied);
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_name_with_one_address_inside_is_not_dialled_at_all() {
    let trap = Trap::set();
    for answers in [["127.0.0.1", "10.0.0.1"], ["10.0.0.1", "127.0.0.1"]] {
        let dialler = named(trap.port(), Scripted::finds(&answers));
        let error = refused(get(&format!("http://name.test:{}/", trap.port())), &dialler).await;
        assert_eq!(error.case, ErrorCase::Denied);
    }
    trap.assert_untouched();
}

#[tokio::test]
async fn the_name_in_the_uri_and_the_name_that_is_dialled_are_one() {
    // What one parser takes for the host and another for something else.
    let trap = Trap::set();
    for authority in [
        "good.test@127.0.0.1",
        "good.test:80@127.0.0.1",
        "user:pw@good.test",
        "good.test\\@127.0.0.1",
    ] {
        let url = format!("http://{authority}:{}/", trap.port());
        let Ok(request) = Request::get(&url).body(Empty::new()) else { continue };
        let dialler = dialler(network(Allow, &["good.test"]), Scripted::finds(&["127.0.0.1"]));
        let error = refused(request, &dialler).await;
        assert_eq!(error.case, ErrorCase::InvalidInput, "{authority}: {error}");
    }
    trap.assert_untouched();
}

#[tokio::test]
async fn redirects_are_shown_and_not_followed() {
    let trap = Trap::set();
    for status in [301, 302, 303, 307, 308] {
        let location = format!("http://127.0.0.1:{}/next", trap.port());
        let answer =
            format!("HTTP/1.1 {status} Away\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
        let (server, _) = Server::answering(answer).await;
        let rules = [format!("127.0.0.1:{}", server.port()), format!("127.0.0.1:{}", trap.port())];
        let dialler = dialler(network(Deny, &[&rules[0], &rules[1]]), Scripted::nothing());
        let response =
            send(get(&format!("http://127.0.0.1:{}/", server.port())), &dialler).await.unwrap();
        assert_eq!(response.status(), status);
        assert_eq!(response.headers()["location"], location);
        assert_eq!(server.connections(), 1);
    }
    trap.assert_untouched();
}

#[tokio::test]
async fn no_connection_is_used_twice() {
    // The server would keep them open.
    let server = Server::start(|mut stream| async move {
        use tokio::io::AsyncWriteExt;
        loop {
            if super::super::super::dial::support::read_head(&mut stream).await.is_empty() {
                return;
            }
            if stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.is_err() {
                return;
            }
        }
    })
    .await;
    let dialler = local(server.port());
    for requests in 1..=5 {
        let url = format!("http://127.0.0.1:{}/", server.port());
        assert_eq!(text(send(get(&url), &dialler).await.unwrap()).await.unwrap(), "ok");
        assert_eq!(server.connections(), requests);
    }
}

const CHILD: &str = "XZATOMA_TEST_PROXY_CHILD";

/// The variables are read when a client is made, and cannot be set safely while other tests run;
/// so this test runs itself again in a process that has them.
#[tokio::test]
async fn proxy_variables_are_ignored() {
    if std::env::var_os(CHILD).is_some() {
        let (server, _) =
            Server::answering("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\ndirect").await;
        let dialler = named(server.port(), Scripted::finds(&["127.0.0.1"]));
        let url = format!("http://name.test:{}/", server.port());
        assert_eq!(text(send(get(&url), &dialler).await.unwrap()).await.unwrap(), "direct");
        return;
    }
    let trap = Trap::set();
    let mut child = Command::new(std::env::current_exe().unwrap());
    // As the test runner knows it: without the crate.
    let module = module_path!().split_once("::").unwrap().1;
    child.args([&format!("{module}::proxy_variables_are_ignored"), "--exact"]).env(CHILD, "1");
    for variable in
        ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
    {
        child.env(variable, format!("http://127.0.0.1:{}", trap.port()));
    }
    child.env_remove("no_proxy").env_remove("NO_PROXY").env_remove("REQUEST_METHOD");
    let output = tokio::task::spawn_blocking(move || child.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
    trap.assert_untouched();
}
