//! A range of lines out of a stream of bytes, in bounded memory.
//!
//! Lines end at `\n`; a `\r` before it is part of the line and is kept. Bytes arrive in chunks of
//! any size. Those before and after the range are only counted, which is what reading a large
//! file spends its time on, so that is done sixteen bytes at a time where the machine can.

/// Collects `wanted` lines after the first `skip` ones.
pub struct Lines {
    skip: u64,
    wanted: u64,
    numbered: bool,
    room: usize,
    text: Vec<u8>,
    /// Where in `text` the line begins that is being collected.
    line_start: usize,
    in_line: bool,
    shown: u64,
    full: bool,
    cut_line: bool,
    newlines: u64,
    last: Option<u8>,
}

/// What was collected.
#[derive(Debug, PartialEq, Eq)]
pub struct Range {
    pub text: Vec<u8>,
    /// Lines in `text`, a cut one included.
    pub shown: u64,
    /// The first line is longer than there was room, and was cut.
    pub cut_line: bool,
    /// There was no room for all the wanted lines.
    pub full: bool,
    /// Lines seen.
    pub total: u64,
}

impl Lines {
    /// At most `room` bytes are collected, numbers included.
    pub fn new(skip: u64, wanted: u64, numbered: bool, room: usize) -> Self {
        Lines {
            skip,
            wanted,
            numbered,
            room,
            text: Vec::new(),
            line_start: 0,
            in_line: false,
            shown: 0,
            full: false,
            cut_line: false,
            newlines: 0,
            last: None,
        }
    }

    /// Whether all that is wanted is there; more bytes are only counted.
    pub fn done(&self) -> bool {
        self.full || self.newlines >= self.skip.saturating_add(self.wanted)
    }

    pub fn feed(&mut self, chunk: &[u8]) {
        self.last = chunk.last().copied().or(self.last);
        let mut rest = chunk;
        while !rest.is_empty() {
            if self.done() {
                self.newlines += count_newlines(rest);
                return;
            }
            if self.newlines < self.skip {
                match after_newlines(rest, self.skip - self.newlines) {
                    Ok(start) => {
                        self.newlines = self.skip;
                        rest = &rest[start..];
                    }
                    Err(found) => {
                        self.newlines += found;
                        return;
                    }
                }
                continue;
            }
            let end = rest.iter().position(|&byte| byte == b'\n');
            let (part, next) = rest.split_at(end.map_or(rest.len(), |end| end + 1));
            self.take(part);
            if end.is_some() {
                self.newlines += 1;
                if self.in_line {
                    self.in_line = false;
                    self.shown += 1;
                }
            }
            rest = next;
        }
    }

    fn take(&mut self, part: &[u8]) {
        let mut number = String::new();
        if !self.in_line {
            self.line_start = self.text.len();
            self.in_line = true;
            if self.numbered {
                number = format!("{:>6}\t", self.newlines + 1);
            }
        }
        if self.text.len() + number.len() + part.len() <= self.room {
            self.text.extend_from_slice(number.as_bytes());
            self.text.extend_from_slice(part);
            return;
        }
        self.full = true;
        self.in_line = false;
        if self.line_start > 0 {
            // Whole lines only; this one opens the next page.
            self.text.truncate(self.line_start);
        } else {
            self.text.extend_from_slice(number.as_bytes());
            let left = self.room.saturating_sub(self.text.len()).min(part.len());
            self.text.extend_from_slice(&part[..left]);
            self.cut_line = true;
            self.shown = 1;
        }
    }

    pub fn finish(mut self) -> Range {
        if self.in_line {
            self.shown += 1;
        }
        let unfinished = self.last.is_some_and(|byte| byte != b'\n');
        Range {
            text: self.text,
            shown: self.shown,
            cut_line: self.cut_line,
            full: self.full,
            total: self.newlines + u64::from(unfinished),
        }
    }
}

/// Where the bytes after `wanted` newlines start, or how many newlines there are, if fewer.
fn after_newlines(bytes: &[u8], wanted: u64) -> Result<usize, u64> {
    let total = count_newlines(bytes);
    if total < wanted {
        return Err(total);
    }
    let mut left = wanted;
    for (at, &byte) in bytes.iter().enumerate() {
        if byte == b'\n' {
            left -= 1;
            if left == 0 {
                return Ok(at + 1);
            }
        }
    }
    Err(total)
}

/// Bytes summed in one eight-bit counter: a multiple of the vector's width that cannot overflow.
const COUNTED_TOGETHER: usize = 240;

/// Written so that the compiler turns it into vector code.
#[cfg_attr(target_arch = "wasm32", target_feature(enable = "simd128"))]
pub fn count_newlines(bytes: &[u8]) -> u64 {
    let (blocks, rest) = bytes.as_chunks::<COUNTED_TOGETHER>();
    let mut total = 0;
    for block in blocks {
        total += u64::from(block.iter().map(|&byte| u8::from(byte == b'\n')).sum::<u8>());
    }
    total + rest.iter().map(|&byte| u64::from(byte == b'\n')).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str, skip: u64, wanted: u64, chunk: usize) -> (String, u64, u64) {
        let mut lines = Lines::new(skip, wanted, false, 1000);
        text.as_bytes().chunks(chunk).for_each(|chunk| lines.feed(chunk));
        let range = lines.finish();
        (String::from_utf8(range.text).unwrap(), range.shown, range.total)
    }

    #[test]
    fn any_chunking_gives_the_same_lines() {
        let text = "one\r\ntwo\n\nfour\nfive";
        for chunk in 1..=text.len() {
            assert_eq!(range(text, 0, 9, chunk), (text.into(), 5, 5));
            assert_eq!(range(text, 1, 2, chunk), ("two\n\n".into(), 2, 5));
            assert_eq!(range(text, 0, 1, chunk), ("one\r\n".into(), 1, 5));
            assert_eq!(range(text, 4, 9, chunk), ("five".into(), 1, 5));
            assert_eq!(range(text, 5, 9, chunk), (String::new(), 0, 5));
            assert_eq!(range(text, u64::MAX, u64::MAX, chunk), (String::new(), 0, 5));
            assert_eq!(range(text, 0, 0, chunk), (String::new(), 0, 5));
        }
        assert_eq!(range("", 0, 9, 1), (String::new(), 0, 0));
        assert_eq!(range("\n", 0, 9, 1), ("\n".into(), 1, 1));
        assert_eq!(range("a\n", 1, 9, 1), (String::new(), 0, 1));
    }

    #[test]
    fn numbers_count_from_one_in_the_file() {
        let mut lines = Lines::new(1, 2, true, 1000);
        lines.feed(b"a\nb");
        lines.feed(b"b\nc\nd\n");
        assert_eq!(lines.finish().text, b"     2\tbb\n     3\tc\n");
    }

    #[test]
    fn what_does_not_fit_is_left_for_the_next_page() {
        for chunk in 1..12 {
            let mut lines = Lines::new(0, 9, false, 6);
            b"aaa\nbbbb\nc\n".chunks(chunk).for_each(|chunk| lines.feed(chunk));
            let range = lines.finish();
            assert_eq!((range.text.as_slice(), range.shown), (&b"aaa\n"[..], 1));
            assert!(range.full && !range.cut_line);
            assert_eq!(range.total, 3);
        }
    }

    #[test]
    fn a_line_longer_than_the_room_is_cut() {
        for chunk in 1..12 {
            let mut lines = Lines::new(1, 9, false, 4);
            b"a\nbbbbbbb\nc\n".chunks(chunk).for_each(|chunk| lines.feed(chunk));
            let range = lines.finish();
            assert_eq!((range.text.as_slice(), range.shown), (&b"bbbb"[..], 1));
            assert!(range.full && range.cut_line);
            assert_eq!(range.total, 3);
        }
    }

    #[test]
    fn newlines_are_counted_exactly() {
        for length in [0, 1, 239, 240, 241, 480, 1000] {
            assert_eq!(count_newlines(&vec![b'\n'; length]), length as u64);
            assert_eq!(count_newlines(&vec![b'x'; length]), 0);
        }
    }
}
