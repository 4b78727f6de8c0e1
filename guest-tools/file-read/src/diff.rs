//! `diff`: two texts as a unified diff.

use std::time::Duration;

use similar::TextDiff;
use xzatoma_tool::{Output, Result};

use crate::read::read_bytes;
use crate::{MAX_ANSWER, Place};

/// Largest text compared; both are in memory, with a table of their lines.
const MAX_COMPARED: u64 = 8 * 1024 * 1024;

/// Time after which the difference need no longer be the shortest one: comparing two texts with
/// nothing in common is quadratic.
const MAX_TIME: Duration = Duration::from_secs(2);

/// What a file is compared with.
pub enum Against<'a> {
    File(&'a Place),
    /// A text, such as what the file is to become.
    Text(&'a str),
}

/// Shows what has to change in `place` to become the other.
pub fn diff(place: &Place, against: Against<'_>) -> Result {
    let old = read_bytes(place, MAX_COMPARED)?;
    let (new, new_name) = match against {
        Against::File(other) => (read_bytes(other, MAX_COMPARED)?, other.given.clone()),
        Against::Text(text) => (text.as_bytes().to_vec(), format!("{place} (content)")),
    };
    if old == new {
        return Ok(Output::text(format!("[no differences between {place} and {new_name}]"))
            .with("differ", false));
    }
    match (String::from_utf8(old), String::from_utf8(new)) {
        (Ok(old), Ok(new)) => Ok(compare(&place.given, &old, &new_name, &new)),
        (old, new) => {
            let size = |text: std::result::Result<String, std::string::FromUtf8Error>| match text {
                Ok(text) => text.len(),
                Err(error) => error.as_bytes().len(),
            };
            Ok(Output::text(format!(
                "[{place} ({} bytes) and {new_name} ({} bytes) differ, and at least one is not \
                 UTF-8 text: no lines to show]",
                size(old),
                size(new)
            ))
            .with("differ", true))
        }
    }
}

fn compare(old_name: &str, old: &str, new_name: &str, new: &str) -> Output {
    let diff = TextDiff::configure().timeout(MAX_TIME).diff_lines(old, new);
    let (mut added, mut removed) = (0u64, 0u64);
    for operation in diff.ops() {
        if operation.tag() != similar::DiffTag::Equal {
            removed += operation.old_range().len() as u64;
            added += operation.new_range().len() as u64;
        }
    }
    let mut text = format!("--- {old_name}\n+++ {new_name}\n");
    let mut left_out = 0u64;
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        let hunk = hunk.to_string();
        if left_out > 0 || text.len() + hunk.len() > MAX_ANSWER {
            left_out += 1;
        } else {
            text.push_str(&hunk);
        }
    }
    if left_out > 0 {
        text.push_str(&format!(
            "[{left_out} more places differ and do not fit; read the files in parts instead]"
        ));
    }
    Output::text(text)
        .with("differ", true)
        .with("lines_added", added)
        .with("lines_removed", removed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dir::scratch::Scratch;

    #[test]
    fn unified() {
        let scratch = Scratch::new();
        let old = scratch.file("old", "a\nb\nc\n");
        let new = scratch.file("new", "a\nB\nc\n");
        let output = diff(&old, Against::File(&new)).unwrap();
        assert_eq!(output.as_text(), "--- old\n+++ new\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n");
        assert_eq!(output.fact("lines_added"), Some("1"));
        let same = diff(&old, Against::Text("a\nb\nc\n")).unwrap();
        assert!(same.as_text().contains("no differences"));
        assert_eq!(same.fact("differ"), Some("false"));
        let unfinished = diff(&old, Against::Text("a\nb\nc")).unwrap();
        assert!(unfinished.as_text().contains("No newline"), "{}", unfinished.as_text());
    }

    #[test]
    fn binaries_and_large_ones() {
        let scratch = Scratch::new();
        let text = scratch.file("text", "a\n");
        let binary = scratch.file("binary", b"\xff\xfe\0");
        let output = diff(&text, Against::File(&binary)).unwrap();
        assert!(output.as_text().contains("3 bytes"), "{}", output.as_text());
        let large = scratch.file("large", "x".repeat(MAX_COMPARED as usize + 1));
        assert_eq!(diff(&large, Against::Text("")).unwrap_err().case(), "limit-exceeded");
    }

    #[test]
    fn nothing_in_common_stays_bounded() {
        let scratch = Scratch::new();
        let lines = |salt: u64| (0..60_000u64).map(|n| format!("{}\n", n * 2 + salt)).collect();
        let old: String = lines(0);
        let new: String = lines(1);
        let old = scratch.file("old", old);
        let started = std::time::Instant::now();
        let output = diff(&old, Against::Text(&new)).unwrap();
        assert!(started.elapsed() < MAX_TIME * 5, "{:?}", started.elapsed());
        assert!(output.as_text().len() < MAX_ANSWER + 200);
    }
}
