//! Guests that take time: in their own code, in calls of the host, in waiting.

use std::time::Duration;

use serde_json::{Value, json};
use xzatoma::policy::Authority;
use xzatoma::tool::ErrorCase;

use super::components::{Wat, load};
use super::scene::{Scene, reading, writing};
use super::servers::Server;
use super::table::{Case, Expected, Verdict, attack, case, check, run};
use crate::harness::grant::Add;

/// What the sandbox promises on top of a deadline.
const PROMISED: Duration = Duration::from_millis(100);
/// Another process can take the processor away for longer than that. It cannot do so every time.
const ATTEMPTS: usize = 8;

/// A call that must be timed out, on time.
fn timed_out(id: &'static str, name: &'static str, arguments: Value, authority: Authority) -> Case {
    case(id, name, move |scene| on_time(scene, &arguments, &authority))
}

fn on_time(scene: &Scene, arguments: &Value, authority: &Authority) -> Verdict {
    let deadline = authority.limits.deadline();
    let mut waited = Vec::new();
    for _ in 0..ATTEMPTS {
        let (report, took) = scene.timed_attack(arguments.clone(), authority);
        check(&report, &Expected::Fails(&[ErrorCase::TimedOut]))?;
        if took < deadline {
            return Err(format!("timed out after {took:?}, before its deadline"));
        }
        if took < deadline + PROMISED {
            return Ok(());
        }
        waited.push(took);
    }
    Err(format!("a deadline of {deadline:?} took {waited:?}"))
}

#[test]
fn guests_that_take_time() {
    run("hostile::time::guests_that_take_time", || {
        let short = || reading().deadline_ms(300);
        let mut cases = vec![
            timed_out(
                "T-CPU-01",
                "a loop without end",
                json!({"case": "loop"}),
                reading().deadline_ms(1000),
            ),
            timed_out("T-CPU-02", "a loop of cheap calls", json!({"case": "clock-loop"}), short()),
            timed_out("T-CPU-02", "a loop of log lines", json!({"case": "log-loop"}), short()),
            timed_out(
                "T-CPU-02",
                "a loop of random numbers",
                json!({"case": "random-loop", "count": 1 << 20}),
                short(),
            ),
            timed_out(
                "T-CPU-03",
                "large copies",
                json!({"case": "copy-loop", "count": 48}),
                short(),
            ),
            timed_out(
                "T-CPU-03",
                "large fills",
                json!({"case": "fill-loop", "count": 48}),
                short(),
            ),
            case("T-CPU-04", "a start function without end", |_| {
                let component = Wat::named("never_starts")
                    .items("(func $spin (loop $again (br $again))) (start $spin)");
                match load(&component) {
                    Err(reason) if reason.contains("timed-out") => Ok(()),
                    other => Err(format!("{:?}", other.map(|loaded| loaded.name))),
                }
            }),
            case("T-CPU-04", "a description without end", |_| {
                let component =
                    Wat::named("never_says").describe("(loop $again (br $again)) unreachable");
                match load(&component) {
                    Err(reason) if reason.contains("timed-out") => Ok(()),
                    other => Err(format!("{:?}", other.map(|loaded| loaded.name))),
                }
            }),
            case("T-CPU-05", "a regular expression that explodes", |scene| {
                let authority = reading().deadline_ms(5000);
                let pattern = "((((a{0,99}){0,99}){0,99}){0,99}){0,99}";
                let report = scene.world.call("grep", json!({"pattern": pattern}), &authority);
                check(
                    &report,
                    &Expected::Fails(&[ErrorCase::InvalidInput, ErrorCase::LimitExceeded]),
                )
            }),
            case("T-CPU-05", "a regular expression that backtracks elsewhere", |scene| {
                scene.world.write("long.txt", "a".repeat(100_000));
                let authority = reading().deadline_ms(5000);
                let report =
                    scene.world.call("grep", json!({"pattern": "(a*)*(a|aa)*b"}), &authority);
                check(
                    &report,
                    &Expected::Holds(|report| match &report.result {
                        Ok(_) => Ok(()),
                        Err(error) => Err(error.to_string()),
                    }),
                )
            }),
            timed_out("T-BLOCK-01", "waits of no time", json!({"case": "poll-now-loop"}), short()),
            timed_out("T-BLOCK-02", "a wait of centuries", json!({"case": "poll-never"}), short()),
            timed_out(
                "T-BLOCK-02",
                "a wait for the end of time",
                json!({"case": "poll-instant-never"}),
                short(),
            ),
            timed_out(
                "T-BLOCK-03",
                "an answer that comes too late",
                json!({"case": "sleep", "count": 400}),
                short(),
            ),
            attack(
                "T-BLOCK-03",
                "an answer that comes just in time",
                json!({"case": "sleep", "count": 100}),
                reading(),
                Expected::Says("slept"),
            ),
        ];
        cases.extend(waiting_for_others());
        cases.extend(special_files());
        cases
    });
}

fn waiting_for_others() -> Vec<Case> {
    vec![
        case("T-BLOCK-04", "a name server that never answers", |scene| {
            let authority = reading().public().deadline_ms(300);
            on_time(scene, &json!({"case": "http", "authority": "hangs.test"}), &authority)
        }),
        case("T-BLOCK-05", "a server that never answers", |scene| {
            let server = Server::silent();
            let authority =
                reading().host(&server.authority()).requests_per_minute(1000).deadline_ms(300);
            on_time(scene, &json!({"case": "http", "authority": server.authority()}), &authority)
        }),
        case("T-BLOCK-05", "a server that sends a byte now and then", |scene| {
            let server = Server::dripping();
            let authority =
                reading().host(&server.authority()).requests_per_minute(1000).deadline_ms(300);
            on_time(scene, &json!({"case": "http", "authority": server.authority()}), &authority)
        }),
        case("T-BLOCK-06", "a request that is never finished", |scene| {
            let server = Server::silent();
            let authority =
                reading().host(&server.authority()).requests_per_minute(1000).deadline_ms(300);
            let arguments = json!({"case": "http-unfinished", "method": "POST", "authority": server.authority()});
            on_time(scene, &arguments, &authority)
        }),
    ]
}

/// Nobody is at the other end of the FIFO: opened carelessly, it would hold the thread for ever.
fn special_files() -> Vec<Case> {
    let ways: [(&str, &[&str]); 4] = [
        ("to read", &["read"]),
        ("to write", &["write"]),
        ("to read and write", &["read", "write"]),
        ("to truncate", &["write", "truncate"]),
    ];
    let mut cases = Vec::new();
    for (name, how) in ways {
        let arguments = json!({"case": "open", "path": "fifo", "how": how});
        cases.push(attack(
            "T-BLOCK-07",
            name,
            arguments,
            writing().deadline_ms(1000),
            Expected::Denied,
        ));
        let arguments = json!({"case": "open", "path": "socket", "how": how});
        cases.push(attack(
            "T-BLOCK-08",
            name,
            arguments,
            writing().deadline_ms(1000),
            Expected::Denied,
        ));
    }
    cases.push(attack(
        "T-BLOCK-07",
        "by the host's own walk",
        json!({"case": "scan", "path": "/workspace/fifo"}),
        reading().deadline_ms(1000),
        Expected::Fails(&[ErrorCase::Denied, ErrorCase::InvalidInput]),
    ));
    cases
}
