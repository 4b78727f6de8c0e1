use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::net::TcpListener;

use super::support::{Lookup, Says, Scripted, Trap, asking, dialler, local, network, soon};
use super::*;
use crate::policy::HostRule;
use crate::policy::Permission::{Allow, Ask, Deny};
use crate::tool::ErrorCase;

fn host(text: &str) -> HostName {
    HostName::parse(text).unwrap()
}

async fn authorise(dialler: &Dialler, name: &str, port: u16) -> Result<Vec<SocketAddr>, ToolError> {
    let target = Target { host: &host(name), port, method: Some("GET"), act: "GET it" };
    soon(dialler.authorise(target)).await
}

#[tokio::test]
async fn an_address_inside_is_denied_in_every_spelling_and_nobody_is_asked() {
    let spellings = [
        ("127.0.0.1", "loopback"),
        ("2130706433", "loopback"),
        ("0x7f000001", "loopback"),
        ("0177.0.0.1", "loopback"),
        ("127.1", "loopback"),
        ("127.0.0.1.", "loopback"),
        ("[::1]", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("[::ffff:7f00:1]", "loopback"),
        ("[64:ff9b::127.0.0.1]", "loopback"),
        ("[2002:7f00:1::]", "loopback"),
        ("0.0.0.0", "unspecified"),
        ("10.1.2.3", "private"),
        ("192.168.0.1", "private"),
        ("[fd00::1]", "private"),
        ("[fe80::1]", "link-local"),
        ("169.254.169.254", "metadata"),
        ("2852039166", "metadata"),
        ("0xa9fea9fe", "metadata"),
        ("0251.0376.0251.0376", "metadata"),
        ("[::ffff:169.254.169.254]", "metadata"),
        ("[64:ff9b::a9fe:a9fe]", "metadata"),
    ];
    for (spelling, class) in spellings {
        for public in [Ask, Allow] {
            let approver = Says::new(Answer::Session);
            let dialler = asking(network(public, &[]), Scripted::nothing(), approver.clone());
            let error = authorise(&dialler, spelling, 80).await.unwrap_err();
            assert_eq!(error.case, ErrorCase::Denied, "{spelling}: {error}");
            assert!(error.message.contains(class), "{spelling}: {error}");
            assert!(error.message.contains("--allow-host "), "{spelling}: {error}");
            assert!(approver.questions.lock().unwrap().is_empty(), "{spelling}");
            assert_eq!(dialler.ledger().snapshot().denials.len(), 1, "{spelling}");
        }
    }
}

#[tokio::test]
async fn a_name_that_points_inside_is_denied_even_if_the_name_is_granted() {
    for address in
        ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "64:ff9b::a9fe:a9fe"]
    {
        let resolver = Scripted::finds(&[address]);
        let dialler = dialler(network(Allow, &["inside.test"]), resolver);
        let error = authorise(&dialler, "inside.test", 80).await.unwrap_err();
        assert_eq!(error.case, ErrorCase::Denied, "{error}");
        assert!(error.message.contains("inside.test resolves to"), "{error}");
        let shown: IpAddr = address.parse().unwrap();
        assert!(error.message.contains(&shown.to_string()), "{error}");
        assert_eq!(dialler.ledger().snapshot().denials[0].what, "inside.test:80");
    }
}

#[tokio::test]
async fn one_address_inside_refuses_the_whole_name_wherever_it_stands() {
    for answers in [["93.184.216.34", "10.0.0.1"], ["10.0.0.1", "93.184.216.34"]] {
        let dialler = dialler(network(Allow, &[]), Scripted::finds(&answers));
        let error = authorise(&dialler, "mixed.test", 443).await.unwrap_err();
        assert_eq!(error.case, ErrorCase::Denied);
        assert!(error.message.contains("10.0.0.1, a private address"), "{error}");
    }
}

#[tokio::test]
async fn all_checked_addresses_come_back_in_their_order() {
    let answers = ["93.184.216.34", "2606:2800:220:1::1", "1.1.1.1"];
    let dialler = dialler(network(Allow, &[]), Scripted::finds(&answers));
    let found = authorise(&dialler, "web.test", 443).await.unwrap();
    let expected: Vec<SocketAddr> =
        answers.iter().map(|address| SocketAddr::new(address.parse().unwrap(), 443)).collect();
    assert_eq!(found, expected);
}

#[tokio::test]
async fn a_name_that_is_not_granted_is_not_even_looked_up() {
    let resolver = Scripted::finds(&["93.184.216.34"]);
    let dialler = dialler(network(Deny, &["other.test"]), resolver.clone());
    let error = authorise(&dialler, "secret.evil.test", 443).await.unwrap_err();
    assert_eq!(error.case, ErrorCase::Denied);
    assert!(error.message.contains("--allow-host secret.evil.test:443"), "{error}");
    assert_eq!(resolver.lookups(), 0);
}

#[tokio::test]
async fn public_means_the_ports_of_the_web_and_others_have_to_be_named() {
    for port in [1, 22, 25, 6379, 8080, 65535] {
        for address in ["web.test", "93.184.216.34"] {
            let resolver = Scripted::finds(&["93.184.216.34"]);
            let allowed = dialler(network(Allow, &[]), resolver.clone());
            let error = authorise(&allowed, address, port).await.unwrap_err();
            assert_eq!(error.case, ErrorCase::Denied);
            assert!(error.message.contains(&format!("--allow-host {address}:{port}")), "{error}");
            assert!(error.message.contains("ports other than 80 and 443"), "{error}");
            assert_eq!(resolver.lookups(), 0);

            let named = dialler(network(Allow, &[&format!("{address}:{port}")]), resolver);
            authorise(&named, address, port).await.unwrap();
        }
    }
    let error =
        authorise(&dialler(network(Allow, &["a.test"]), Scripted::nothing()), "a.test", 0).await;
    assert_eq!(error.unwrap_err().case, ErrorCase::InvalidInput);
}

#[tokio::test]
async fn a_named_address_opens_that_port_only() {
    authorise(&local(4000), "127.0.0.1", 4000).await.unwrap();
    assert_eq!(
        authorise(&local(4000), "127.0.0.1", 4001).await.unwrap_err().case,
        ErrorCase::Denied
    );
    assert_eq!(
        authorise(&local(4000), "127.0.0.2", 4000).await.unwrap_err().case,
        ErrorCase::Denied
    );
}

#[tokio::test]
async fn where_the_grant_says_ask_the_answer_counts() {
    for (answer, allowed) in
        [(Answer::Once, true), (Answer::Session, true), (Answer::Refuse, false)]
    {
        let approver = Says::new(answer);
        let resolver = Scripted::finds(&["93.184.216.34"]);
        let dialler = asking(network(Ask, &[]), resolver.clone(), approver.clone());
        let outcome = authorise(&dialler, "web.test", 443).await;
        assert_eq!(outcome.is_ok(), allowed);
        assert_eq!(resolver.lookups(), usize::from(allowed), "refused means not looked up");
        let questions = approver.questions.lock().unwrap();
        assert_eq!(questions.len(), 1);
        assert_eq!(questions[0].tool, "fetch");
        assert_eq!(questions[0].subject, "host web.test");
        assert_eq!(questions[0].act, "GET it");
        if let Err(error) = outcome {
            assert_eq!(error.case, ErrorCase::Denied);
            assert!(error.message.contains("--allow-host web.test:443"), "{error}");
        }
    }
}

#[tokio::test]
async fn the_rule_of_an_address_holds_for_names_that_point_there() {
    let rule = HostRule { permission: Ask, ..HostRule::parse("127.0.0.1:4000").unwrap() };
    let rules = vec![rule.clone(), HostRule::parse("name.test:4000").unwrap()];
    let approver = Says::new(Answer::Once);
    let found = Scripted::finds(&["127.0.0.1", "127.0.0.1"]);
    let asked = asking(Network { public: Deny, rules }, found, approver.clone());
    authorise(&asked, "name.test", 4000).await.unwrap();
    assert_eq!(approver.questions.lock().unwrap().len(), 1, "once, not once for each address");

    let methods = Some(["HEAD".to_owned()].into());
    let rules = vec![
        HostRule { methods, permission: Allow, ..rule },
        HostRule::parse("name.test:4000").unwrap(),
    ];
    let dialler = dialler(Network { public: Deny, rules }, Scripted::finds(&["127.0.0.1"]));
    assert_eq!(authorise(&dialler, "name.test", 4000).await.unwrap_err().case, ErrorCase::Denied);
}

#[tokio::test]
async fn a_list_of_methods_is_kept_to_and_a_tunnel_is_outside_it() {
    let methods = Some(["GET".to_owned()].into());
    let rules = vec![HostRule { methods, ..HostRule::parse("web.test").unwrap() }];
    let grant = Network { public: Deny, rules };
    for (method, allowed) in
        [(Some("GET"), true), (Some("POST"), false), (Some("get"), false), (None, false)]
    {
        let dialler = dialler(grant.clone(), Scripted::finds(&["93.184.216.34"]));
        let target = Target { host: &host("web.test"), port: 443, method, act: "" };
        assert_eq!(dialler.authorise(target).await.is_ok(), allowed, "{method:?}");
    }
}

#[tokio::test]
async fn only_what_is_granted_counts_and_every_spelling_of_a_host_is_that_host() {
    let rate = Arc::new(RateLimiter::default());
    let grant = network(Deny, &["web.test", "127.0.0.1:4000"]);
    let resolver = Scripted::new((0..9).map(|_| Lookup::Finds(vec!["93.184.216.34"])));
    let dialler = dialler(grant, resolver.clone()).limited(Arc::clone(&rate), 2);
    for n in 0..5000 {
        assert_eq!(
            authorise(&dialler, &format!("{n}.test"), 80).await.unwrap_err().case,
            ErrorCase::Denied
        );
    }
    for (first, second, third, port) in [
        ("web.test", "WEB.test.", "Web.Test", 443),
        ("127.1", "2130706433", "[::ffff:127.0.0.1]", 4000),
    ] {
        authorise(&dialler, first, port).await.unwrap();
        authorise(&dialler, second, port).await.unwrap();
        let error = authorise(&dialler, third, port).await.unwrap_err();
        assert_eq!(error.case, ErrorCase::LimitExceeded, "{error}");
    }
    assert_eq!(resolver.lookups(), 2, "not looked up when it is too early");
}

#[tokio::test]
async fn look_ups_that_fail_find_nothing_hang_or_find_too_much() {
    let outcome = async |lookup| {
        let mut dialler = dialler(network(Allow, &[]), Scripted::new([lookup]));
        dialler.lookup_timeout = Duration::from_millis(50);
        authorise(&dialler, "web.test", 443).await.unwrap_err().case
    };
    assert_eq!(outcome(Lookup::Fails).await, ErrorCase::NotFound);
    assert_eq!(outcome(Lookup::Finds(vec![])).await, ErrorCase::NotFound);
    assert_eq!(outcome(Lookup::Hangs).await, ErrorCase::TimedOut);
    let many = vec!["93.184.216.34"; MAX_ANSWERS + 1];
    assert_eq!(outcome(Lookup::Finds(many)).await, ErrorCase::LimitExceeded);
}

#[tokio::test]
async fn a_dead_address_leads_to_the_next_and_few_are_tried() {
    let closed = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let dead = closed.local_addr().unwrap();
    drop(closed);
    let open = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let alive = open.local_addr().unwrap();
    let dialler = local(alive.port());

    let stream = soon(dialler.connect(&[dead, alive])).await.unwrap();
    assert_eq!(stream.peer_addr().unwrap(), alive);

    let error = soon(dialler.connect(&[dead])).await.unwrap_err();
    assert_eq!(error.case, ErrorCase::Failed);
    assert!(error.message.contains(&dead.to_string()), "{error}");
    assert_eq!(soon(dialler.connect(&[])).await.unwrap_err().case, ErrorCase::Failed);

    let trap = Trap::set();
    let mut many = vec![dead; MAX_DIALLED];
    many.push(SocketAddr::new("127.0.0.1".parse().unwrap(), trap.port()));
    soon(dialler.connect(&many)).await.unwrap_err();
    trap.assert_untouched();
}

#[tokio::test]
async fn an_entry_is_written_once_and_cut() {
    let ledger = Ledger::default();
    let started = Instant::now();
    drop(Entry::new(&ledger, "GET", &"é".repeat(1 << 20)));
    let http = ledger.snapshot().http;
    assert_eq!(http.len(), 1);
    assert!(http[0].url.len() <= MAX_SHOWN + "é...".len() && http[0].url.ends_with("é..."));
    assert!(started.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_dialler_can_be_shared_by_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    shared(&Arc::new(local(1)));
}
