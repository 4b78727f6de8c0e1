//! Rust source as the checks see it: without comments, without what is inside literals, without
//! test code, and with every `use` written out.
//!
//! Not a parser. It knows as much of the language as it takes not to be fooled by ordinary code;
//! nobody here tries to fool it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::documents;

/// One file of the host.
pub struct Source {
    /// From `host/src`, with `/`.
    pub path: String,
    pub code: String,
}

/// All source of the host that is part of the program.
pub fn host() -> Vec<Source> {
    let base = documents::root().join("host/src");
    let mut files = Vec::new();
    let mut tests = BTreeSet::new();
    for path in documents::files_below("host/src", ".rs") {
        let text = blank_comments_and_literals(&documents::read_at(&path));
        let (code, test_modules) = without_tests(&text);
        tests.extend(test_modules.iter().flat_map(|name| places_of_module(&path, name)));
        files.push((path, with_uses_written_out(&code)));
    }
    let is_test = |path: &Path| path.ancestors().any(|above| tests.contains(above));
    files
        .into_iter()
        .filter(|(path, _)| !is_test(path))
        .map(|(path, code)| {
            let relative = path.strip_prefix(&base).unwrap_or(&path);
            let names: Vec<_> = relative.iter().map(|name| name.to_string_lossy()).collect();
            Source { path: names.join("/"), code }
        })
        .collect()
}

/// The file or the directory in which a module that `parent` declares can be.
fn places_of_module(parent: &Path, name: &str) -> [PathBuf; 2] {
    let file = parent.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let directory = match file {
        "mod" | "lib" | "main" => parent.with_file_name(""),
        _ => parent.with_extension(""),
    };
    [directory.join(format!("{name}.rs")), directory.join(name)]
}

/// The same text with spaces for comments, strings and characters; lines stay where they are.
pub fn blank_comments_and_literals(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut code = String::with_capacity(text.len());
    let mut at = 0;
    while at < chars.len() {
        let Some(end) = end_of_comment_or_literal(&chars, at) else {
            code.push(chars[at]);
            at += 1;
            continue;
        };
        let end = end.min(chars.len());
        code.extend(chars[at..end].iter().map(|c| if *c == '\n' { '\n' } else { ' ' }));
        at = end;
    }
    code
}

fn end_of_comment_or_literal(chars: &[char], at: usize) -> Option<usize> {
    let next = chars.get(at + 1).copied();
    match chars[at] {
        '/' if next == Some('/') => Some(find(chars, at, |c| c == '\n')),
        '/' if next == Some('*') => Some(end_of_block_comment(chars, at)),
        '"' => Some(end_of_string(chars, at)),
        // An escape such as '\'' or '\u{1b}'; a character; else a lifetime.
        '\'' if next == Some('\\') => Some(find(chars, at + 3, |c| c == '\'') + 1),
        '\'' if chars.get(at + 2) == Some(&'\'') => Some(at + 3),
        _ => None,
    }
}

fn find(chars: &[char], from: usize, wanted: impl Fn(char) -> bool) -> usize {
    (from..chars.len()).find(|at| wanted(chars[*at])).unwrap_or(chars.len())
}

fn end_of_block_comment(chars: &[char], start: usize) -> usize {
    let (mut depth, mut at) = (0, start);
    while at + 1 < chars.len() {
        match (chars[at], chars[at + 1]) {
            ('/', '*') => (depth, at) = (depth + 1, at + 2),
            ('*', '/') => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            return at;
        }
    }
    chars.len()
}

fn end_of_string(chars: &[char], quote: usize) -> usize {
    let before = &chars[..quote];
    let hashes = before.iter().rev().take_while(|c| **c == '#').count();
    let is_raw = before.get(quote.wrapping_sub(hashes + 1)) == Some(&'r');
    let mut at = quote + 1;
    while at < chars.len() {
        match chars[at] {
            '\\' if !is_raw => at += 2,
            '"' if !is_raw => return at + 1,
            '"' if chars[at + 1..].iter().take(hashes).filter(|c| **c == '#').count() == hashes => {
                return at + 1 + hashes;
            }
            _ => at += 1,
        }
    }
    chars.len()
}

/// The code without items under `#[cfg(test)]`, and the names of the modules among them that are
/// files of their own.
fn without_tests(code: &str) -> (String, Vec<String>) {
    let mut kept = String::with_capacity(code.len());
    let mut modules = Vec::new();
    let mut rest = code;
    while let Some(start) = rest.find("#[cfg(") {
        let attribute_end =
            start + rest[start..].find(']').map_or(rest.len() - start, |end| end + 1);
        let attribute = &rest[start..attribute_end];
        if !names(attribute, "test") || attribute.contains("not(test") {
            kept.push_str(&rest[..attribute_end]);
            rest = &rest[attribute_end..];
            continue;
        }
        kept.push_str(&rest[..start]);
        let item = &rest[attribute_end..];
        let item = &item[..end_of_item(item)];
        let declared = item.rsplit_once("mod ").map(|(_, name)| name.trim());
        modules.extend(declared.and_then(|name| name.strip_suffix(';')).map(str::to_owned));
        kept.extend(item.chars().filter(|c| *c == '\n'));
        rest = &rest[attribute_end + item.len()..];
    }
    kept.push_str(rest);
    (kept, modules)
}

/// Where an item ends: at its semicolon, or with its braces.
fn end_of_item(code: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in code.char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && c == '}' {
                    return at + 1;
                }
            }
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

/// Each `use a::{b, c::d};` as `use a::b; use a::c::d;` on the line where it began.
fn with_uses_written_out(code: &str) -> String {
    let mut written = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(start) = position(rest, "use") {
        let after = start + "use".len();
        let Some(length) = rest[after..].find(';') else { break };
        let tree = &rest[after..after + length];
        written.push_str(&rest[..start]);
        for path in paths_of(tree) {
            written.push_str(&format!("use {path};"));
        }
        written.extend(tree.chars().filter(|c| *c == '\n'));
        rest = &rest[after + length + 1..];
    }
    written.push_str(rest);
    written
}

fn paths_of(tree: &str) -> Vec<String> {
    let tree = tree.trim().trim_start_matches("::");
    let Some((head, inner)) = tree.split_once('{') else {
        let path = tree.split_whitespace().next().unwrap_or_default();
        return vec![path.to_owned()];
    };
    let head = head.trim();
    let inner = inner.rsplit_once('}').map_or(inner, |(inner, _)| inner);
    split_at_commas(inner)
        .into_iter()
        .flat_map(paths_of)
        .filter(|path| !path.is_empty())
        .map(|path| match path.as_str() {
            "self" => head.trim_end_matches("::").to_owned(),
            path => format!("{head}{path}"),
        })
        .collect()
}

/// The parts of a list in braces; commas inside further braces do not count.
fn split_at_commas(list: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut start) = (Vec::new(), 0_usize, 0);
    for (at, c) in list.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&list[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&list[start..]);
    parts
}

/// Whether the code names `word`, and not merely something that holds it. A word that ends in
/// `*` stands for everything that begins with what is before it.
pub fn names(code: &str, word: &str) -> bool {
    position(code, word).is_some()
}

/// The lines, counted from 1, on which the code names `word`.
pub fn lines_naming(code: &str, word: &str) -> Vec<usize> {
    code.lines()
        .enumerate()
        .filter(|(_, line)| names(line, word))
        .map(|(index, _)| index + 1)
        .collect()
}

fn position(code: &str, word: &str) -> Option<usize> {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let (text, is_prefix) = match word.strip_suffix('*') {
        Some(prefix) => (prefix, true),
        None => (word, false),
    };
    code.match_indices(text).map(|(at, _)| at).find(|at| {
        let before = code[..*at].chars().next_back();
        let after = code[at + text.len()..].chars().next();
        let starts = !is_part(text.chars().next()) || !is_part(before);
        let ends = is_prefix || !is_part(text.chars().next_back()) || !is_part(after);
        starts && ends
    })
}

#[test]
fn comments_and_literals_are_not_code() {
    let text = r####"a // b "c
/* d /* e */ f */ g "h \" i" j 'k' '\'' l: &'static str r#"m " n"# o r"\" p b"q" '\u{1b}' s"####;
    let code = blank_comments_and_literals(text);
    let words: Vec<&str> = code.split_whitespace().collect();
    assert_eq!(words, ["a", "g", "j", "l:", "&'static", "str", "r#", "o", "r", "p", "b", "s"]);
    assert_eq!(code.lines().count(), text.lines().count());
}

#[test]
fn test_code_is_left_out() {
    let text = "mod a;\n#[cfg(test)]\nmod b;\n#[cfg(all(test, unix))]\npub(super) mod c {\n\
                fn d() {}\n}\n#[cfg(not(test))]\nfn e() {}\n#[cfg(unix)]\nfn f() {}\n";
    let (code, modules) = without_tests(text);
    assert_eq!(modules, ["b"]);
    assert!(names(&code, "e") && names(&code, "f") && !names(&code, "d"), "{code}");
    assert_eq!(code.lines().count(), text.lines().count());
    let found = places_of_module(Path::new("/s/a/x.rs"), "t");
    assert_eq!(found, [PathBuf::from("/s/a/x/t.rs"), PathBuf::from("/s/a/x/t")]);
    let found = places_of_module(Path::new("/s/a/mod.rs"), "t");
    assert_eq!(found, [PathBuf::from("/s/a/t.rs"), PathBuf::from("/s/a/t")]);
}

#[test]
fn uses_are_written_out() {
    let code = with_uses_written_out("pub use std::{fs::{self, File}, process::Command as C};\nx");
    for path in ["use std::fs;", "use std::fs::File;", "use std::process::Command;"] {
        assert!(code.contains(path), "{path} in {code}");
    }
    assert_eq!(code.lines().count(), 2);
    assert!(with_uses_written_out("let reuse = 1; house;").contains("reuse = 1"));
}

#[test]
fn words_are_whole() {
    assert!(names("use wasmtime_wasi::X;", "wasmtime*"));
    assert!(!names("use wasmtime_wasi::X;", "wasmtime"));
    assert!(!names("eprintln!()", "println!") && names("println!()", "println!"));
    assert!(names("a.canonicalize()", ".canonicalize") && !names("fs::openat(x)", "fs::open"));
    assert_eq!(lines_naming("a\nb a\nab", "a"), [1, 2]);
}
