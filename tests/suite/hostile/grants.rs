//! What is not granted is not there; and nobody grants himself anything.

use serde_json::json;
use xzatoma::tool::ErrorCase;

use super::components::{Wat, add_bytes, load};
use super::scene::{NO_PROGRAM, Scene, reading, writing};
use super::table::{Expected, Verdict, case, check, run};
use crate::harness::grant::{self, Add};

/// A component that traps if it is given any directory, for `wasi:filesystem` by hand.
fn suspicious(name: &str) -> Wat {
    let import = r#"
      (import "wasi:filesystem/types@0.2.12" (instance $types
        (export "descriptor" (type (sub resource)))))
      (alias export $types "descriptor" (type $descriptor))
      (import "wasi:filesystem/preopens@0.2.12" (instance $preopens
        (alias outer 1 $descriptor (type $outer))
        (export "descriptor" (type $mine (eq $outer)))
        (export "get-directories" (func (result (list (tuple (own $mine) string)))))))
      (alias export $preopens "get-directories" (func $get))
      (core module $room
        (memory (export "memory") 1)
        (func (export "realloc") (param i32 i32 i32 i32) (result i32) (i32.const 1024)))
      (core instance $room (instantiate $room))
      (alias core export $room "memory" (core memory $room-memory))
      (alias core export $room "realloc" (core func $room-realloc))
      (core func $get-raw (canon lower (func $get) (memory $room-memory) (realloc $room-realloc)))
      (core instance $outside
        (export "get" (func $get-raw))
        (export "memory" (memory $room-memory)))
    "#;
    let look = "
        (call $get (i32.const 0))
        (if (i32.ne (i32.load $room (i32.const 4)) (i32.const 0)) (then unreachable))";
    Wat::named(name)
        .before(import)
        .imports(r#"(import "outside" "get" (func $get (param i32))) (import "outside" "memory" (memory $room 1))"#)
        .describe(&format!("{look} (i32.const 16)"))
        .call(&format!("{look} (i32.const 64)"))
}

#[test]
fn nothing_is_there_unless_granted() {
    run("hostile::grants::nothing_is_there_unless_granted", || {
        vec![
            case("T-GRANT-01", "no directory", |scene| {
                let report = scene
                    .attack(json!({"case": "directories"}), &grant::nothing().program(NO_PROGRAM));
                check(&report, &Expected::Denied)
            }),
            case("T-GRANT-01", "an empty list of hosts", |scene| {
                let report =
                    scene.attack(json!({"case": "http", "authority": "example.com"}), &reading());
                check(&report, &Expected::Denied)
            }),
            case("T-GRANT-01", "only the directories that are granted", |scene| {
                let part = grant::nothing()
                    .program(NO_PROGRAM)
                    .dir("/workspace/src", xzatoma::policy::Access::Read);
                let report = scene.attack(json!({"case": "directories"}), &part);
                match report.result {
                    Ok(output) if output.text == "/workspace/src" => Ok(()),
                    other => Err(format!("{other:?}")),
                }
            }),
            case("T-GRANT-02", "a class of authority that the tool did not ask for", undeclared),
            case("T-GRANT-03", "a description that looks around", |_| {
                // It traps if it finds anything, and then it would not be loaded.
                load(&suspicious("looks_around")).map(drop)
            }),
            case("T-GRANT-04", "an interface that nobody knows", |_| {
                let import =
                    r#"(import "evil:host/backdoor@1.0.0" (instance (export "open" (func))))"#;
                match load(&Wat::named("backdoor").before(import)) {
                    Err(reason) if reason.contains("backdoor") => Ok(()),
                    other => Err(format!("{:?}", other.map(|loaded| loaded.name))),
                }
            }),
            case("T-GRANT-05", "the name of another tool", |scene| {
                for name in ["file_ops", "canary", "hostile"] {
                    match add_bytes(&mut scene.world, &Wat::named(name).bytes()) {
                        Err(reason) if reason.contains("already") => {}
                        other => return Err(format!("{name}: {other:?}")),
                    }
                }
                Ok(())
            }),
            case("T-GRANT-05", "a name that looks like another's", look_alikes),
            case("T-GRANT-06", "a tool that does not exist", |scene| {
                let report = scene.world.call("file_ops ", json!({}), &writing());
                check(&report, &Expected::Fails(&[ErrorCase::NotFound]))
            }),
        ]
    });
}

fn undeclared(_: &mut Scene) -> Verdict {
    let report = load(&suspicious("asked_for_nothing"))?.call(&writing());
    check(&report, &Expected::Says("done"))
}

fn look_alikes(_: &mut Scene) -> Verdict {
    for name in [
        "f\u{456}le_ops",
        "File_ops",
        "file_ops ",
        "file\u{200b}_ops",
        "file-ops",
        "file_ops\n",
        "\u{ff46}ile_ops",
        "",
        &"x".repeat(65),
    ] {
        match load(&Wat::named(name)) {
            Err(reason) if reason.contains("name") => {}
            other => return Err(format!("{name:?}: {:?}", other.map(|loaded| loaded.name))),
        }
    }
    Ok(())
}
