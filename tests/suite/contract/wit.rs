//! The names that a WIT file gives: interfaces, worlds, types, fields, cases and functions.

/// The package that a file belongs to, with its version.
pub fn package(text: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix("package "));
    line.and_then(|line| line.strip_suffix(';')).expect("`package NAME;` in a WIT file").to_owned()
}

/// Words that open a block, and whether the names inside stand alone (`a, b(string)`) or with
/// a type (`a: u32`).
const BLOCKS: [(&str, Inside); 7] = [
    ("world", Inside::Functions),
    ("interface", Inside::Functions),
    ("resource", Inside::Functions),
    ("record", Inside::Fields),
    ("variant", Inside::Cases),
    ("enum", Inside::Cases),
    ("flags", Inside::Cases),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    Functions,
    Fields,
    Cases,
}

/// Every name that the file gives, in its order.
pub fn names(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let mut names = Vec::new();
    let mut open: Vec<Inside> = Vec::new();
    // Depth of parentheses and angle brackets, in which nothing is named that is ours.
    let mut nested = 0_usize;
    let mut at = 0;
    while at < tokens.len() {
        let token = tokens[at].as_str();
        let following = tokens.get(at + 1).map_or("", String::as_str);
        let before = at.checked_sub(1).map_or("", |before| tokens[before].as_str());
        match token {
            "(" | "<" => nested += 1,
            ")" | ">" => nested = nested.saturating_sub(1),
            "}" => drop(open.pop()),
            "package" | "use" | "import" | "export" | "include" if starts_item(before) => {
                while tokens.get(at).is_some_and(|token| token != ";") {
                    at += 1;
                }
            }
            word => {
                let block = BLOCKS.iter().find(|(keyword, _)| *keyword == word);
                if let Some((_, inside)) = block
                    && starts_item(before)
                    && is_name(following)
                {
                    names.push(plain(following));
                    open.push(*inside);
                    // The name and its brace.
                    at += 2;
                } else if is_name(word) && nested == 0 {
                    let named = match open.last() {
                        Some(Inside::Cases) => matches!(before, "{" | ","),
                        Some(Inside::Fields | Inside::Functions) => {
                            following == ":" && matches!(before, "{" | "," | ";" | "}")
                        }
                        None => false,
                    };
                    if named {
                        names.push(plain(word));
                    }
                }
            }
        }
        at += 1;
    }
    names
}

fn starts_item(before: &str) -> bool {
    matches!(before, "" | "{" | "}" | ";")
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '%')
}

/// `%` only says that what follows is no keyword.
fn plain(name: &str) -> String {
    name.trim_start_matches('%').to_owned()
}

/// Words and single characters; no comments, and `->` as one.
fn tokens(text: &str) -> Vec<String> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || "-%@.".contains(c);
    let mut tokens = Vec::new();
    for line in text.lines() {
        let code = line.split("//").next().unwrap_or_default();
        let mut rest = code.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = if rest.starts_with("->") {
                2
            } else if is_word(first) {
                rest.find(|c: char| !is_word(c)).unwrap_or(rest.len())
            } else {
                first.len_utf8()
            };
            tokens.push(rest[..length].to_owned());
            rest = rest[length..].trim_start();
        }
    }
    tokens
}

#[test]
fn names_of_all_kinds_are_found() {
    let text = "package a:b@0.1.0;\n/// record no { x: u8 }\ninterface one {\n  use types.{tool-error};\n\
        enum level { debug, info }\n  record r {\n    /// c\n    %include: list<tuple<string, u8>>,\n\
        end: u32,\n  }\n  variant v { first(string), second, }\n  resource walk {\n\
        open: static func(root: string, options: r) -> result<walk, v>;\n    next: func();\n  }\n\
        run: func(r: r) -> r;\n}\nworld w {\n  import log;\n  include pure;\n}\n";
    let expected = [
        "one", "level", "debug", "info", "r", "include", "end", "v", "first", "second", "walk",
        "open", "next", "run", "w",
    ];
    assert_eq!(names(text), expected);
    assert_eq!(package(text), "a:b@0.1.0");
}
