//! Random grants, and everything that can be asked about them.
//!
//! The lists below are the whole world of the generated tests. Each holds at least one entry that
//! no rule ever names, so that "all the others" is asked about too.

use std::net::IpAddr;

use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::super::*;
use super::ip;

const NAMES: [&str; 2] = ["a", "b"];
const DEEPEST: usize = 3;

const RULE_HOSTS: [&str; 7] =
    ["a.example", "b.example", "8.8.8.8", "127.0.0.1", "10.0.0.1", "fd00::1", "2606:4700::1"];
pub const RULE_PORTS: [u16; 2] = [80, 443];
const RULE_METHODS: [&str; 3] = ["GET", "HEAD", "POST"];
pub const PORTS: [u16; 4] = [80, 443, 8080, 0];
pub const METHODS: [Option<&str>; 5] = [Some("GET"), Some("HEAD"), Some("POST"), Some("PUT"), None];

const RULE_PROGRAMS: [&str; 5] = ["", "ls", "cargo", "./ls", "/bin/ls"];
pub const PROGRAMS: [&str; 7] = ["", "ls", "cargo", "./ls", "/bin/ls", "other", "/bin/other"];

pub fn path() -> impl Strategy<Value = GuestPath> {
    vec(select(&NAMES[..]), 0..=DEEPEST)
        .prop_map(|names| GuestPath::parse(&format!("/{}", names.join("/"))).unwrap())
}

pub fn dirs() -> impl Strategy<Value = Dirs> {
    vec(dir_grant(), 0..5).prop_map(Dirs::new)
}

pub fn dir_grant() -> impl Strategy<Value = DirGrant> {
    (path(), select(vec![Access::Read, Access::Write]))
        .prop_map(|(path, access)| DirGrant { path, access })
}

/// Every path up to one level deeper than any that is granted.
pub fn all_paths() -> Vec<GuestPath> {
    let mut paths = vec![GuestPath::parse("/").unwrap()];
    let mut layer = paths.clone();
    for _ in 0..=DEEPEST {
        layer =
            layer.iter().flat_map(|above| NAMES.map(|name| above.join(name).unwrap())).collect();
        paths.extend(layer.iter().cloned());
    }
    paths
}

pub fn permission() -> impl Strategy<Value = Permission> {
    select(vec![Permission::Deny, Permission::Ask, Permission::Allow])
}

pub fn host_rule() -> impl Strategy<Value = HostRule> {
    (
        select(rule_hosts()),
        option::of(select(&RULE_PORTS[..])),
        option::of(subsequence(&RULE_METHODS[..], 0..=3)),
        permission(),
    )
        .prop_map(|(host, port, methods, permission)| HostRule {
            host,
            port,
            methods: methods.map(|methods| methods.into_iter().map(str::to_owned).collect()),
            permission,
        })
}

/// One of them in a form that only someone who does not use `parse` can make.
fn rule_hosts() -> Vec<HostName> {
    let mapped = HostName::Address(ip("::ffff:10.0.0.1"));
    RULE_HOSTS.iter().map(|host| HostName::parse(host).unwrap()).chain([mapped]).collect()
}

pub fn all_hosts() -> Vec<HostName> {
    let others = ["c.example", "9.9.9.9", "10.0.0.2", "169.254.169.254"];
    let others = others.iter().map(|host| HostName::parse(host).unwrap());
    rule_hosts().into_iter().chain(others).collect()
}

pub fn all_addresses() -> Vec<IpAddr> {
    all_hosts()
        .into_iter()
        .filter_map(|host| match host {
            HostName::Name(_) => None,
            HostName::Address(address) => Some(address),
        })
        .collect()
}

pub fn network() -> impl Strategy<Value = Network> {
    (permission(), vec(host_rule(), 0..6)).prop_map(|(public, rules)| Network { public, rules })
}

pub fn programs() -> impl Strategy<Value = Programs> {
    let name = select(&RULE_PROGRAMS[..]).prop_map(str::to_owned);
    let confinement = select(vec![Confinement::Os, Confinement::None]);
    (permission(), btree_map(name, permission(), 0..4), confinement)
        .prop_map(|(any, named, confinement)| Programs { any, named, confinement })
}

pub fn environment() -> impl Strategy<Value = BTreeSet<String>> {
    btree_set(select(vec!["A", "B", "LANG"]).prop_map(str::to_owned), 0..3)
}

pub fn limits() -> impl Strategy<Value = Limits> {
    ([0..3_u64, 0..3, 0..3, 0..3, 0..3], [0..3_u32, 0..3, 0..3]).prop_map(|(long, short)| Limits {
        deadline_ms: long[0],
        memory_bytes: long[1],
        output_bytes: long[2],
        http_body_bytes: long[3],
        process_memory_bytes: long[4],
        requests_per_minute: short[0],
        process_count: short[1],
        open_files: short[2],
    })
}

pub fn authority() -> impl Strategy<Value = Authority> {
    (dirs(), network(), programs(), environment(), limits()).prop_map(
        |(dirs, network, programs, environment, limits)| Authority {
            dirs,
            network,
            programs,
            environment,
            limits,
        },
    )
}

/// An authority that is often inside the one it is made from, which two random ones rarely are.
pub fn near(authority: Authority) -> impl Strategy<Value = Authority> {
    let same = Just(authority.clone());
    (same, self::authority(), any::<[bool; 5]>()).prop_map(|(same, other, keep)| Authority {
        dirs: if keep[0] { same.dirs } else { same.dirs.intersect(&other.dirs) },
        network: if keep[1] { same.network } else { other.network },
        programs: if keep[2] { same.programs } else { other.programs },
        environment: if keep[3] { same.environment } else { other.environment },
        limits: if keep[4] { same.limits } else { same.limits.intersect(&other.limits) },
    })
}

pub fn grant() -> impl Strategy<Value = Grant> {
    btree_map(select(vec!["x", "y", "z"]).prop_map(str::to_owned), authority(), 0..4)
        .prop_map(|tools| Grant { tools })
}

pub fn capabilities() -> impl Strategy<Value = Vec<Capability>> {
    use Capability::*;
    subsequence(vec![FilesRead, FilesWrite, Http, Process], 0..=4)
}
