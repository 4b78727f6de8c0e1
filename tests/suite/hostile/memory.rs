//! Guests that take memory, tables, instances and stack.

use serde_json::json;
use xzatoma::policy::Authority;
use xzatoma::tool::ErrorCase;

use super::components::{Wat, load, load_bytes, nested_components};
use super::scene::{Scene, reading};
use super::table::{Case, Expected, Verdict, attack, case, check, run};
use crate::harness::grant::{self, Add};

const LIMIT: &[ErrorCase] = &[ErrorCase::LimitExceeded];

fn refused(component: &Wat) -> Verdict {
    match load(component) {
        Err(_) => Ok(()),
        Ok(loaded) => Err(format!("it was loaded as {}", loaded.name)),
    }
}

/// Loads it and calls it.
fn called(component: &Wat, authority: &Authority, expected: &Expected) -> Verdict {
    let loaded = load(component).map_err(|reason| format!("not loaded: {reason}"))?;
    check(&loaded.call(authority), expected)
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
        case("T-MEM-03", "a declared minimum above the cap", |_| {
            let memory = r#"(memory $own (export "memory") 512)"#;
            let component = Wat::named("large_from_the_start").memory(memory);
            called(&component, &grant::nothing().memory_mib(16), &Expected::Fails(LIMIT))
        }),
        case("T-MEM-03", "a declared minimum above what is possible", |_| {
            refused(&Wat::named("huge").memory(r#"(memory $own (export "memory") 65536)"#))
        }),
        case("T-MEM-04", "several memories, each below the cap", |_| {
            // 12.5 MiB each.
            let more = "(core instance (instantiate $more)) (core instance (instantiate $more))";
            let component = Wat::named("several_memories")
                .before(&format!("(core module $more (memory 200)) {more}"));
            let loaded = load(&component)?;
            let small = loaded.call(&grant::nothing().memory_mib(16));
            check(&small, &Expected::Fails(LIMIT))?;
            check(&loaded.call(&grant::nothing().memory_mib(32)), &Expected::Says("done"))
        }),
        case("T-MEM-04", "a hundred memories", |_| {
            let memories =
                format!(r#"(memory $own (export "memory") 1) {}"#, "(memory 1) ".repeat(99));
            refused(&Wat::named("a_hundred_memories").memory(&memories))
        }),
    ]
}

fn tables_and_instances() -> Vec<Case> {
    vec![
        case("T-MEM-05", "a table of 2^32 - 1 elements", |_| {
            refused(&Wat::named("huge_table").items("(table 0xffffffff funcref)"))
        }),
        case("T-MEM-05", "a table that grows without end", |_| {
            let component = Wat::named("growing_table").items("(table $table 1 funcref)").call(
                "(loop $more
                   (br_if $more (i32.ne (i32.const -1)
                     (table.grow $table (ref.null func) (i32.const 1000)))))
                 ;; Only a bounded table gets here alive.
                 (if (i32.gt_u (table.size $table) (i32.const 100000)) (then unreachable))
                 (i32.const 64)",
            );
            called(&component, &grant::nothing().deadline_ms(5000), &Expected::Says("done"))
        }),
        case("T-MEM-06", "ten thousand instances", |_| {
            let instances = "(core instance (instantiate $small)) ".repeat(10_000);
            let component = Wat::named("many_instances")
                .before(&format!("(core module $small (memory 1)) {instances}"));
            refused(&component)
        }),
        case("T-MEM-06", "components nested ten thousand deep", |_| {
            match load_bytes(&nested_components(10_000)) {
                Err(_) => Ok(()),
                Ok(loaded) => Err(format!("it was loaded as {}", loaded.name)),
            }
        }),
    ]
}

/// The pool gives the same pages to one guest after the other.
fn reused_memory(_: &mut Scene) -> Verdict {
    let component =
        Wat::named("leaves_traces").memory(r#"(memory $own (export "memory") 64)"#).call(
            "(local $at i32)
         (local.set $at (i32.const 65536))
         (loop $look
           (if (i64.ne (i64.load (local.get $at)) (i64.const 0)) (then unreachable))
           (i64.store (local.get $at) (i64.const 0x5ec2e75ec2e75ec2))
           (local.set $at (i32.add (local.get $at) (i32.const 512)))
           (br_if $look (i32.lt_u (local.get $at) (i32.const 4194304))))
         (i32.const 64)",
        );
    let loaded = load(&component)?;
    for _ in 0..50 {
        check(&loaded.call(&grant::nothing()), &Expected::Says("done"))?;
    }
    Ok(())
}
