//! Turns hits into lines of text: `path:line:text`, neighbours with `-` instead of `:`.

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

use crate::search::{Hit, without_line_break};

/// Characters shown of one line; minified files have lines of megabytes.
pub const MAX_LINE_CHARS: usize = 500;

/// Characters kept before a match that is far into such a line.
const CHARS_BEFORE_MATCH: usize = 100;

/// Most bytes that one character takes, in UTF-8.
const MAX_CHAR_BYTES: usize = 4;

/// Shows hits of one file, one after the other, each with its neighbours.
pub struct Renderer<'t> {
    path: String,
    text: &'t [u8],
    context: usize,
    /// Up to where the text has been shown.
    shown_to: usize,
    shown_any: bool,
}

impl<'t> Renderer<'t> {
    pub fn new(path: &str, text: &'t [u8], context: usize) -> Self {
        Renderer { path: plain(path).into_owned(), text, context, shown_to: 0, shown_any: false }
    }

    /// The lines of one hit. `next` is the hit after it, whose line is not shown as a neighbour;
    /// `matched` is where in the line the match begins.
    pub fn hit(&mut self, hit: &Hit, next: Option<&Hit>, matched: usize) -> String {
        let mut block = String::new();
        let before = self.lines_before(hit.range.start);
        if let Some(first) = before.first().or(Some(&hit.range))
            && self.context > 0
            && self.shown_any
            && first.start > self.shown_to
        {
            block.push_str("--\n");
        }
        for (distance, line) in (1..=before.len() as u64).rev().zip(&before) {
            self.push(&mut block, '-', hit.line.saturating_sub(distance), line.clone(), 0);
        }
        self.push(&mut block, ':', hit.line, hit.range.clone(), matched);
        let mut at = self.after_line(hit.range.end);
        for distance in 1..=self.context as u64 {
            if at >= self.text.len() || next.is_some_and(|next| at >= next.range.start) {
                break;
            }
            let end = self.after_line(at);
            let line = without_line_break(&self.text[at..end]);
            self.push(&mut block, '-', hit.line + distance, at..at + line.len(), 0);
            at = end;
        }
        self.shown_to = at;
        self.shown_any = true;
        block
    }

    /// The lines before a position that were not shown yet, the first one first.
    fn lines_before(&self, position: usize) -> Vec<Range<usize>> {
        let mut lines = Vec::new();
        let mut start = position;
        while lines.len() < self.context && start > self.shown_to {
            let end = start - 1;
            start = memchr::memrchr(b'\n', &self.text[..end]).map_or(0, |at| at + 1);
            let line = without_line_break(&self.text[start..end]);
            lines.push(start..start + line.len());
        }
        lines.reverse();
        lines
    }

    /// Where the line after the one that holds `position` begins.
    fn after_line(&self, position: usize) -> usize {
        let rest = &self.text[position..];
        position + memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1)
    }

    fn push(&self, block: &mut String, mark: char, line: u64, range: Range<usize>, matched: usize) {
        let path = &self.path;
        let shown = shorten(&self.text[range], matched);
        // Writing to a string cannot fail.
        let _ = writeln!(block, "{path}{mark}{line}{mark}{shown}");
    }
}

/// A line as text, cut where it is too long, so that the match at `matched` is seen.
pub fn shorten(line: &[u8], matched: usize) -> String {
    if line.len() <= MAX_LINE_CHARS {
        return String::from_utf8_lossy(line).into_owned();
    }
    let start = match matched.checked_sub(CHARS_BEFORE_MATCH) {
        Some(start) if matched >= MAX_LINE_CHARS / 2 => character_start(line, start),
        _ => 0,
    };
    let rest = &line[start..];
    let text = String::from_utf8_lossy(&rest[..rest.len().min(MAX_LINE_CHARS * MAX_CHAR_BYTES)]);
    let mut kept: String = text.chars().take(MAX_LINE_CHARS).collect();
    let cut_short = kept.len() < text.len() || rest.len() > MAX_LINE_CHARS * MAX_CHAR_BYTES;
    if cut_short || start > 0 {
        let _ = write!(kept, " [cut: line of {} bytes, shown from byte {start}]", line.len());
    }
    kept
}

/// The next beginning of a character at or after `from`.
fn character_start(line: &[u8], from: usize) -> usize {
    let continues = |&&byte: &&u8| byte & 0xC0 == 0x80;
    from + line[from..].iter().take(MAX_CHAR_BYTES - 1).take_while(continues).count()
}

/// A path on one line, whatever characters are in it.
pub fn plain(path: &str) -> Cow<'_, str> {
    if path.contains(char::is_control) {
        let escape = |character: char| match character.is_control() {
            true => character.escape_default().to_string(),
            false => character.to_string(),
        };
        Cow::Owned(path.chars().map(escape).collect())
    } else {
        Cow::Borrowed(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Pattern;
    use crate::search::{FileSearch, Want};

    fn show(text: &str, pattern: &str, context: usize) -> String {
        let pattern = Pattern::new(pattern, true).unwrap();
        let want = Want::Lines { skip: 0, take: 100 };
        let found = FileSearch::new(&pattern, true).search(text.as_bytes(), want).unwrap();
        let mut renderer = Renderer::new("f", text.as_bytes(), context);
        let next = found.hits.iter().skip(1).map(Some).chain([None]);
        found.hits.iter().zip(next).map(|(hit, next)| renderer.hit(hit, next, 0)).collect()
    }

    #[test]
    fn lines_alone() {
        assert_eq!(show("a\nb\nxa\n", "a", 0), "f:1:a\nf:3:xa\n");
        assert_eq!(show("b\r\na\r\nb", "a", 0), "f:2:a\n");
    }

    #[test]
    fn neighbours_are_shown_once() {
        let text = "1\n2\nx3\n4\nx5\n6\n7\n8\n9\nx10\n11";
        assert_eq!(
            show(text, "x", 1),
            "f-2-2\nf:3:x3\nf-4-4\nf:5:x5\nf-6-6\n--\nf-9-9\nf:10:x10\nf-11-11\n"
        );
        assert_eq!(
            show(text, "x", 2),
            "f-1-1\nf-2-2\nf:3:x3\nf-4-4\nf:5:x5\nf-6-6\nf-7-7\nf-8-8\nf-9-9\nf:10:x10\nf-11-11\n"
        );
        assert_eq!(show("x\nx\n", "x", 3), "f:1:x\nf:2:x\n");
        assert_eq!(show("\n\nx\n\n", "x", 9), "f-1-\nf-2-\nf:3:x\nf-4-\n");
    }

    #[test]
    fn a_gap_without_context_is_not_marked() {
        assert_eq!(show("x\n\n\nx\n", "x", 0), "f:1:x\nf:4:x\n");
    }

    #[test]
    fn long_lines_are_cut_around_the_match() {
        let line = format!("{}needle{}", "a".repeat(5000), "b".repeat(5000));
        let shown = shorten(line.as_bytes(), 5000);
        assert!(shown.starts_with(&"a".repeat(100)) && shown.contains("needle"), "{shown}");
        assert!(shown.contains("[cut: line of 10006 bytes, shown from byte 4900]"), "{shown}");
        assert!(shown.chars().count() < MAX_LINE_CHARS + 80);
        let early = shorten(line.as_bytes(), 10);
        assert!(early.ends_with("shown from byte 0]"), "{early}");
        let wide = "é".repeat(400);
        assert_eq!(shorten(wide.as_bytes(), 0), wide);
        let at_the_end = "é".repeat(3000) + "x";
        let shown = shorten(at_the_end.as_bytes(), 6000);
        assert!(!shown.contains('\u{FFFD}') && shown.contains('x'), "{shown}");
    }

    #[test]
    fn broken_text_and_odd_names_stay_on_their_line() {
        assert_eq!(shorten(b"a\xFFb", 0), "a\u{FFFD}b");
        assert_eq!(plain("a\nb:1:\u{1b}x"), "a\\nb:1:\\u{1b}x");
        assert_eq!(plain("ä b"), "ä b");
    }
}
