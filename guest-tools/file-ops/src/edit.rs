//! `edit`: replaces a text that occurs exactly once.

use xzatoma_file_read::{Place, read_text};
use xzatoma_tool::{Context, Error, Output, Result};

use crate::links::follow_to_replaceable;
use crate::write::replace;

/// Largest file edited; it is in memory twice.
const MAX_EDITED: u64 = 32 * 1024 * 1024;

/// Places named where a text occurs more than once.
const NAMED_MATCHES: usize = 10;

/// Counting stops here: a hostile file could hold a match at every byte.
const COUNTED_MATCHES: usize = 10_000;

pub fn edit(place: &Place, old: &str, new: &str) -> Result {
    if old.is_empty() {
        return Err(Error::invalid_input(
            "`old_text` is empty; give the text to replace, or use operation write or append",
        ));
    }
    if old == new {
        return Err(Error::invalid_input("`old_text` and `new_text` are the same; nothing to do"));
    }
    let target = follow_to_replaceable(place)?;
    if target.stat.is_none() {
        return Err(Error::not_found(format!(
            "{place} does not exist; use operation write to create it"
        )));
    }
    let text = read_text(place, MAX_EDITED)?.ok_or_else(|| {
        Error::failed(format!("{place} is not UTF-8 text, and edit works on text only"))
    })?;
    let at = only_match(place, &text, old)?;
    let edited = [&text[..at], new, &text[at + old.len()..]].concat();
    replace(&target.path, edited.as_bytes()).context(|| format!("writing {place}"))?;
    let line = line_at(&text, at);
    Ok(Output::text(format!(
        "edited {place} at line {line}: {} bytes became {}",
        old.len(),
        new.len()
    ))
    .with("line", line)
    .with("size", edited.len()))
}

/// Where `old` begins, if it occurs exactly once.
fn only_match(place: &Place, text: &str, old: &str) -> Result<usize> {
    let matches = find_all(text, old);
    match matches.as_slice() {
        [at] => Ok(*at),
        [] => Err(Error::failed(format!(
            "`old_text` matched 0 times in {place}; nothing was changed. {}",
            hint(text, old)
        ))),
        several => {
            let lines: Vec<String> = several
                .iter()
                .take(NAMED_MATCHES)
                .map(|&at| line_at(text, at).to_string())
                .collect();
            let more = if several.len() > NAMED_MATCHES { ", ..." } else { "" };
            let at_least = if several.len() >= COUNTED_MATCHES { "at least " } else { "" };
            Err(Error::failed(format!(
                "`old_text` matched {at_least}{} times in {place} (lines {}{more}); nothing was \
                 changed. Give more of the text around the place that is meant",
                several.len(),
                lines.join(", ")
            )))
        }
    }
}

/// All matches, overlapping ones too: replacing one of those would be a guess.
fn find_all(text: &str, old: &str) -> Vec<usize> {
    let step = old.chars().next().map_or(1, char::len_utf8);
    let mut matches = Vec::new();
    let mut start = 0;
    while let Some(at) = text.get(start..).and_then(|rest| rest.find(old)) {
        matches.push(start + at);
        start += at + step;
        if matches.len() >= COUNTED_MATCHES {
            break;
        }
    }
    matches
}

/// Why it may not have matched.
fn hint(text: &str, old: &str) -> &'static str {
    if text.contains("\r\n") && !old.contains('\r') && old.contains('\n') {
        "Lines of this file end in \\r\\n; write them so in `old_text` and `new_text`"
    } else if !old.trim().is_empty() && text.contains(old.trim()) {
        "It does match without the blanks at its beginning and end; copy them exactly"
    } else {
        "Read the file and copy the text exactly, with its indentation and without line numbers"
    }
}

fn line_at(text: &str, at: usize) -> usize {
    text.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use xzatoma_file_read::dir::scratch::Scratch;

    /// Edits a file with this content; the answer and the content after.
    fn edited(content: &str, old: &str, new: &str) -> (Result, String) {
        let scratch = Scratch::new();
        let place = scratch.file("f", content);
        let result = edit(&place, old, new);
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
        (result, fs::read_to_string(&place.path).unwrap())
    }

    #[test]
    fn one_match() {
        let (result, after) = edited("a\r\nb\r\nc", "b", "B\u{e9}");
        assert_eq!(after, "a\r\nB\u{e9}\r\nc");
        assert_eq!(result.unwrap().fact("line"), Some("2"));
        assert_eq!(edited("abc", "b", "").1, "ac");
    }

    #[test]
    fn other_counts_change_nothing() {
        for (content, old, says) in [
            ("x\nx\n", "x", "matched 2 times in f (lines 1, 2)"),
            ("aaa", "aa", "matched 2 times"),
            ("\u{e9}\u{e9}\u{e9}", "\u{e9}\u{e9}", "matched 2 times"),
            ("abc", "d", "matched 0 times"),
            ("a\r\nb", "a\nb", "\\r\\n"),
            ("abc", " b ", "without the blanks"),
        ] {
            let (result, after) = edited(content, old, "new");
            let error = result.unwrap_err();
            assert_eq!(error.case(), "failed");
            assert!(error.message().contains(says), "{error}");
            assert_eq!(after, content);
        }
        let many = "a".repeat(COUNTED_MATCHES * 2);
        let error = edited(&many, "a", "b").0.unwrap_err();
        assert!(error.message().contains("at least 10000 times"), "{error}");
    }

    #[test]
    fn wrong_arguments() {
        assert_eq!(edited("a", "", "b").0.unwrap_err().case(), "invalid-input");
        assert_eq!(edited("a", "a", "a").0.unwrap_err().case(), "invalid-input");
        let scratch = Scratch::new();
        assert_eq!(edit(&scratch.place("none"), "a", "b").unwrap_err().case(), "not-found");
        let binary = scratch.file("b", b"\xff\xfe");
        assert_eq!(edit(&binary, "a", "b").unwrap_err().case(), "failed");
    }
}
