//! Many at once, and calls that are given up half way.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use xzatoma::policy::Authority;
use xzatoma::tool::{CallReport, ErrorCase, ToolHost};

use super::scene::{Scene, reading, writing};
use super::servers::Server;
use super::table::{Case, Expected, Verdict, case, check, run};
use crate::harness::grant::{self, Add};
use crate::harness::tool_call;

#[test]
fn many_at_once_and_given_up() {
    run("hostile::together::many_at_once_and_given_up", || {
        let mut cases = vec![
            case("T-MANY-01", "sixty-four of them at once, and honest ones between", crowd),
            case("T-MANY-02", "five hundred crashes in a row", |scene| {
                for _ in 0..500 {
                    let report = scene.attack(json!({"case": "panic"}), &reading());
                    check(&report, &Expected::Fails(&[ErrorCase::Crashed]))?;
                }
                Ok(())
            }),
            case("T-MANY-02", "fifty that end at their limits in a row", |scene| {
                for _ in 0..50 {
                    let report =
                        scene.attack(json!({"case": "allocate"}), &reading().memory_mib(8));
                    check(&report, &Expected::Fails(&[ErrorCase::LimitExceeded]))?;
                }
                Ok(())
            }),
        ];
        cases.extend(given_up());
        cases
    });
}

/// What each of the crowd does, and what may come of it.
fn mixed() -> Vec<(Value, Authority, &'static [ErrorCase])> {
    const DENIED: &[ErrorCase] = &[ErrorCase::Denied];
    // On a machine that is busy with all the others, time may run out before a limit is met.
    const LIMIT: &[ErrorCase] = &[ErrorCase::LimitExceeded, ErrorCase::TimedOut];
    const CRASHED: &[ErrorCase] = &[ErrorCase::Crashed, ErrorCase::TimedOut];
    const LATE: &[ErrorCase] = &[ErrorCase::TimedOut];
    let short = || reading().deadline_ms(1500).memory_mib(16);
    vec![
        (json!({"case": "loop"}), short(), LATE),
        (json!({"case": "clock-loop"}), short(), LATE),
        (json!({"case": "poll-never"}), short(), LATE),
        (json!({"case": "poll-now-loop"}), short(), LATE),
        (json!({"case": "fill-loop", "count": 8}), short(), LATE),
        (json!({"case": "allocate"}), short(), LIMIT),
        (json!({"case": "recursion"}), short(), CRASHED),
        (json!({"case": "panic"}), short(), CRASHED),
        (json!({"case": "random", "count": u64::MAX}), short(), LIMIT),
        (json!({"case": "hoard", "how": ["pollable"], "count": 1_000_000}), short(), LIMIT),
        (json!({"case": "text", "count": 8 << 20}), short(), LIMIT),
        (json!({"case": "forged-handle", "count": 99}), short(), CRASHED),
        (
            json!({"case": "open", "path": "../outside/secret.txt", "how": ["read"]}),
            reading(),
            DENIED,
        ),
        (json!({"case": "open", "path": ".git/config", "how": ["write"]}), writing(), DENIED),
        (json!({"case": "open", "path": "fifo", "how": ["read"]}), writing(), DENIED),
        (
            json!({"case": "http", "authority": "169.254.169.254"}),
            reading().public().requests_per_minute(1000),
            DENIED,
        ),
    ]
}

fn crowd(scene: &mut Scene) -> Verdict {
    let sandbox = scene.world.sandbox();
    let mut problems = Vec::new();
    scene.world.runtime().block_on(async {
        let hostile = async {
            let calls = mixed().into_iter().cycle().take(64).map(
                |(arguments, authority, expected)| async move {
                    let report = sandbox.call(tool_call("hostile", &arguments, &authority)).await;
                    check(&report, &Expected::Fails(expected))
                        .map_err(|what| format!("{arguments}: {what}"))
                },
            );
            together(calls.collect()).await
        };
        let honest = async {
            let mut outcomes = Vec::new();
            for number in 0..40_i64 {
                let authority = grant::nothing();
                let call = tool_call("canary", &json!({"a": number, "b": 1}), &authority);
                let report = sandbox.call(call).await;
                outcomes.push(match report.result {
                    Ok(output) if output.text == (number + 1).to_string() => Ok(()),
                    other => Err(format!("a canary answered {other:?}")),
                });
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            outcomes
        };
        let (hostile, honest) = tokio::join!(hostile, honest);
        problems.extend(hostile.into_iter().chain(honest).filter_map(Result::err));
    });
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// Waits for all of them, side by side.
pub async fn together<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = futures.into_iter().map(Box::pin).collect();
    let mut outcomes = Vec::new();
    std::future::poll_fn(|context| {
        waiting.retain_mut(|future| match future.as_mut().poll(context) {
            std::task::Poll::Ready(outcome) => {
                outcomes.push(outcome);
                false
            }
            std::task::Poll::Pending => true,
        });
        if waiting.is_empty() { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    outcomes
}

/// Begins a call and drops it after a while; none if it had ended by then.
fn give_up(
    scene: &Scene,
    arguments: Value,
    authority: &Authority,
    after: Duration,
) -> Option<CallReport> {
    scene.world.runtime().block_on(async {
        let call = scene.world.sandbox().call(tool_call("hostile", &arguments, authority));
        tokio::time::timeout(after, call).await.ok()
    })
}

fn given_up() -> Vec<Case> {
    let long = || reading().deadline_ms(120_000);
    let moment = Duration::from_millis(200);
    vec![
        case("T-CANCEL-01", "in its own code", move |scene| {
            if let Some(report) = give_up(scene, json!({"case": "loop"}), &long(), moment) {
                return Err(format!("it ended: {:?}", report.result));
            }
            idle()
        }),
        case("T-CANCEL-01", "in cheap calls", move |scene| {
            give_up(scene, json!({"case": "clock-loop"}), &long(), moment);
            idle()
        }),
        case("T-CANCEL-01", "while it waits", move |scene| {
            give_up(scene, json!({"case": "poll-never"}), &long(), moment);
            idle()
        }),
        case("T-CANCEL-02", "while a server keeps it waiting", move |scene| {
            let server = Server::dripping();
            let authority = long().host(&server.authority());
            give_up(
                scene,
                json!({"case": "http", "authority": server.authority()}),
                &authority,
                moment,
            );
            match server.connections() {
                1 => Ok(()),
                count => Err(format!("{count} connections")),
            }
        }),
        case("T-CANCEL-02", "while a walk reads ahead", move |scene| {
            for number in 0..8 {
                scene.world.write(&format!("much/{number}.bin"), vec![7; 2 << 20]);
            }
            let arguments = json!({"case": "hoard-walks", "path": "/workspace/much", "count": 1});
            give_up(scene, arguments, &long(), moment);
            idle()
        }),
        case("T-CANCEL-03", "while a program runs", move |scene| {
            // That it is gone is seen by the table: no child may be left.
            let arguments = json!({"case": "run", "program": "sleep", "arguments": ["1000"]});
            give_up(scene, arguments, &long().program("sleep"), Duration::from_millis(500));
            Ok(())
        }),
        case("T-CANCEL-04", "a hundred of them", move |scene| {
            for _ in 0..100 {
                give_up(scene, json!({"case": "loop"}), &long(), Duration::from_millis(10));
            }
            idle()
        }),
    ]
}

/// Whether nothing computes any more: the process uses hardly any processor time.
fn idle() -> Verdict {
    const LOOK: Duration = Duration::from_millis(200);
    let patience = Instant::now() + Duration::from_secs(3);
    loop {
        let before = processor_time();
        std::thread::sleep(LOOK);
        let used = processor_time() - before;
        if used < LOOK / 4 {
            return Ok(());
        }
        if Instant::now() > patience {
            return Err(format!("the process still uses {used:?} of {LOOK:?}"));
        }
    }
}

/// Of all threads of this process, as the system counts it: in hundredths of a second.
fn processor_time() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, after_name) = stat.rsplit_once(')').unwrap();
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let hundredths: u64 = fields[11..=12].iter().map(|field| field.parse::<u64>().unwrap()).sum();
    Duration::from_millis(hundredths * 10)
}
