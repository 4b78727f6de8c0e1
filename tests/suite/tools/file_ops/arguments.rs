//! Parameters that do not go together.

use serde_json::{Value, json};
use xzatoma::tool::ErrorCase::InvalidInput;

use super::super::snapshot;
use super::writer;
use crate::harness::World;

/// What each operation takes, filled in so that it would work.
fn complete() -> Vec<Value> {
    vec![
        json!({"operation": "read", "path": "f", "offset": 1, "limit": 1, "line_numbers": true}),
        json!({"operation": "write", "path": "f", "content": "x"}),
        json!({"operation": "edit", "path": "f", "old_text": "b", "new_text": "c"}),
        json!({"operation": "append", "path": "f", "content": "x"}),
        json!({"operation": "delete", "path": "f", "recursive": true}),
        json!({"operation": "list", "path": ".", "recursive": true, "offset": 1, "limit": 1}),
        json!({"operation": "find", "path": ".", "pattern": "*", "recursive": true, "offset": 1, "limit": 1}),
        json!({"operation": "copy", "path": "f", "path2": "g", "recursive": true}),
        json!({"operation": "move", "path": "f", "path2": "g", "recursive": true}),
        json!({"operation": "mkdir", "path": "d", "recursive": true}),
        json!({"operation": "diff", "path": "f", "path2": "h"}),
    ]
}

/// A value of each optional parameter, and one that counts as not given.
fn optional() -> Vec<(&'static str, Value, Value)> {
    vec![
        ("path2", json!("h"), json!("")),
        ("content", json!("x"), json!("")),
        ("old_text", json!("b"), json!("")),
        ("new_text", json!("c"), json!("")),
        ("pattern", json!("*"), json!("")),
        ("recursive", json!(true), json!(false)),
        ("offset", json!(1), json!(0)),
        ("limit", json!(1), json!(0)),
        ("line_numbers", json!(true), json!(false)),
    ]
}

#[test]
fn a_parameter_that_has_no_meaning_is_named_and_nothing_is_done() {
    let world = World::new();
    world.write("f", "a\nb\n");
    world.write("h", "a\n");
    let before = snapshot(&world.workspace());
    let mut refused = 0;
    for arguments in complete() {
        for (name, value, _) in optional() {
            // `diff` takes this one too, instead of `path2`.
            let instead = arguments["operation"] == "diff" && name == "content";
            if arguments.get(name).is_some() || instead {
                continue;
            }
            let mut more = arguments.clone();
            more[name] = value;
            let named = format!("`{name}` has no meaning for operation");
            writer(&world).fails(more, InvalidInput, &[&named, "leave it out"]);
            refused += 1;
        }
    }
    assert_eq!(refused, 77);
    assert_eq!(snapshot(&world.workspace()), before);
}

#[test]
fn empty_ones_are_as_good_as_not_given() {
    for arguments in complete() {
        let world = World::new();
        world.write("f", "a\nb\n");
        world.write("h", "a\n");
        let plain = writer(&world).ok(arguments.clone());
        let world = World::new();
        world.write("f", "a\nb\n");
        world.write("h", "a\n");
        let mut more = arguments.clone();
        for (name, _, nothing) in optional() {
            // An empty text is a text to compare with.
            let instead = arguments["operation"] == "diff" && name == "content";
            if arguments.get(name).is_none() && !instead {
                more[name] = nothing;
            }
        }
        assert_eq!(writer(&world).ok(more.clone()).text, plain.text, "{more}");
    }
}

#[test]
fn a_parameter_that_is_needed_is_named() {
    let world = World::new();
    world.write("f", "a\nb\n");
    for arguments in complete() {
        let operation = arguments["operation"].as_str().unwrap();
        let needed: &[&str] = match operation {
            "list" => &[],
            "find" => &["pattern"],
            "write" | "append" => &["path", "content"],
            "edit" => &["path", "old_text", "new_text"],
            "copy" | "move" | "diff" => &["path", "path2"],
            _ => &["path"],
        };
        for name in needed {
            let mut less = arguments.clone();
            less.as_object_mut().unwrap().remove(*name);
            let said = writer(&world).fails(less, InvalidInput, &[&format!("`{name}`")]);
            assert!(said.contains(&format!("operation {operation} needs")), "{said}");
        }
    }
}
