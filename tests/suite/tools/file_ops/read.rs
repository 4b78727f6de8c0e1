//! `read`.

use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use xzatoma::tool::ErrorCase::{Denied, Failed, InvalidInput, NotFound};

use super::super::{Caller, fact, make_pipe};
use crate::harness::{World, grant};

fn reader(world: &World) -> Caller<'_> {
    Caller::new(world, "file_ops", grant::reading())
}

fn read(path: &str) -> Value {
    json!({"operation": "read", "path": path})
}

fn page(path: &str, offset: u64, limit: u64) -> Value {
    json!({"operation": "read", "path": path, "offset": offset, "limit": limit})
}

#[test]
fn text_comes_as_it_is() {
    let world = World::new();
    for (name, text) in [
        ("plain", "one\ntwo\n"),
        ("unfinished", "one\ntwo"),
        ("windows", "one\r\ntwo\r\n"),
        ("blank", "\n\n"),
        ("unicode", "grüße \u{1F600}\n\u{2028}\n"),
    ] {
        world.write(name, text);
        let output = reader(&world).ok(read(name));
        assert_eq!(output.text, text, "{name}");
        assert_eq!(fact(&output, "size"), text.len().to_string());
        assert_eq!((fact(&output, "type"), fact(&output, "total_lines")), ("text", "2"));
    }
    world.write("empty", "");
    let output = reader(&world).ok(read("empty"));
    assert_eq!(output.text, "[empty is empty]");
    assert_eq!((fact(&output, "size"), fact(&output, "total_lines")), ("0", "0"));
}

#[test]
fn lines_are_numbered_on_request() {
    let world = World::new();
    world.write("f", "a\r\n\nlast");
    let mut arguments = read("f");
    arguments["line_numbers"] = json!(true);
    assert_eq!(reader(&world).text(arguments.clone()), "     1\ta\r\n     2\t\n     3\tlast");
    arguments["offset"] = json!(2);
    assert!(reader(&world).text(arguments).starts_with("     3\tlast\n[lines 3-3 of 3]"));
}

#[test]
fn pages_of_lines() {
    let world = World::new();
    world.write("f", "1\n2\n3\n4\n5\n");
    let reader = reader(&world);
    let first = reader.ok(page("f", 0, 2));
    assert_eq!(first.text, "1\n2\n[lines 1-2 of 5; continue with offset 2]");
    assert_eq!((fact(&first, "first_line"), fact(&first, "last_line")), ("1", "2"));
    assert_eq!(fact(&first, "next_offset"), "2");
    assert_eq!(reader.text(page("f", 2, 2)), "3\n4\n[lines 3-4 of 5; continue with offset 4]");
    let last = reader.ok(page("f", 4, 2));
    assert_eq!(last.text, "5\n[lines 5-5 of 5]");
    assert!(last.metadata.iter().all(|(key, _)| key != "next_offset"), "{:?}", last.metadata);
    let beyond = reader.text(page("f", 9, 2));
    assert_eq!(beyond, "[no lines on this page: f has 5 lines, and 9 were to be skipped]");
    assert!(reader.text(page("f", u64::MAX, u64::MAX)).starts_with("[no lines"));
    // Models like to fill in what they do not need; zero lines are never wanted.
    assert_eq!(reader.text(page("f", 0, 0)), "1\n2\n3\n4\n5\n");
}

#[test]
fn what_is_not_text_is_described() {
    let world = World::new();
    for (name, bytes, kind) in [
        ("image", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), "PNG image"),
        ("program", b"\x7fELF\x02\x01\x01\0", "ELF executable"),
        ("data", b"text and \0 then", "binary data"),
        ("latin", b"gr\xFC\xDFe\n", "binary data"),
        ("wide", b"\xFF\xFEa\0\n\0", "UTF-16 text"),
    ] {
        world.write(name, bytes);
        let output = reader(&world).ok(read(name));
        let size = format!("{} bytes", bytes.len());
        for part in ["not UTF-8 text", kind, &size] {
            assert!(output.text.contains(part), "{name}: {}", output.text);
        }
        assert_eq!(fact(&output, "size"), bytes.len().to_string());
        assert!(!output.text.contains('\0') && !output.text.contains('\u{FFFD}'));
    }
}

#[test]
fn what_is_too_long_is_described_and_comes_in_parts() {
    let world = World::new();
    let line = format!("{}\n", "x".repeat(99));
    world.write("long", line.repeat(20_000));
    let reader = reader(&world);
    let output = reader.ok(read("long"));
    for part in ["too long for one answer", "2000000 bytes", "20000 lines", "offset"] {
        assert!(output.text.contains(part), "{}", output.text);
    }
    assert!(output.text.len() < 500);
    assert_eq!(fact(&output, "total_lines"), "20000");
    assert!(reader.text(page("long", 19_999, 5)).starts_with(&line));
    // More is asked for than fits: whole lines, and where to go on.
    let part = reader.ok(page("long", 0, 20_000));
    let next: usize = fact(&part, "next_offset").parse().unwrap();
    assert!(part.text.starts_with(&line.repeat(next)), "{next}");
    assert!(part.text.len() < 1 << 20);

    world.write("one line", "é".repeat(600_000));
    let cut = reader.ok(page("one line", 0, 1));
    assert!(
        cut.text.contains("[line 1 of 1 is longer than an answer and was cut"),
        "{}",
        cut.text.len()
    );
    assert!(!cut.text.contains('\u{FFFD}'));
}

#[test]
fn a_sparse_terabyte_is_no_trap() {
    let world = World::new();
    let path = world.write("sparse", "one\n");
    std::fs::OpenOptions::new().write(true).open(path).unwrap().set_len(1 << 40).unwrap();
    let started = Instant::now();
    assert!(reader(&world).text(read("sparse")).contains("1099511627776 bytes"));
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}

#[test]
fn what_is_no_file() {
    let world = World::new();
    world.write("dir/f", "x");
    make_pipe(&world, "pipe");
    let reader = reader(&world);
    reader.fails(read("dir"), InvalidInput, &["dir is a directory", "list"]);
    reader.fails(read("."), InvalidInput, &["directory"]);
    reader.fails(read("missing"), NotFound, &["missing", "does not exist"]);
    reader.fails(read("dir/missing/f"), NotFound, &["does not exist"]);
    reader.fails(read("dir/f/below"), InvalidInput, &["a file where a directory is needed"]);
    reader.fails(read("pipe"), InvalidInput, &["not a regular file"]);
}

#[test]
fn links_are_followed_inside_only() {
    let world = World::new();
    std::fs::write(world.outside().join("secret"), "secret").unwrap();
    world.write("dir/f", "text");
    for (name, target) in [
        ("good", "dir/f"),
        ("dir/up", "../good"),
        ("directory", "dir"),
        ("dangling", "nowhere"),
        ("circle", "circle"),
        ("out", "../outside/secret"),
        ("absolute", "/etc/passwd"),
    ] {
        symlink(target, world.workspace().join(name)).unwrap();
    }
    let reader = reader(&world);
    for path in ["good", "dir/up", "directory/f", "dir/../dir/f"] {
        assert_eq!(reader.text(read(path)), "text", "{path}");
    }
    reader.fails(read("dangling"), NotFound, &["dangling"]);
    reader.fails(read("circle"), Failed, &["circle"]);
    reader.fails(read("out"), Denied, &["outside the granted directory"]);
    reader.fails(read("absolute"), Denied, &["absolute path"]);
    let report = reader.report(read("out"));
    assert_eq!(report.receipt.denials.len(), 1, "{:?}", report.receipt.denials);
    assert_eq!(report.receipt.read_bytes, 0);
}

#[test]
fn paths_outside_and_malformed() {
    let world = World::new();
    world.write("f", "text");
    let reader = reader(&world);
    for path in ["f", "./f", "/workspace/f", "/workspace//./f", "dir/../f"] {
        assert_eq!(reader.text(read(path)), "text", "{path}");
    }
    for path in [
        "../outside/secret",
        "../../../../etc/passwd",
        "/etc/passwd",
        "/workspace/../etc/passwd",
        "/workspacex/f",
        "/",
        "dir/../../f",
    ] {
        reader.fails(read(path), Denied, &["/workspace"]);
    }
    let (name, long) = ("n".repeat(256), "d/".repeat(2100));
    for (path, part) in [("", "empty"), ("a\0b", "NUL"), (&*name, "256"), (&*long, "4200")] {
        reader.fails(read(path), InvalidInput, &[part]);
    }
    let nothing = Caller::new(&world, "file_ops", grant::nothing());
    nothing.fails(read("f"), Denied, &["--workspace"]);
}

#[test]
fn the_receipt_says_what_was_read() {
    let world = World::new();
    world.write("dir/f", "12345");
    let report = reader(&world).report(read("dir/f"));
    let used = &report.receipt.files["/workspace/dir/f"];
    assert_eq!((used.read_bytes, used.written_bytes, used.changed), (5, 0, false));
    assert_eq!(report.receipt.read_bytes, 5);
    assert!(report.receipt.denials.is_empty());
}
