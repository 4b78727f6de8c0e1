//! Guests that take memory, tables, instances and stack.

use serde_json::json;
use xzatoma::policy::Authority;
use xzatoma::tool::ErrorCase;

use super::components::{Wat, load};
use super::scene::{Scene, reading};
use super::table::{Case, Expected, Verdict, attack, case, check, run};
use crate::harness::grant::{self, Add};

const LIMIT: &[ErrorCase] = &[ErrorCase::LimitExceeded];

fn refused(scene: &mut Scene, component: &Wat) -> Verdict {
    match load(scene, component) {
        Err(_) => Ok(()),
        Ok(tool) => Err(format!("it was loaded as {}", tool)),
    }
}

/// Loads it and calls it.
fn called(
    scene: &mut Scene,
    component: &Wat,
    authority: &Authority,
    expected: &Expected,
) -> Verdict {
    let tool = load(scene, component).map_err(|reason| format!("not loaded: {reason}"))?;
    let report = scene.world.call(&tool, json!({}), authority);
    check(&report, expected)
}

#[test]
fn guests_that_take_memory() {
    run("hostile::memory::guests_that_take_memory", || {
        let mut cases = vec![
            attack(
                "T-MEM-01",
                "allocation without end",
                json!({"case": "allocate"}),
                reading(),
                Expected::Fails(LIMIT),
            ),
            attack(
                "T-MEM-01",
                "with hardly any to begin with",
                json!({"case": "allocate"}),
                reading().memory_mib(2),
                Expected::Fails(LIMIT),
            ),
            attack(
                "T-MEM-02",
                "growth that is refused and shrugged off",
                json!({"case": "grow"}),
                reading().memory_mib(16),
                Expected::Holds(|report| match &report.result {
                    Ok(output)
                        if output.text.parse::<u64>().is_ok_and(|bytes| bytes <= 16 << 20) =>
                    {
                        match report.receipt.peak_memory_bytes <= 16 << 20 {
                            true => Ok(()),
                            false => Err(format!(
                                "the receipt says {}",
                                report.receipt.peak_memory_bytes
                            )),
                        }
                    }
                    other => Err(format!("{other:?}")),
                }),
            ),
            attack(
                "T-MEM-07",
                "recursion without end",
                json!({"case": "recursion"}),
                reading(),
                Expected::Fails(&[ErrorCase::Crashed]),
            ),
        ];
        cases.extend(declared());
        cases.extend(tables_and_instances());
        cases.push(case("T-MEM-08", "what an earlier guest left in memory", reused_memory));
        cases
    });
}

/// Memory that a component has from the start, without asking.
fn declared() -> Vec<Case> {
    vec![
        case("T-MEM-03", "a declared minimum above the cap", |scene| {
            let component =
                Wat::named("large_from_the_start").memory(r#"(memory (export "memory") 512)"#);
            called(scene, &component, &grant::nothing().memory_mib(16), &Expected::Fails(LIMIT))
        }),
        case("T-MEM-03", "a declared minimum above what is possible", |scene| {
            refused(scene, &Wat::named("huge").memory(r#"(memory (export "memory") 65536)"#))
        }),
        case("T-MEM-04", "several memories, each below the cap", |scene| {
            let memories = r#"(memory (export "memory") 200) (memory 200) (memory 200)"#;
            let component = Wat::named("several_memories").memory(memories);
            // 12.5 MiB each.
            called(scene, &component, &grant::nothing().memory_mib(16), &Expected::Fails(LIMIT))?;
            let report =
                scene.world.call("several_memories", json!({}), &grant::nothing().memory_mib(40));
            check(&report, &Expected::Says("done"))
        }),
        case("T-MEM-04", "a hundred memories", |scene| {
            let memories = format!(r#"(memory (export "memory") 1) {}"#, "(memory 1) ".repeat(99));
            refused(scene, &Wat::named("a_hundred_memories").memory(&memories))
        }),
    ]
}

fn tables_and_instances() -> Vec<Case> {
    vec![
        case("T-MEM-05", "a table of 2^32 - 1 elements", |scene| {
            refused(scene, &Wat::named("huge_table").items("(table 0xffffffff funcref)"))
        }),
        case("T-MEM-05", "a table that grows without end", |scene| {
            let component = Wat::named("growing_table").items("(table $table 1 funcref)").call(
                "(loop $more
                   (br_if $more (i32.ne (i32.const -1)
                     (table.grow $table (ref.null func) (i32.const 1000)))))
                 ;; Only a bounded table gets here alive.
                 (if (i32.gt_u (table.size $table) (i32.const 100000)) (then unreachable))
                 (i32.const 64)",
            );
            called(scene, &component, &grant::nothing().deadline_ms(5000), &Expected::Says("done"))
        }),
        case("T-MEM-06", "ten thousand instances", |scene| {
            let instances = "(core instance (instantiate $small)) ".repeat(10_000);
            let component = Wat::named("many_instances")
                .before(&format!("(core module $small (memory 1)) {instances}"));
            refused(scene, &component)
        }),
        case("T-MEM-06", "instances nested a thousand deep", |scene| {
            let mut nested = "(component)".to_owned();
            for _ in 0..1000 {
                nested = format!("(component {nested} (instance (instantiate 0)))");
            }
            let component = Wat::named("nested_instances")
                .before(&format!("{nested} (instance (instantiate 0))"));
            refused(scene, &component)
        }),
    ]
}

/// The pool gives the same pages to one guest after the other.
fn reused_memory(scene: &mut Scene) -> Verdict {
    let component = Wat::named("leaves_traces").memory(r#"(memory (export "memory") 64)"#).call(
        "(local $at i32)
         (local.set $at (i32.const 65536))
         (loop $look
           (if (i64.ne (i64.load (local.get $at)) (i64.const 0)) (then unreachable))
           (i64.store (local.get $at) (i64.const 0x5ec2e75ec2e75ec2))
           (local.set $at (i32.add (local.get $at) (i32.const 512)))
           (br_if $look (i32.lt_u (local.get $at) (i32.const 4194304))))
         (i32.const 64)",
    );
    called(scene, &component, &grant::nothing(), &Expected::Says("done"))?;
    for _ in 0..50 {
        let report = scene.world.call("leaves_traces", json!({}), &grant::nothing());
        check(&report, &Expected::Says("done"))?;
    }
    Ok(())
}
