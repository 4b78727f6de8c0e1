//! Tests of the policy as a whole: tables of near misses, and generated cases over alphabets so
//! small that grants overlap all the time.

mod address;
mod generate;
mod host;
mod level;
mod narrow;
mod network;
mod path;
mod protected;

use super::*;

/// Cases of every generated test.
const CASES: u32 = 10_000;

/// No file of failures beside the sources: a failing case is printed in its smallest form, and
/// belongs into a table.
fn config() -> proptest::test_runner::Config {
    proptest::test_runner::Config { cases: CASES, failure_persistence: None, ..Default::default() }
}

fn guest(path: &str) -> GuestPath {
    GuestPath::parse(path).unwrap()
}

fn dir(path: &str, access: Access) -> DirGrant {
    DirGrant { path: guest(path), access }
}

fn rule(text: &str) -> HostRule {
    HostRule::parse(text).unwrap()
}

fn ip(text: &str) -> std::net::IpAddr {
    text.parse().unwrap()
}
