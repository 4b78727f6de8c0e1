//! Answers and arguments that are too large, too deep, or not answers at all.

use serde_json::json;
use xzatoma::tool::{ErrorCase, ToolHost};

use super::components::{Wat, load};
use super::scene::{Scene, reading};
use super::table::{Case, Expected, Verdict, attack, case, check, run};
use crate::harness::grant::{self, Add};
use crate::harness::tool_call;

const LIMIT: &[ErrorCase] = &[ErrorCase::LimitExceeded];
const CRASHED: &[ErrorCase] = &[ErrorCase::Crashed];
const LIMIT_OR_CRASHED: &[ErrorCase] = &[ErrorCase::LimitExceeded, ErrorCase::Crashed];
/// The default limit of an answer.
const OUTPUT: usize = 1 << 20;

#[test]
fn answers_that_are_none() {
    run("hostile::answers::answers_that_are_none", || {
        let mut cases = vec![
            attack(
                "T-OUT-01",
                "an answer over the limit",
                json!({"case": "text", "count": OUTPUT + 1}),
                reading(),
                Expected::Fails(LIMIT),
            ),
            attack(
                "T-OUT-01",
                "an answer at the limit",
                json!({"case": "text", "count": OUTPUT}),
                reading(),
                Expected::Says("xxx"),
            ),
            attack(
                "T-OUT-01",
                "an answer over what can cross",
                json!({"case": "text", "count": 40 << 20}),
                reading(),
                Expected::Fails(LIMIT),
            ),
            attack(
                "T-OUT-03",
                "JSON a hundred thousand deep",
                json!({"case": "deep-json", "count": 100_000}),
                reading(),
                Expected::Says("[[[["),
            ),
            case("T-OUT-03", "arguments a hundred thousand deep", deep_arguments),
            attack(
                "T-OUT-04",
                "a thousand facts",
                json!({"case": "metadata", "count": 1000}),
                reading(),
                Expected::Fails(LIMIT),
            ),
            attack(
                "T-OUT-04",
                "a large fact",
                json!({"case": "metadata-value", "count": 1 << 20}),
                reading(),
                Expected::Fails(LIMIT),
            ),
            attack(
                "T-OUT-05",
                "an error text over the limit",
                json!({"case": "error-text", "count": 8 << 20}),
                reading(),
                Expected::Holds(|report| match &report.result {
                    Err(error)
                        if error.case == ErrorCase::Failed
                            && error.message.len() <= OUTPUT + 16 =>
                    {
                        Ok(())
                    }
                    Err(error) => Err(format!("{} of {} bytes", error.case, error.message.len())),
                    Ok(_) => Err("it worked".to_owned()),
                }),
            ),
            attack(
                "T-OUT-06",
                "leaving as if all were well",
                json!({"case": "exit-well"}),
                reading(),
                Expected::Fails(CRASHED),
            ),
            attack(
                "T-OUT-06",
                "leaving with a code",
                json!({"case": "exit-code", "count": 3}),
                reading(),
                Expected::Fails(CRASHED),
            ),
            attack(
                "T-OUT-06",
                "a panic",
                json!({"case": "panic"}),
                reading(),
                Expected::Fails(CRASHED),
            ),
            attack(
                "T-OUT-06",
                "arguments that fit nothing",
                json!({"case": 7}),
                reading(),
                Expected::Fails(&[ErrorCase::InvalidInput]),
            ),
        ];
        cases.extend(broken_answers());
        cases
    });
}

fn deep_arguments(scene: &mut Scene) -> Verdict {
    for deep in [
        "[".repeat(100_000),
        "{\"a\":".repeat(100_000),
        format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)),
    ] {
        let mut call = tool_call("hostile", &json!(null), &reading());
        call.arguments = deep;
        let report = scene.world.runtime().block_on(scene.world.sandbox().call(call));
        check(&report, &Expected::Fails(&[ErrorCase::InvalidInput]))?;
    }
    Ok(())
}

/// A component by hand whose answer breaks the rules by which it is read.
fn broken(
    id: &'static str,
    name: &'static str,
    component: Wat,
    expected: &'static [ErrorCase],
) -> Case {
    case(id, name, move |_| {
        let loaded = load(&component).map_err(|reason| format!("not loaded: {reason}"))?;
        check(&loaded.call(&grant::nothing().deadline_ms(500)), &Expected::Fails(expected))
    })
}

fn broken_answers() -> Vec<Case> {
    const WORKED: u32 = 0;
    let gib = 1 << 30;
    let large = |name: &str| Wat::named(name).memory(r#"(memory $own (export "memory") 3200)"#);
    vec![
        case("T-OUT-02", "the template itself is honest", |_| {
            check(&load(&Wat::named("honest"))?.call(&grant::nothing()), &Expected::Says("done"))
        }),
        broken(
            "T-OUT-02",
            "a text of a gigabyte that is not there",
            Wat::named("gigabyte").answer(&[WORKED, 0, gib, 0, 0]),
            LIMIT_OR_CRASHED,
        ),
        broken(
            "T-OUT-02",
            "a text of most of the memory",
            large("most").answer(&[WORKED, 0, 200 << 20, 0, 0]),
            LIMIT,
        ),
        broken(
            "T-OUT-02",
            "four billion facts",
            Wat::named("four_billion").answer(&[WORKED, 256, 4, 0, u32::MAX]),
            LIMIT_OR_CRASHED,
        ),
        broken(
            "T-OUT-02",
            "facts that are all the same memory",
            large("same_memory").answer(&[WORKED, 256, 4, 1024, 10 << 20]),
            LIMIT,
        ),
        broken(
            "T-OUT-07",
            "a text that ends outside",
            Wat::named("ends_outside").answer(&[WORKED, 65_530, 100, 0, 0]),
            CRASHED,
        ),
        broken(
            "T-OUT-07",
            "a text that begins outside",
            Wat::named("begins_outside").answer(&[WORKED, u32::MAX, 1, 0, 0]),
            CRASHED,
        ),
        broken(
            "T-OUT-07",
            "a text that is not Unicode",
            Wat::named("not_unicode").answer(&[WORKED, 84, 4, 0, 0, u32::MAX]),
            CRASHED,
        ),
        broken(
            "T-OUT-07",
            "an outcome that does not exist",
            Wat::named("no_outcome").answer(&[9, 256, 4, 0, 0]),
            CRASHED,
        ),
        broken(
            "T-OUT-07",
            "an error that does not exist",
            Wat::named("no_error").answer(&[1, 200, 256, 4, 0]),
            CRASHED,
        ),
        broken(
            "T-OUT-07",
            "an answer at an odd address",
            Wat::named("odd_address").call("(i32.const 65)"),
            CRASHED,
        ),
        broken(
            "T-OUT-07",
            "an answer outside the memory",
            Wat::named("outside").call("(i32.const -4)"),
            CRASHED,
        ),
        broken(
            "T-OUT-08",
            "arguments put outside the memory",
            Wat::named("arguments_outside").realloc("(i32.const -8)"),
            CRASHED,
        ),
        broken(
            "T-OUT-08",
            "an allocator that traps",
            Wat::named("allocator_traps").realloc("unreachable"),
            CRASHED,
        ),
        broken(
            "T-OUT-08",
            "an allocator without end",
            Wat::named("allocator_loops").realloc("(loop $again (br $again)) unreachable"),
            &[ErrorCase::TimedOut],
        ),
        broken(
            "T-OUT-08",
            "a clean-up that traps",
            Wat::named("cleanup_traps").call_done("unreachable"),
            CRASHED,
        ),
        broken(
            "T-OUT-08",
            "a clean-up without end",
            Wat::named("cleanup_loops").call_done("(loop $again (br $again))"),
            &[ErrorCase::TimedOut],
        ),
    ]
}
