//! Guests that make the host allocate, remember and work for them.

use std::time::Duration;

use serde_json::json;
use xzatoma::tool::{CallReport, ErrorCase, ToolHost};

use super::scene::{Scene, reading};
use super::table::{Case, Expected, Verdict, attack, case, check, run, shortened};
use super::together::together;
use crate::harness::grant::Add;
use crate::harness::tool_call;

const LIMIT: &[ErrorCase] = &[ErrorCase::LimitExceeded];
const CRASHED: &[ErrorCase] = &[ErrorCase::Crashed];
/// What one read hands over at most.
const MAX_READ: u64 = 1 << 20;

#[test]
fn guests_that_use_the_host() {
    run("hostile::host_memory::guests_that_use_the_host", || {
        let mut cases = vec![
            attack(
                "T-HOST-01",
                "random bytes without end",
                json!({"case": "random", "count": u64::MAX}),
                reading(),
                Expected::Fails(LIMIT),
            ),
            attack(
                "T-HOST-01",
                "the insecure ones",
                json!({"case": "random-insecure", "count": u64::MAX}),
                reading(),
                Expected::Fails(LIMIT),
            ),
            attack(
                "T-HOST-01",
                "more than fit the guest",
                json!({"case": "random", "count": 100 << 20}),
                reading(),
                Expected::Fails(LIMIT),
            ),
            case("T-HOST-02", "reads of everything at once", read_everything),
            attack(
                "T-HOST-05",
                "many header fields",
                json!({"case": "fields", "count": 100}),
                reading(),
                Expected::Holds(few_fields),
            ),
            attack(
                "T-HOST-05",
                "long header fields",
                json!({"case": "fields", "count": 60_000}),
                reading(),
                Expected::Holds(few_fields),
            ),
            attack(
                "T-HOST-06",
                "a flood on streams that nobody gave",
                json!({"case": "stdio-flood", "count": 64 << 20}),
                reading().deadline_ms(2000),
                Expected::Holds(|report| match &report.result {
                    Ok(output)
                        if output.text.contains("nowhere") || output.text.contains("closed") =>
                    {
                        Ok(())
                    }
                    Err(error) if error.case == ErrorCase::TimedOut => Ok(()),
                    other => Err(format!("{other:?}")),
                }),
            ),
            attack(
                "T-HOST-06",
                "standard input that nobody gave",
                json!({"case": "stdin"}),
                reading(),
                Expected::Says("nothing"),
            ),
            attack(
                "T-HOST-06",
                "the host's environment and arguments",
                json!({"case": "environment"}),
                reading(),
                Expected::Says("achieved: [] [] Some(\"/workspace\")"),
            ),
            attack(
                "T-HOST-07",
                "zeroes without end",
                json!({"case": "write-zeroes", "count": u64::MAX}),
                reading(),
                Expected::Fails(&[ErrorCase::Crashed, ErrorCase::LimitExceeded]),
            ),
            attack(
                "T-HOST-07",
                "a write larger than a crossing",
                json!({"case": "write-too-much", "count": 40 << 20}),
                reading(),
                Expected::Fails(LIMIT),
            ),
            attack(
                "T-HOST-08",
                "a wait for a million things",
                json!({"case": "poll-crowd", "count": 1_000_000}),
                reading(),
                Expected::Holds(|report| match &report.result {
                    Ok(output) if output.text == "1000000 ready" => Ok(()),
                    Err(error) if error.case == ErrorCase::LimitExceeded => Ok(()),
                    other => Err(format!("{other:?}")),
                }),
            ),
            attack(
                "T-HOST-08",
                "a wait for nothing",
                json!({"case": "poll-nothing"}),
                reading(),
                Expected::Fails(CRASHED),
            ),
            attack(
                "T-HOST-09",
                "a handle out of thin air",
                json!({"case": "forged-handle", "count": 4711}),
                reading(),
                Expected::Fails(CRASHED),
            ),
            attack(
                "T-HOST-09",
                "a handle that is no number of a handle",
                json!({"case": "forged-handle", "count": u32::MAX}),
                reading(),
                Expected::Fails(CRASHED),
            ),
            attack(
                "T-HOST-09",
                "a handle of another kind",
                json!({"case": "handle-of-another-kind"}),
                reading(),
                Expected::Fails(CRASHED),
            ),
            attack(
                "T-HOST-09",
                "a handle after its end",
                json!({"case": "used-after-drop"}),
                reading(),
                Expected::Fails(CRASHED),
            ),
            attack(
                "T-HOST-09",
                "a parent dropped before its child",
                json!({"case": "parent-before-child"}),
                reading(),
                Expected::Holds(|report| match &report.result {
                    Ok(output) if output.text.starts_with("an answer") => Ok(()),
                    Err(error) if error.case == ErrorCase::Crashed => Ok(()),
                    other => Err(format!("{other:?}")),
                }),
            ),
            case("T-HOST-10", "walks that are begun and never ended", hoarded_walks),
        ];
        cases.extend(hoards());
        cases
    });
}

fn hoards() -> Vec<Case> {
    let kinds = [
        ("clocks", "pollable"),
        ("header fields", "fields"),
        ("requests", "request"),
        ("request options", "options"),
        ("streams", "stdin"),
        ("granted directories", "preopens"),
    ];
    let mut cases: Vec<Case> = kinds
        .into_iter()
        .map(|(name, kind)| {
            let arguments = json!({"case": "hoard", "how": [kind], "count": 1_000_000});
            attack("T-HOST-03", name, arguments, reading(), Expected::Fails(LIMIT))
        })
        .collect();
    cases.push(attack(
        "T-HOST-04",
        "files kept open",
        json!({"case": "hoard-files", "path": "notes.txt", "count": 1_000_000}),
        reading(),
        Expected::Holds(few_open),
    ));
    for (name, kind) in
        [("directories kept open", "directory"), ("listings kept open", "directory-stream")]
    {
        let arguments = json!({"case": "hoard", "how": [kind], "count": 1_000_000});
        let expected = Expected::Fails(&[ErrorCase::LimitExceeded, ErrorCase::Failed]);
        cases.push(attack("T-HOST-04", name, arguments, reading(), expected));
    }
    cases
}

/// As many as the grant says, which is far below what the host itself may have open.
fn few_open(report: &CallReport) -> Verdict {
    let limit = xzatoma::policy::Limits::default().open_files as u64;
    let opened = match &report.result {
        Ok(output) => output.text.split(' ').next().and_then(|count| count.parse::<u64>().ok()),
        Err(error) if error.case == ErrorCase::LimitExceeded => return Ok(()),
        Err(_) => None,
    };
    match opened {
        Some(opened) if opened <= limit => Ok(()),
        _ => Err(format!("expected at most {limit}: {:?}", shortened(report))),
    }
}

fn few_fields(report: &CallReport) -> Verdict {
    let bounded = match &report.result {
        Ok(output) => {
            let count = output.text.split(' ').next().and_then(|count| count.parse::<u64>().ok());
            count.is_some_and(|count| count < 10_000)
        }
        Err(error) => matches!(error.case, ErrorCase::LimitExceeded | ErrorCase::Crashed),
    };
    if bounded { Ok(()) } else { Err(format!("{:?}", shortened(report))) }
}

fn read_everything(scene: &mut Scene) -> Verdict {
    scene.world.write("large.bin", vec![7; 8 << 20]);
    let report = scene.attack(json!({"case": "read-all", "path": "large.bin"}), &reading());
    check(&report, &Expected::Says(" and far out "))?;
    let Ok(output) = &report.result else { return Err("no answer".to_owned()) };
    let (sizes, far) = output.text.split_once(" and far out ").unwrap_or_default();
    let sizes: Vec<u64> = sizes.split(' ').filter_map(|size| size.parse().ok()).collect();
    let bounded = sizes.len() == 5 && sizes.iter().all(|size| (1..=MAX_READ).contains(size));
    // Nothing is there, or there is no such place.
    let nothing_far = far == "Ok(0)" || far.starts_with("Err");
    if bounded && nothing_far { Ok(()) } else { Err(output.text.clone()) }
}

/// The host reads ahead for each walk. Kept waiting, walks must not keep others from theirs.
fn hoarded_walks(scene: &mut Scene) -> Verdict {
    /// With four walks each, more than there are threads to read.
    const HOARDERS: usize = 10;
    for number in 0..8 {
        scene.world.write(&format!("much/{number}.bin"), vec![7; 1 << 20]);
    }
    let begin =
        |count: u64| json!({"case": "hoard-walks", "path": "/workspace/much", "count": count});
    let refused = scene.attack(begin(1000), &reading());
    check(&refused, &Expected::Says("4 walks, then ToolError::LimitExceeded"))?;

    let (hoarding, hoarder) = (begin(4), reading().deadline_ms(4000));
    let (looking, looker) =
        (json!({"case": "scan", "path": "/workspace/src"}), reading().deadline_ms(2000));
    let sandbox = scene.world.sandbox();
    let (hoarded, looked) = scene.world.runtime().block_on(async {
        let call = |arguments, authority| sandbox.call(tool_call("hostile", arguments, authority));
        let look = async {
            tokio::time::sleep(Duration::from_millis(1500)).await;
            call(&looking, &looker).await
        };
        let hoard = together((0..HOARDERS).map(|_| call(&hoarding, &hoarder)).collect());
        tokio::join!(hoard, look)
    });
    check(&looked, &Expected::Says("1 files")).map_err(|what| format!("another's walk: {what}"))?;
    hoarded.iter().try_for_each(|report| check(report, &Expected::Fails(&[ErrorCase::TimedOut])))
}
