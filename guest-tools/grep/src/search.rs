//! Searches one file that is in memory.

use std::borrow::Cow;
use std::io;
use std::ops::Range;

use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder, Sink, SinkMatch};
use xzatoma_tool::Result;

use crate::pattern::Pattern;

/// One matching line: its number, from 1, and where it is, without its line break.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    pub line: u64,
    pub range: Range<usize>,
}

/// What a file's search is for; lines are only gathered where they are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// Whether there is a match at all.
    Any,
    /// How many lines match.
    Count,
    /// Lines after the first `skip`, `take` at most and one more to know that there is one.
    Lines { skip: u64, take: u64 },
}

/// What was found in a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Matching lines seen, shown or not.
    pub count: u64,
    pub hits: Vec<Hit>,
    /// Whether there are matches after the last one in `hits`.
    pub more: bool,
}

/// A file's text as it is searched: UTF-16 becomes UTF-8, and a byte order mark is no text.
pub fn text(bytes: &[u8]) -> Cow<'_, [u8]> {
    match encoding_rs::Encoding::for_bom(bytes) {
        Some((encoding, mark)) if encoding == encoding_rs::UTF_8 => Cow::Borrowed(&bytes[mark..]),
        Some((encoding, mark)) => {
            let (text, _) = encoding.decode_without_bom_handling(&bytes[mark..]);
            Cow::Owned(text.into_owned().into_bytes())
        }
        None => Cow::Borrowed(bytes),
    }
}

/// Whether a file begins with a mark of UTF-16, so that its bytes are not its text.
pub fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(b"\xFF\xFE") || bytes.starts_with(b"\xFE\xFF")
}

/// A file with a NUL anywhere is taken for binary. Looking at its whole rather than its beginning
/// makes the answer the same on every page of results.
pub fn is_binary(text: &[u8]) -> bool {
    memchr::memchr(0, text).is_some()
}

/// Searches files for one pattern.
pub struct FileSearch<'p> {
    pattern: &'p Pattern,
    searcher: Searcher,
}

impl<'p> FileSearch<'p> {
    pub fn new(pattern: &'p Pattern, line_numbers: bool) -> Self {
        let searcher = SearcherBuilder::new()
            .line_terminator(pattern.line_ending())
            .line_number(line_numbers)
            // Both are done before, on the whole file.
            .binary_detection(BinaryDetection::none())
            .bom_sniffing(false)
            .build();
        FileSearch { pattern, searcher }
    }

    pub fn search(&mut self, text: &[u8], want: Want) -> Result<Found> {
        let mut gather = Gather { want, found: Found::default() };
        self.searcher.search_slice(self.pattern, text, &mut gather)?;
        Ok(gather.found)
    }
}

struct Gather {
    want: Want,
    found: Found,
}

impl Sink for Gather {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, matched: &SinkMatch<'_>) -> io::Result<bool> {
        match self.want {
            Want::Any => {
                self.found.count = 1;
                return Ok(false);
            }
            Want::Count => {}
            Want::Lines { skip, take } => {
                if self.found.count >= skip.saturating_add(take) {
                    self.found.more = true;
                    return Ok(false);
                }
                if self.found.count >= skip {
                    let bytes = without_line_break(matched.bytes());
                    let start = matched.bytes_range_in_buffer().start;
                    let range = start..start + bytes.len();
                    let line = matched.line_number().unwrap_or_default();
                    self.found.hits.push(Hit { line, range });
                }
            }
        }
        self.found.count += 1;
        Ok(true)
    }
}

/// A line without `\n` or `\r\n`.
pub fn without_line_break(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pattern: &str, case_sensitive: bool, text: &[u8]) -> Vec<u64> {
        let pattern = Pattern::new(pattern, case_sensitive).unwrap();
        let want = Want::Lines { skip: 0, take: u64::MAX };
        let found = FileSearch::new(&pattern, true).search(text, want).unwrap();
        found.hits.iter().map(|hit| hit.line).collect()
    }

    #[test]
    fn lines_have_numbers_and_ranges() {
        let pattern = Pattern::new("b", true).unwrap();
        let text = b"a\nxb\r\n\nb";
        let want = Want::Lines { skip: 0, take: 10 };
        let found = FileSearch::new(&pattern, true).search(text, want).unwrap();
        assert_eq!(found.hits, [Hit { line: 2, range: 2..4 }, Hit { line: 4, range: 7..8 }]);
        assert_eq!((found.count, found.more), (2, false));
    }

    #[test]
    fn pages_skip_and_take() {
        let pattern = Pattern::new("x", true).unwrap();
        let text = b"x\nx\nx\nx\n";
        let mut search = FileSearch::new(&pattern, true);
        let mut page = |skip, take| {
            let found = search.search(text, Want::Lines { skip, take }).unwrap();
            (found.hits.iter().map(|hit| hit.line).collect::<Vec<_>>(), found.more)
        };
        assert_eq!(page(0, 2), (vec![1, 2], true));
        assert_eq!(page(2, 2), (vec![3, 4], false));
        assert_eq!(page(3, 2), (vec![4], false));
        assert_eq!(page(9, 2), (vec![], false));
        assert_eq!(page(0, 0), (vec![], true));
    }

    #[test]
    fn any_and_count() {
        let pattern = Pattern::new("x", true).unwrap();
        let mut search = FileSearch::new(&pattern, false);
        assert_eq!(search.search(b"x x\nx\n", Want::Any).unwrap().count, 1);
        assert_eq!(search.search(b"x x\nx\n", Want::Count).unwrap().count, 2);
        assert_eq!(search.search(b"y", Want::Any).unwrap().count, 0);
    }

    #[test]
    fn anchors_know_both_line_endings() {
        assert_eq!(lines("b$", true, b"ab\r\nab\nba\r\nb"), [1, 2, 4]);
        assert_eq!(lines("^$", true, b"a\r\n\r\n\nb\n"), [2, 3]);
        assert_eq!(lines(r"b\r$", true, b"ab\r\nab\n"), [1]);
        assert_eq!(lines(r"\Aab\z", true, b"ab\nabc\nab"), [1, 3]);
    }

    #[test]
    fn case_follows_unicode() {
        let text = "KEY\nkey\n\u{212A}ey\nſo\nSO\nÉ\né\n".as_bytes();
        assert_eq!(lines("key", false, text), [1, 2, 3]);
        assert_eq!(lines("so", false, text), [4, 5]);
        assert_eq!(lines("é", false, text), [6, 7]);
        assert_eq!(lines("key", true, text), [2]);
    }

    #[test]
    fn marks_of_encodings_are_understood() {
        let wide: Vec<u8> = "\u{FEFF}häß\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(is_utf16(&wide));
        assert_eq!(&*text(&wide), "häß\n".as_bytes());
        assert_eq!(&*text(b"\xEF\xBB\xBFx"), b"x");
        assert_eq!(&*text(b"x"), b"x");
        assert!(is_binary(b"a\0b") && !is_binary(b"ab"));
    }
}
