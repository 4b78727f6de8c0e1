//! Near misses around single rules.

use super::super::*;
use super::{ip, rule};

fn only(rules: Vec<HostRule>) -> Network {
    Network { public: Permission::Deny, rules }
}

fn host(text: &str) -> HostName {
    HostName::parse(text).unwrap()
}

#[test]
fn a_rule_holds_for_its_host_and_port_alone() {
    let network = only(vec![rule("docs.rs:443")]);
    let asked = |name, port| network.permission(&host(name), port, Some("GET"));
    assert_eq!(asked("docs.rs", 443), Permission::Allow);
    assert_eq!(asked("DOCS.RS.", 443), Permission::Allow);
    for (name, port) in [
        ("docs.rs", 80),
        ("docs.rs", 444),
        ("docs.r", 443),
        ("a.docs.rs", 443),
        ("rs", 443),
        ("docs.rs.evil.example", 443),
    ] {
        assert_eq!(asked(name, port), Permission::Deny, "{name}:{port}");
    }
}

#[test]
fn an_empty_list_means_nothing() {
    let network = only(vec![]);
    assert!(network.is_empty());
    assert_eq!(network.permission(&host("docs.rs"), 443, Some("GET")), Permission::Deny);
    let mut without_methods = rule("docs.rs");
    without_methods.methods = Some(BTreeSet::new());
    let network = only(vec![without_methods]);
    assert!(network.is_empty());
    for method in [Some("GET"), Some(""), None] {
        assert_eq!(network.permission(&host("docs.rs"), 443, method), Permission::Deny);
    }
}

#[test]
fn a_list_of_methods_is_exact_and_cannot_cover_a_tunnel() {
    let mut reading = rule("docs.rs");
    reading.methods = Some(BTreeSet::from(["GET".to_owned()]));
    let network = only(vec![reading]);
    let asked = |method| network.permission(&host("docs.rs"), 443, method);
    assert_eq!(asked(Some("GET")), Permission::Allow);
    for method in [Some("POST"), Some("get"), Some("GETS"), Some(""), None] {
        assert_eq!(asked(method), Permission::Deny, "{method:?}");
    }
}

#[test]
fn a_name_never_opens_a_private_address() {
    let network = Network {
        public: Permission::Allow,
        rules: vec![rule("localhost"), rule("intern.example:80")],
    };
    for address in [
        "127.0.0.1",
        "::1",
        "10.0.0.1",
        "169.254.169.254",
        "::ffff:127.0.0.1",
        "64:ff9b::a9fe:a9fe",
    ] {
        assert!(!network.allows_address(ip(address), 80), "{address}");
        assert_eq!(network.reach(&host("localhost"), ip(address), 80, None), Permission::Deny);
    }
    assert!(network.allows_address(ip("8.8.8.8"), 80));
}

#[test]
fn a_private_address_opens_when_it_is_named_itself() {
    let network = only(vec![rule("10.0.0.1:8080"), rule("[::1]")]);
    assert!(network.allows_address(ip("10.0.0.1"), 8080));
    assert!(network.allows_address(ip("::ffff:10.0.0.1"), 8080), "the same place");
    assert!(network.allows_address(ip("::1"), 1));
    for (address, port) in [
        ("10.0.0.1", 80),
        ("10.0.0.2", 8080),
        ("127.0.0.1", 8080),
        ("64:ff9b::a00:1", 8080),
        ("::1", 0),
    ] {
        assert!(!network.allows_address(ip(address), port), "{address} {port}");
    }
    let mut denied = rule("10.0.0.1");
    denied.permission = Permission::Deny;
    assert!(!only(vec![denied]).allows_address(ip("10.0.0.1"), 80));
}

#[test]
fn public_is_not_for_private_addresses() {
    let network = Network { public: Permission::Allow, rules: vec![] };
    assert_eq!(network.permission(&host("docs.rs"), 443, None), Permission::Allow);
    assert_eq!(network.permission(&host("8.8.8.8"), 443, None), Permission::Allow);
    for literal in ["127.0.0.1", "2852039166", "[::ffff:a9fe:a9fe]", "[64:ff9b::a9fe:a9fe]", "0"] {
        assert_eq!(
            network.permission(&host(literal), 80, Some("GET")),
            Permission::Deny,
            "{literal}"
        );
    }
}

#[test]
fn public_is_for_the_ports_of_the_web_and_narrowing_opens_no_other() {
    let public = Network { public: Permission::Allow, rules: vec![] };
    for named in ["docs.rs:22", "8.8.8.8:6379"] {
        let wanted = only(vec![rule(named)]);
        let asked = |grant: &Network| {
            let rule = rule(named);
            grant.permission(&rule.host, rule.port.unwrap(), Some("GET"))
        };
        assert_eq!(asked(&public), Permission::Deny, "{named}");
        assert_eq!(asked(&wanted.intersect(&public)), Permission::Deny, "{named}");
        assert!(!wanted.inside(&public), "{named}");
        // Named beside it, it is there, and a child keeps it.
        let both = Network { rules: wanted.rules.clone(), ..public.clone() };
        assert_eq!(asked(&both.intersect(&both)), Permission::Allow, "{named}");
    }
    let everywhere = only(vec![rule("docs.rs")]).intersect(&public);
    assert_eq!(everywhere.rules, [rule("docs.rs:80"), rule("docs.rs:443")]);
}

/// Someone who owns a permitted name points it at an address that is open for less.
#[test]
fn a_name_gets_no_more_than_the_address_it_points_at() {
    let mut reading = rule("10.0.0.1");
    reading.methods = Some(BTreeSet::from(["GET".to_owned()]));
    reading.permission = Permission::Ask;
    let network = Network { public: Permission::Allow, rules: vec![reading] };
    let reach = |method| network.reach(&host("evil.example"), ip("10.0.0.1"), 80, Some(method));
    assert_eq!(reach("GET"), Permission::Ask);
    assert_eq!(reach("POST"), Permission::Deny);
}

#[test]
fn rules_are_read_as_host_and_port() {
    for (text, shown) in [
        ("Docs.RS", "docs.rs"),
        ("docs.rs.:443", "docs.rs:443"),
        ("[::1]:80", "[::1]:80"),
        ("[::1]", "[::1]"),
        ("127.1:65535", "127.0.0.1:65535"),
        ("[::ffff:10.0.0.1]:1", "10.0.0.1:1"),
    ] {
        let rule = rule(text);
        assert_eq!(rule.to_string(), shown);
        assert_eq!((rule.methods, rule.permission), (None, Permission::Allow));
    }
    for text in [
        "",
        ":80",
        "docs.rs:",
        "docs.rs:0",
        "docs.rs:65536",
        "docs.rs:+80",
        "docs.rs: 80",
        "docs.rs:http",
        "::1",
        "::1:80",
        "[::1",
        "[::1]80",
        "[::1]:",
        "[docs.rs]",
        "http://docs.rs",
        "docs.rs/",
        "u@docs.rs",
        "*.docs.rs",
        "*",
    ] {
        assert!(HostRule::parse(text).is_err(), "{text:?}");
    }
}

#[test]
fn programs_match_by_their_exact_text() {
    let programs = Programs {
        any: Permission::Deny,
        named: ["cargo", "/opt/x", "rm"].map(|name| (name.to_owned(), Permission::Allow)).into(),
        confinement: Confinement::Os,
    };
    for allowed in ["cargo", "/opt/x"] {
        assert_eq!(programs.permission(allowed), Permission::Allow, "{allowed}");
    }
    for denied in [
        "Cargo",
        "cargo ",
        " cargo",
        "./cargo",
        "/tmp/cargo",
        "x",
        "/opt/../opt/x",
        "/opt/x/",
        "cargo\0",
        "",
    ] {
        assert_eq!(programs.permission(denied), Permission::Deny, "{denied:?}");
    }
    let asking = Programs {
        any: Permission::Ask,
        named: [("rm".to_owned(), Permission::Deny)].into(),
        ..programs
    };
    assert_eq!(asking.permission("rm"), Permission::Deny, "what is said by name counts");
    assert_eq!(asking.permission("ls"), Permission::Ask);
    for impossible in ["", "a\0b"] {
        assert_eq!(asking.permission(impossible), Permission::Deny);
    }
}
