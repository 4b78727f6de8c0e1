//! `grep`, parameter by parameter.

mod files;
mod results;

use serde_json::{Value, json};
use xzatoma::tool::ErrorCase::{Denied, InvalidInput, LimitExceeded, NotFound};

use super::{Caller, fact, make_pipe};
use crate::harness::{World, grant};

fn searcher(world: &World) -> Caller<'_> {
    Caller::new(world, "grep", grant::reading())
}

/// `pattern` with further parameters.
fn with(pattern: &str, more: Value) -> Value {
    let mut arguments = json!({"pattern": pattern});
    let all = arguments.as_object_mut().unwrap();
    all.extend(more.as_object().unwrap().clone());
    arguments
}

/// The results of an answer, without what is said about them.
#[track_caller]
fn results(world: &World, pattern: &str, more: Value) -> Vec<String> {
    let output = searcher(world).ok(with(pattern, more));
    let text = match output.text.rsplit_once("\n\n") {
        Some((results, _)) => results,
        None => "",
    };
    text.lines().map(str::to_owned).collect()
}

#[test]
fn lines_with_path_and_number() {
    let world = World::new();
    world.write("b.txt", "no\nfound\n");
    world.write("a/z.txt", "found\r\nno\nfound twice found\n");
    let output = searcher(&world).ok(with("found", json!({})));
    assert_eq!(
        output.text,
        "a/z.txt:1:found\na/z.txt:3:found twice found\nb.txt:2:found\n\n\
         3 matching lines in 2 files. Searched 2 files (37 bytes)."
    );
    assert_eq!((fact(&output, "results"), fact(&output, "matching_files")), ("3", "2"));
    assert_eq!((fact(&output, "files_searched"), fact(&output, "truncated")), ("2", "false"));
}

#[test]
fn no_match_is_an_answer() {
    let world = World::new();
    world.write("f", "text");
    let output = searcher(&world).ok(with("absent", json!({})));
    assert!(output.text.starts_with("No match for \"absent\" in the workspace. Searched 1 file"));
    assert!(output.text.contains(".gitignore"), "{}", output.text);
    assert_eq!((fact(&output, "results"), fact(&output, "matching_lines")), ("0", "0"));
    for output in ["files", "count"] {
        let answer = searcher(&world).text(with("absent", json!({"output": output})));
        assert!(answer.starts_with("No match for"), "{answer}");
    }
    let empty = World::new();
    assert!(searcher(&empty).text(with("x", json!({}))).contains("Searched 0 files"));
}

#[test]
fn case_differs_only_on_request() {
    let world = World::new();
    world.write("f", "Word\nword\nWÖRD\nwörd\n");
    assert_eq!(results(&world, "word", json!({})).len(), 2);
    assert_eq!(results(&world, "WÖRD", json!({"case_sensitive": false})).len(), 2);
    assert_eq!(results(&world, "word", json!({"case_sensitive": true})), ["f:2:word"]);
    assert_eq!(results(&world, "(?i)WORD", json!({"case_sensitive": true})).len(), 2);
    assert_eq!(results(&world, "(?-i)WORD", json!({})).len(), 0);
}

#[test]
fn the_syntax_is_that_of_rust() {
    let world = World::new();
    world.write("f", "fn main() {\n\tlet x = 10;\r\n}\na.b\naxb\n");
    for (pattern, lines) in [
        (r"^fn\s+\w+\(", vec!["f:1:fn main() {"]),
        (r"\bx\b", vec!["f:2:\tlet x = 10;"]),
        (r";$", vec!["f:2:\tlet x = 10;"]),
        (r"a\.b", vec!["f:4:a.b"]),
        (r"^a.b$", vec!["f:4:a.b", "f:5:axb"]),
        (r"main|axb", vec!["f:1:fn main() {", "f:5:axb"]),
        (r"^\}$", vec!["f:3:}"]),
        (r"[0-9]{2}", vec!["f:2:\tlet x = 10;"]),
    ] {
        assert_eq!(results(&world, pattern, json!({})), lines, "{pattern}");
    }
}

#[test]
fn what_is_no_pattern() {
    let world = World::new();
    world.write("f", "x");
    let searcher = searcher(&world);
    for pattern in ["(", "[a", "*", r"(?=x)", r"\1", r"a{5,2}", "(?P<n"] {
        let message =
            searcher.fails(with(pattern, json!({})), InvalidInput, &["regular expression"]);
        assert!(message.contains("look-around"), "{message}");
    }
    searcher.fails(with("", json!({})), InvalidInput, &["pattern is empty"]);
    searcher.fails(with(r"a\nb", json!({})), InvalidInput, &["line break", "context"]);
    searcher.fails(with(&"x".repeat(20_000), json!({})), InvalidInput, &["20000 bytes"]);
    searcher.fails(with(&"(".repeat(5000), json!({})), InvalidInput, &[]);
}

#[test]
fn expressions_that_explode_are_bounded() {
    let world = World::new();
    world.write("f", format!("{}!\n", "x".repeat(200_000)));
    let started = std::time::Instant::now();
    for pattern in [r"((a{100}){100}){100}", r"(\w{500}){500}", r"(?:\pL{1000}){20}x{1000}"] {
        let said = searcher(&world).fails(with(pattern, json!({})), LimitExceeded, &["too large"]);
        assert!(said.contains("repetitions"), "{said}");
    }
    // Exponential for an engine that goes back; here it is not.
    for pattern in [r"(x+x+)+y", r"(x|xx)+y", r"(.*)*y$", r"^(([a-z])+.)+[A-Z]([a-z])+$"] {
        assert_eq!(results(&world, pattern, json!({"case_sensitive": true})).len(), 0, "{pattern}");
    }
    assert!(started.elapsed().as_secs() < 10, "{:?}", started.elapsed());
}

#[test]
fn numbers_have_bounds() {
    let world = World::new();
    for (name, value) in [
        ("context", 21),
        ("max_results", 0),
        ("max_results", 10_001),
        ("max_file_size", 0),
        ("max_file_size", 33_554_433),
    ] {
        let arguments = with("x", json!({name: value}));
        searcher(&world).fails(arguments, InvalidInput, &[&format!("`{name}` is {value}")]);
    }
    for name in ["include", "exclude"] {
        let searcher = searcher(&world);
        searcher.fails(with("x", json!({name: [""]})), InvalidInput, &["empty glob"]);
        searcher.fails(with("x", json!({name: ["[a"]})), InvalidInput, &["[a"]);
        searcher.fails(with("x", json!({name: ["!a"]})), InvalidInput, &["!a"]);
        searcher.fails(with("x", json!({name: vec!["a"; 65]})), InvalidInput, &["64"]);
        searcher.ok(with("x", json!({name: vec!["a"; 64]})));
    }
    let both = json!({"include": vec!["a"; 33], "exclude": vec!["b"; 33]});
    searcher(&world).fails(with("x", both), InvalidInput, &["66", "64"]);
}

#[test]
fn places_that_cannot_be_searched() {
    let world = World::new();
    world.write("f", "x");
    let searcher = searcher(&world);
    let at = |path: &str| with("x", json!({"path": path}));
    searcher.fails(at("missing"), NotFound, &["missing"]);
    searcher.fails(at("f/below"), InvalidInput, &["f/below"]);
    for path in ["..", "../outside", "/etc", "/workspace/../etc"] {
        searcher.fails(at(path), Denied, &["/workspace"]);
    }
    searcher.fails(at(""), InvalidInput, &["empty"]);
    std::os::unix::fs::symlink("../outside", world.workspace().join("out")).unwrap();
    searcher.fails(at("out"), Denied, &["outside the granted directory"]);
    make_pipe(&world, "pipe");
    searcher.fails(at("pipe"), InvalidInput, &["neither a regular file nor a directory"]);
    let nothing = Caller::new(&world, "grep", grant::nothing());
    nothing.fails(at("."), Denied, &["--workspace"]);
}
