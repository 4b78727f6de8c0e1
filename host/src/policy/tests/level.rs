//! The three levels.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::*;
use super::generate::*;
use super::{config, dir, guest, ip, rule};

fn options() -> LevelOptions {
    LevelOptions {
        write: vec![guest("out")],
        dirs: vec![dir("/data", Access::Read)],
        hosts: vec![rule("docs.rs:443"), rule("127.0.0.1:8080")],
        commands: vec!["cargo".to_owned()],
        environment: BTreeSet::from(["RUST_LOG".to_owned()]),
        limits: Limits::default(),
    }
}

fn asked(authority: &Authority, host: &str) -> Permission {
    authority.network.permission(&HostName::parse(host).unwrap(), 443, Some("GET"))
}

#[test]
fn strict() {
    let strict = Level::Strict.authority(&options());
    assert_eq!(strict.dirs, Dirs::new([dir(".", Access::Read), dir("out", Access::Write)]));
    assert_eq!(asked(&strict, "docs.rs"), Permission::Allow);
    assert_eq!(asked(&strict, "example.com"), Permission::Deny);
    assert_eq!(strict.programs.permission("cargo"), Permission::Allow);
    assert_eq!(strict.programs.permission("ls"), Permission::Deny);
    assert_eq!(strict.programs.confinement, Confinement::Os);
    assert!(strict.environment.is_empty());
    assert!(Level::Strict.authority(&LevelOptions::default()).network.is_empty());
}

#[test]
fn standard() {
    let standard = Level::Standard.authority(&options());
    assert_eq!(standard.dirs, Dirs::new([dir(".", Access::Write)]));
    assert_eq!(asked(&standard, "docs.rs"), Permission::Allow);
    assert_eq!(asked(&standard, "example.com"), Permission::Ask);
    assert_eq!(standard.programs.permission("cargo"), Permission::Allow);
    assert_eq!(standard.programs.permission("ls"), Permission::Ask);
    assert_eq!(standard.programs.confinement, Confinement::Os);
    let names: Vec<&str> = standard.environment.iter().map(String::as_str).collect();
    assert_eq!(names, ["LANG", "LC_ALL", "RUST_LOG", "TERM", "TZ"]);
}

#[test]
fn trusted() {
    let trusted = Level::Trusted.authority(&options());
    assert_eq!(trusted.dirs, Dirs::new([dir(".", Access::Write), dir("/data", Access::Read)]));
    assert_eq!(asked(&trusted, "example.com"), Permission::Allow);
    assert_eq!(trusted.programs.permission("cargo"), Permission::Allow);
    assert_eq!(trusted.programs.permission("ls"), Permission::Ask);
    assert_eq!(trusted.programs.confinement, Confinement::None);
}

#[test]
fn no_level_reaches_a_private_address_that_is_not_named() {
    for level in Level::ALL {
        let network = level.authority(&options()).network;
        assert!(network.allows_address(ip("127.0.0.1"), 8080), "{level}");
        for (address, port) in
            [("127.0.0.1", 80), ("127.0.0.2", 8080), ("10.0.0.1", 8080), ("169.254.169.254", 80)]
        {
            assert!(!network.allows_address(ip(address), port), "{level}");
            assert_eq!(
                network.permission(&ip(address).into(), port, None),
                Permission::Deny,
                "{level}"
            );
        }
    }
}

#[test]
fn a_tool_gets_what_it_asks_for() {
    let tools = [
        ("reader", vec![Capability::FilesRead]),
        ("pure", vec![]),
        ("shell", vec![Capability::Process]),
    ];
    let tools = tools.map(|(name, capabilities)| (name.to_owned(), capabilities));
    let grant = Level::Standard.grant(&options(), tools);
    let workspace = guest(".");
    assert_eq!(grant.tools["reader"].dirs.access(&workspace), Some(Access::Read));
    assert!(grant.tools["reader"].network.is_empty() && grant.tools["reader"].programs.is_empty());
    assert_eq!(grant.tools["pure"], Authority { limits: options().limits, ..Authority::default() });
    assert_eq!(grant.tools["shell"], Level::Standard.authority(&options()));
}

#[test]
fn says_which_options_have_no_effect() {
    assert_eq!(
        Level::Strict.ignored(&options()),
        [
            "read /data: not given under strict",
            "environment variable RUST_LOG: not given under strict"
        ]
    );
    assert_eq!(Level::Standard.ignored(&options()), ["read /data: not given under standard"]);
    assert_eq!(Level::Trusted.ignored(&options()), [""; 0]);
    let outside = LevelOptions { write: vec![guest("/data")], ..LevelOptions::default() };
    assert_eq!(Level::Strict.ignored(&outside), [""; 0]);
    assert_eq!(Level::Standard.ignored(&outside), [""; 0]);
}

#[test]
fn names_of_levels() {
    for level in Level::ALL {
        assert_eq!(level.to_string().parse(), Ok(level));
        assert_eq!(serde_json::to_value(level).unwrap(), level.as_str());
    }
    assert_eq!(Level::default(), Level::Standard);
    assert!(!Level::Strict.asks() && Level::Standard.asks() && Level::Trusted.asks());
    for text in ["", "Strict", "strict ", "none"] {
        assert!(text.parse::<Level>().is_err());
    }
}

fn any_options() -> impl Strategy<Value = LevelOptions> {
    let below = select(vec![".", "a", "b", "a/b"]).prop_map(guest);
    let commands = vec(select(&PROGRAMS[..]).prop_map(str::to_owned), 0..3);
    (
        vec(below, 0..3),
        vec(dir_grant(), 0..3),
        vec(host_rule(), 0..4),
        commands,
        environment(),
        limits(),
    )
        .prop_map(|(write, dirs, hosts, commands, environment, limits)| LevelOptions {
            write,
            dirs,
            hosts,
            commands,
            environment,
            limits,
        })
}

proptest! {
    #![proptest_config(config())]

    /// For equal options.
    #[test]
    fn each_level_is_inside_the_next(options in any_options(), capabilities in vec(capabilities(), 0..4)) {
        let tools = || (0..).map(|i: u32| i.to_string()).zip(capabilities.iter().cloned());
        let [strict, standard, trusted] = Level::ALL.map(|level| level.grant(&options, tools()));
        prop_assert!(strict.inside(&standard));
        prop_assert!(standard.inside(&trusted));
        for grant in [&strict, &standard, &trusted] {
            prop_assert_eq!(grant.tools.len(), capabilities.len());
        }
    }

    #[test]
    fn strict_never_asks(options in any_options()) {
        let strict = Level::Strict.authority(&options);
        for host in all_hosts() {
            for port in PORTS {
                for method in METHODS {
                    prop_assert_ne!(strict.network.permission(&host, port, method), Permission::Ask);
                }
            }
        }
        for program in PROGRAMS {
            prop_assert_ne!(strict.programs.permission(program), Permission::Ask);
        }
    }
}
