//! Files that are no components, components that are no tools, and honest ones with bits flipped.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::json;
use xzatoma::sandbox::Cache;

use super::components::{Wat, load_bytes, mutated};
use super::scene::Scene;
use super::table::{Case, Verdict, case, run};
use crate::harness::grant::{self, Add};
use crate::harness::{Setup, TemporaryDirectory, World, helper, test_component};

/// Broken copies of the canary, each from a seed of its own.
const MUTATIONS: u64 = 200;

fn refused(bytes: &[u8], because: &str) -> Verdict {
    match load_bytes(bytes) {
        Err(reason) if reason.contains(because) => Ok(()),
        Err(reason) => Err(format!("refused, but because {reason:?}")),
        Ok(loaded) => Err(format!("it was loaded as {:?}", loaded.name)),
    }
}

fn not_loaded(id: &'static str, name: &'static str, component: Wat, because: &'static str) -> Case {
    case(id, name, move |_| refused(&component.bytes(), because))
}

#[test]
fn what_is_no_tool_is_refused() {
    run("hostile::malformed::what_is_no_tool_is_refused", || {
        let mut cases = vec![
            case("T-BAD-01", "a core module", |_| {
                refused(&wat::parse_str("(module)").unwrap(), "core WebAssembly module")
            }),
            case("T-BAD-01", "a component that exports nothing", |_| {
                refused(&wat::parse_str("(component)").unwrap(), "xzatoma:tool")
            }),
            case("T-BAD-02", "native code", |_| {
                let own = fs::read("/proc/self/exe").unwrap();
                refused(&own[..1 << 16], "native or precompiled")
            }),
            case("T-BAD-02", "precompiled code", |_| {
                let code = Path::new(env!("XZATOMA_TOOLS_DIR")).join("file_ops.cwasm");
                refused(&fs::read(code).unwrap(), "native or precompiled")
            }),
            case("T-BAD-02", "text, nothing, and zeroes", |_| {
                for bytes in [&b"(component)"[..], b"", b"\0asm", &[0; 4096]] {
                    refused(bytes, "not a WebAssembly component")?;
                }
                Ok(())
            }),
            case("T-BAD-02", "a file that is none", |scene| {
                for path in ["/dev/zero", "/proc/self", "/nowhere"] {
                    if scene.world.add(Path::new(path)).is_ok() {
                        return Err(path.to_owned());
                    }
                }
                Ok(())
            }),
            case("T-BAD-03", "a component cut short", |_| {
                let honest = fs::read(test_component("canary")).unwrap();
                for part in [8, 9, 100, honest.len() / 2, honest.len() - 1] {
                    refused(&honest[..part], "")?;
                }
                Ok(())
            }),
            case("T-BAD-03", "a file larger than any tool", |scene| {
                let directory = TemporaryDirectory::new();
                let path = directory.path().join("large.wasm");
                fs::write(&path, [0, b'a', b's', b'm', 0x0d, 0, 1, 0]).unwrap();
                fs::File::options()
                    .write(true)
                    .open(&path)
                    .unwrap()
                    .set_len((64 << 20) + 1)
                    .unwrap();
                match scene.world.add(&path) {
                    Err(error) if error.reason.contains("larger than") => Ok(()),
                    other => Err(format!("{:?}", other.err())),
                }
            }),
            case("T-BAD-04", "bits flipped, bytes lost and doubled", mutations),
            not_loaded(
                "T-BAD-05",
                "a version that nobody published",
                Wat::named("other_version").version("0.2.0"),
                "xzatoma:tool@0.1.0",
            ),
            not_loaded(
                "T-BAD-05",
                "a version of the far future",
                Wat::named("far_version").version("99.0.0"),
                "xzatoma:tool@0.1.0",
            ),
            not_loaded(
                "T-BAD-06",
                "a description that traps",
                Wat::named("traps").describe("unreachable"),
                "crashed",
            ),
            not_loaded(
                "T-BAD-06",
                "a description outside the memory",
                Wat::named("elsewhere").describe("(i32.const -4)"),
                "crashed",
            ),
            not_loaded(
                "T-BAD-06",
                "a start function that traps",
                Wat::named("start_traps").items("(func $trap unreachable) (start $trap)"),
                "crashed",
            ),
            not_loaded(
                "T-BAD-07",
                "no description",
                Wat::named("silent").description(""),
                "description",
            ),
            not_loaded(
                "T-BAD-07",
                "a description that is a book",
                Wat::named("talkative").description(&"x".repeat(9000)),
                "description",
            ),
            not_loaded(
                "T-BAD-07",
                "a schema that is no JSON",
                Wat::named("no_json").parameters("{"),
                "schema",
            ),
            not_loaded(
                "T-BAD-07",
                "a schema that is no object",
                Wat::named("no_object").parameters("[]"),
                "schema",
            ),
            not_loaded(
                "T-BAD-07",
                "a schema of another type",
                Wat::named("a_string").parameters(r#"{"type":"string"}"#),
                "schema",
            ),
            not_loaded(
                "T-BAD-07",
                "a schema that is very deep",
                Wat::named("deep_schema").parameters(&"[".repeat(10_000)),
                "schema",
            ),
        ];
        cases.extend(unwanted_features());
        cases
    });
}

/// What no tool needs is turned off.
fn unwanted_features() -> Vec<Case> {
    let uses = |name: &str, items: &str| Wat::named(name).items(items);
    vec![
        not_loaded("T-BAD-08", "memory of 64 bits", uses("memory64", "(memory i64 1)"), ""),
        not_loaded("T-BAD-08", "shared memory", uses("shared", "(memory 1 1 shared)"), ""),
        not_loaded(
            "T-BAD-08",
            "atomic instructions",
            uses("atomics", "(memory 1 1 shared) (func (drop (i32.atomic.load 1 (i32.const 0))))"),
            "",
        ),
        not_loaded(
            "T-BAD-08",
            "collected structures",
            uses(
                "collected",
                "(type $pair (struct (field i32))) (func (drop (struct.new $pair (i32.const 1))))",
            ),
            "",
        ),
        not_loaded(
            "T-BAD-08",
            "exceptions",
            uses("exceptions", "(tag $tag) (func (throw $tag))"),
            "",
        ),
        not_loaded(
            "T-BAD-08",
            "relaxed vectors",
            uses(
                "relaxed",
                "(func (drop (i32x4.relaxed_trunc_f32x4_s (v128.const i32x4 0 0 0 0))))",
            ),
            "",
        ),
        not_loaded(
            "T-BAD-08",
            "pages of another size",
            uses("pages", "(memory 1 (pagesize 1))"),
            "",
        ),
        not_loaded(
            "T-BAD-08",
            "a function of many arguments",
            uses("many_arguments", &format!("(func {})", "(param i32)".repeat(2000))),
            "",
        ),
        not_loaded(
            "T-BAD-08",
            "types nested without end",
            Wat::named("nested_types").before(&nested_types(2000)),
            "",
        ),
    ]
}

fn nested_types(depth: usize) -> String {
    let mut text = "(type $t0 (list u8))".to_owned();
    for level in 1..depth {
        text.push_str(&format!("(type $t{level} (list $t{}))", level - 1));
    }
    text.push_str(&format!(r#"(import "deep:type/x@1.0.0" (instance (alias outer 1 $t{} (type $t)) (export "f" (func (param "x" $t)))))"#, depth - 1));
    text
}

/// Whatever comes of a broken copy, it comes as an answer.
fn mutations(_: &mut Scene) -> Verdict {
    let honest = fs::read(test_component("canary")).unwrap();
    let directory = TemporaryDirectory::new();
    let next = AtomicU64::new(0);
    let (mut loaded, mut problems) = (0, Vec::new());
    // The compiler is a process of its own; two keep the machine busy.
    let outcomes: Vec<_> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2)
            .map(|worker| {
                let (next, honest, directory) = (&next, &honest, directory.path());
                scope.spawn(move || {
                    let mut outcomes = Vec::new();
                    loop {
                        let seed = next.fetch_add(1, Ordering::Relaxed);
                        if seed >= MUTATIONS {
                            return outcomes;
                        }
                        let path = directory.join(format!("{worker}.wasm"));
                        fs::write(&path, mutated(honest, seed)).unwrap();
                        outcomes.push((seed, tried(&path, directory)));
                    }
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    for (seed, outcome) in outcomes {
        match outcome {
            Ok(was_loaded) => loaded += u64::from(was_loaded),
            Err(problem) => problems.push(format!("seed {seed}: {problem}")),
        }
    }
    // Of both there must be some, or the mutations are not worth their time.
    if loaded == 0 || loaded == MUTATIONS {
        problems.push(format!("{loaded} of {MUTATIONS} were loaded"));
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

/// Whether it was loaded; then it was called too.
fn tried(path: &Path, directory: &Path) -> Result<bool, String> {
    let mut world = World::with(Setup { without_built_ins: true, ..Setup::default() });
    let cache = Cache::new(directory.join("cache"), helper());
    let Ok(tool) = world.add_with(path, &cache) else { return Ok(false) };
    let authority = grant::writing().deadline_ms(1000).memory_mib(16);
    let started = std::time::Instant::now();
    let report = world.call(&tool.definition().name, json!({"a": 1, "b": 2}), &authority);
    if started.elapsed() > std::time::Duration::from_secs(4) {
        return Err(format!("the answer came after {:?}", started.elapsed()));
    }
    match report.result {
        Err(error) if error.message.contains("please report this") => Err(error.to_string()),
        _ => Ok(true),
    }
}

/// The same mutations every time, so that a failure can be repeated.
#[test]
fn mutations_are_repeatable_and_different() {
    let honest: Vec<u8> = (0..=255).cycle().take(4096).collect();
    assert_eq!(mutated(&honest, 7), mutated(&honest, 7));
    let all: std::collections::BTreeSet<Vec<u8>> =
        (0..MUTATIONS).map(|seed| mutated(&honest, seed)).collect();
    assert!(all.len() as u64 > MUTATIONS * 9 / 10, "{} different ones", all.len());
}
