//! Narrowing: never wider than either side, and no narrower than needed.

use proptest::prelude::*;

use super::super::*;
use super::generate::*;
use super::{config, dir, guest, rule};

/// Whether `a` allows no more than `b`, found by asking both everything there is to ask.
fn no_more(a: &Authority, b: &Authority) -> bool {
    all_paths().iter().all(|path| a.dirs.access(path) <= b.dirs.access(path))
        && no_more_network(&a.network, &b.network)
        && PROGRAMS.iter().all(|p| a.programs.permission(p) <= b.programs.permission(p))
        && a.programs.confinement <= b.programs.confinement
        && a.environment.iter().all(|name| b.environment.contains(name))
        && a.limits.named().iter().zip(b.limits.named()).all(|(a, b)| a.1 <= b.1)
}

fn no_more_network(a: &Network, b: &Network) -> bool {
    all_hosts().iter().all(|host| {
        PORTS.iter().all(|port| {
            METHODS.iter().all(|method| {
                a.permission(host, *port, *method) <= b.permission(host, *port, *method)
            })
        })
    }) && all_addresses().iter().all(|address| {
        PORTS.iter().all(|p| b.allows_address(*address, *p) || !a.allows_address(*address, *p))
    })
}

fn same_effect(a: &Authority, b: &Authority) -> bool {
    no_more(a, b) && no_more(b, a)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn intersection_is_inside_both(a in authority(), b in authority()) {
        let both = a.intersect(&b);
        prop_assert!(both.inside(&a) && both.inside(&b));
        prop_assert!(no_more(&both, &a) && no_more(&both, &b));
    }

    #[test]
    fn intersection_of_dirs_is_exact(a in dirs(), b in dirs()) {
        let both = a.intersect(&b);
        for path in all_paths() {
            prop_assert_eq!(both.access(&path), a.access(&path).min(b.access(&path)), "{}", path);
        }
        prop_assert_eq!(&both, &b.intersect(&a));
        prop_assert_eq!(&both, &both.intersect(&both));
    }

    #[test]
    fn dirs_have_one_shortest_form(grants in proptest::collection::vec(dir_grant(), 0..6)) {
        let dirs = Dirs::new(grants.clone());
        for path in all_paths() {
            let expected = grants.iter().filter(|g| g.path.contains(&path)).map(|g| g.access).max();
            prop_assert_eq!(dirs.access(&path), expected);
            let read_only = expected.map(|_| Access::Read);
            prop_assert_eq!(dirs.read_only().access(&path), read_only);
        }
        for left_out in dirs.iter() {
            let without = Dirs::new(dirs.iter().filter(|grant| *grant != left_out).cloned());
            prop_assert!(without.access(&left_out.path) < Some(left_out.access));
        }
        prop_assert_eq!(Dirs::new(grants.into_iter().rev()), dirs);
    }

    #[test]
    fn intersection_of_networks_is_exact(a in network(), b in network()) {
        let both = a.intersect(&b);
        for host in all_hosts() {
            for port in PORTS {
                for method in METHODS {
                    let expected =
                        a.permission(&host, port, method).min(b.permission(&host, port, method));
                    prop_assert_eq!(
                        both.permission(&host, port, method), expected,
                        "{} {} {:?}", host, port, method
                    );
                }
            }
        }
    }

    #[test]
    fn intersection_of_reach_is_exact(
        a in network(),
        b in network(),
        host in proptest::sample::select(all_hosts()),
    ) {
        let both = a.intersect(&b);
        for address in all_addresses() {
            for port in PORTS {
                for method in METHODS {
                    let reach = |network: &Network| network.reach(&host, address, port, method);
                    prop_assert_eq!(reach(&both), reach(&a).min(reach(&b)));
                    if reach(&both) != Permission::Deny {
                        prop_assert!(both.allows_address(address, port));
                    }
                }
            }
        }
    }

    /// Without lists of methods the plain question about an address is exact too. With them, two
    /// rules that share no method leave nothing, which is right.
    #[test]
    fn intersection_of_addresses_is_exact(mut a in network(), mut b in network()) {
        a.rules.iter_mut().chain(&mut b.rules).for_each(|rule| rule.methods = None);
        let both = a.intersect(&b);
        for address in all_addresses() {
            for port in PORTS {
                let expected = a.allows_address(address, port) && b.allows_address(address, port);
                prop_assert_eq!(both.allows_address(address, port), expected);
            }
        }
    }

    #[test]
    fn intersection_of_programs_is_exact(a in programs(), b in programs()) {
        let both = a.intersect(&b);
        for program in PROGRAMS {
            let expected = a.permission(program).min(b.permission(program));
            prop_assert_eq!(both.permission(program), expected, "{}", program);
        }
        prop_assert_eq!(both.confinement, a.confinement.min(b.confinement));
        prop_assert_eq!(both.is_empty(), PROGRAMS.iter().all(|p| both.permission(p) == Permission::Deny));
    }

    #[test]
    fn intersection_of_limits_is_exact(a in limits(), b in limits()) {
        let both = a.intersect(&b).named();
        for ((both, a), b) in both.iter().zip(a.named()).zip(b.named()) {
            prop_assert_eq!(both.1, a.1.min(b.1), "{}", both.0);
        }
    }

    #[test]
    fn intersection_with_itself_and_turned_round(a in authority(), b in authority()) {
        prop_assert!(same_effect(&a.intersect(&a), &a));
        prop_assert!(same_effect(&a.intersect(&b), &b.intersect(&a)));
        let both = a.intersect(&b);
        prop_assert_eq!(&both.intersect(&both), &both);
    }

    #[test]
    fn intersection_does_not_depend_on_the_order(a in authority(), b in authority(), c in authority()) {
        prop_assert!(same_effect(&a.intersect(&b).intersect(&c), &a.intersect(&b.intersect(&c))));
    }

    /// `inside` says what asking everything says, both when it is so and when it is not.
    #[test]
    fn inside_is_exact((a, b) in authority().prop_flat_map(|a| (near(a.clone()), Just(a)))) {
        prop_assert_eq!(a.inside(&b), no_more(&a, &b));
        prop_assert_eq!(b.inside(&a), no_more(&b, &a));
        prop_assert!(a.inside(&a));
    }

    #[test]
    fn inside_of_networks_is_exact(a in network(), b in network()) {
        let both = a.intersect(&b);
        prop_assert_eq!(a.inside(&b), no_more_network(&a, &b));
        prop_assert_eq!(a.inside(&both), no_more_network(&a, &both));
        prop_assert_eq!(
            a.is_empty(),
            no_more_network(&a, &Network::default())
        );
    }

    #[test]
    fn narrowing_never_adds(parent in grant(), requested in grant(), further in grant()) {
        let (child, dropped) = parent.narrow(&requested);
        prop_assert!(child.inside(&parent) && child.inside(&requested));
        let tools = |grant: &Grant| grant.tools.keys().cloned().collect::<BTreeSet<_>>();
        prop_assert_eq!(tools(&child), &tools(&parent) & &tools(&requested));
        prop_assert_eq!(dropped.is_empty(), requested.inside(&parent));
        for lost in tools(&requested).difference(&tools(&parent)) {
            prop_assert!(dropped.iter().any(|entry| entry.tool == *lost));
        }
        let (grandchild, _) = child.narrow(&further);
        prop_assert!(grandchild.inside(&parent) && grandchild.inside(&further));
    }

    #[test]
    fn narrowing_to_itself_drops_nothing(parent in grant()) {
        let (child, dropped) = parent.narrow(&parent);
        prop_assert_eq!(dropped, vec![]);
        prop_assert!(child.inside(&parent) && parent.inside(&child));
    }

    #[test]
    fn capabilities_only_take_away(a in authority(), capabilities in capabilities()) {
        let part = a.for_capabilities(&capabilities);
        prop_assert!(part.inside(&a));
        let has = |capability| capabilities.contains(&capability);
        let process = has(Capability::Process);
        let writes = process || has(Capability::FilesWrite);
        for grant in part.dirs.iter() {
            prop_assert!(writes || has(Capability::FilesRead) && grant.access == Access::Read);
        }
        prop_assert!(process || has(Capability::Http) || part.network.is_empty());
        prop_assert!(process || part.programs.is_empty() && part.environment.is_empty());
        prop_assert!(process || part.programs.confinement == Confinement::Os);
        prop_assert!(!writes || part.dirs == a.dirs);
        prop_assert!(!process || part == a);
        prop_assert_eq!(part.limits, a.limits);
    }
}

fn what_is_dropped(parent: Authority, requested: Authority) -> Vec<String> {
    let grant = |authority| Grant { tools: BTreeMap::from([("t".to_owned(), authority)]) };
    let (_, dropped) = grant(parent).narrow(&grant(requested));
    dropped.into_iter().map(|entry| entry.what).collect()
}

#[test]
fn says_what_was_dropped() {
    let parent = Authority {
        dirs: Dirs::new([dir(".", Access::Read), dir("out", Access::Write)]),
        network: Network { public: Permission::Ask, rules: vec![rule("docs.rs:443")] },
        programs: Programs {
            any: Permission::Deny,
            named: BTreeMap::from([("cargo".to_owned(), Permission::Ask)]),
            confinement: Confinement::Os,
        },
        environment: BTreeSet::from(["LANG".to_owned()]),
        limits: Limits::default(),
    };
    let requested = Authority {
        dirs: Dirs::new([dir(".", Access::Write), dir("/etc", Access::Read)]),
        network: Network {
            public: Permission::Deny,
            rules: vec![rule("docs.rs"), rule("10.0.0.1:80"), rule("docs.rs:443")],
        },
        programs: Programs {
            any: Permission::Ask,
            named: BTreeMap::from([("cargo".to_owned(), Permission::Allow)]),
            confinement: Confinement::None,
        },
        environment: BTreeSet::from(["LANG".to_owned(), "TOKEN".to_owned()]),
        limits: Limits { deadline_ms: 60_000, ..Limits::default() },
    };
    let expected = [
        "read /etc",
        "write /workspace, except read /workspace, write /workspace/out",
        "host docs.rs, except docs.rs:80 after asking, docs.rs:443",
        "host 10.0.0.1:80",
        "programs that are not named",
        "program cargo without asking",
        "programs outside the operating system's sandbox",
        "the environment variable TOKEN",
        "60000 milliseconds of time: there are 30000",
    ];
    assert_eq!(what_is_dropped(parent, requested), expected);
}

#[test]
fn says_which_public_hosts_remain() {
    let public =
        |public, rules| Authority { network: Network { public, rules }, ..Authority::default() };
    let wanted = public(Permission::Allow, vec![]);
    assert_eq!(
        what_is_dropped(public(Permission::Ask, vec![]), wanted.clone()),
        ["public hosts without asking"]
    );
    let held = public(Permission::Deny, vec![rule("docs.rs"), rule("127.0.0.1")]);
    assert_eq!(what_is_dropped(held, wanted), ["public hosts, except docs.rs:80, docs.rs:443"]);
}

#[test]
fn a_tool_that_the_parent_lacks_is_dropped_whole() {
    let requested = Grant { tools: BTreeMap::from([("t".to_owned(), Authority::default())]) };
    let (child, dropped) = Grant::default().narrow(&requested);
    assert!(child.tools.is_empty());
    assert_eq!(dropped, [Dropped { tool: "t".to_owned(), what: "the tool itself".to_owned() }]);
}

#[test]
fn the_default_is_nothing() {
    let nothing = Authority::default();
    assert_eq!(nothing.dirs.access(&guest(".")), None);
    assert!(nothing.network.is_empty() && nothing.programs.is_empty());
    assert_eq!(nothing.programs.confinement, Confinement::Os);
    assert!(nothing.environment.is_empty());
}

#[test]
fn the_documented_limits() {
    let limits = Limits::default();
    assert_eq!(limits.deadline(), std::time::Duration::from_secs(30));
    let values = limits.named().map(|(_, value)| value);
    assert_eq!(values, [30_000, 268_435_456, 1_048_576, 10_485_760, 10, 2_147_483_648, 256, 256]);
}
