//! No network, or one with nothing in it but the proxy.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;

use xzatoma::capability::process::run;

use crate::process::support::*;

const DENIED: &str = "1";

#[test]
fn nothing_outside_can_be_reached() {
    use std::os::linux::net::SocketAddrExt;
    let workspace = Scratch::new();
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let name = format!("process-test-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let hidden = UnixListener::bind_addr(&address).unwrap();
    hidden.set_nonblocking(true).unwrap();
    let visible = UnixListener::bind(workspace.path("socket")).unwrap();
    visible.set_nonblocking(true).unwrap();

    for proxy in [false, true] {
        let mut spec = probe(&workspace, &format!("sockets:{port},{name}"));
        spec.proxy = proxy;
        let finished = block_on(run(spec, &helper(), drop)).unwrap();
        assert_eq!(finished.exit_code, Some(0), "{}{}", out(&finished), err(&finished));
        let results = results(&out(&finished));
        for kind in [
            "tcp6-connect",
            "udp",
            "abstract",
            "unix-connect",
            "unix-listen",
            "netlink",
            "packet",
            "vsock",
            "raw",
            "ping",
            "sctp",
            "mptcp",
            "alg",
        ] {
            assert_eq!(results[kind], DENIED, "{kind}, proxy {proxy}");
        }
        assert_eq!(results["unix-pair"], "worked");
        // In the sandbox's own network nobody listens at that port.
        let refused = if proxy { libc::ECONNREFUSED.to_string() } else { DENIED.to_owned() };
        assert_eq!(results["tcp-connect"], refused);
        assert_eq!(results["tcp-listen"], if proxy { "worked" } else { DENIED });
    }
    assert!(listener.accept().is_err());
    assert!(hidden.accept().is_err());
    assert!(visible.accept().is_err());
}

#[test]
fn the_proxy_is_served_by_the_host() {
    let workspace = Scratch::new();
    let mut spec = probe(&workspace, "proxy");
    spec.proxy = true;
    let mut server = None;
    let finished = block_on(run(spec, &helper(), |listener: TcpListener| {
        server = Some(std::thread::spawn(move || {
            for _ in 0..6 {
                let (mut stream, _) = listener.accept().unwrap();
                let mut text = String::new();
                stream.read_to_string(&mut text).unwrap();
                assert_eq!(text, "ping");
                stream.write_all(b"pong").unwrap();
            }
        }));
    }))
    .unwrap();
    assert_eq!(finished.exit_code, Some(0), "{}{}", out(&finished), err(&finished));
    server.unwrap().join().unwrap();
    let results = results(&out(&finished));
    assert_eq!(results.len(), 6);
    assert!(results.values().all(|answer| answer == "pong"), "{results:?}");
}
