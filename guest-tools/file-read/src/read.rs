//! `read`: text as it is, in pages of lines; anything else by its size and kind.

use xzatoma_tool::{Context, Error, Output, Result};

use crate::dir::{Kind, Source};
use crate::lines::{Lines, Range};
use crate::sniff::{self, SNIFFED};
use crate::{MAX_ANSWER, Place};

/// Files up to this size are read to their end to say how many lines there are; counting those of
/// a sparse terabyte would spend the call's whole time.
const MAX_COUNTED: u64 = 256 * 1024 * 1024;

/// Bytes of the start that are kept to tell the kind of a file.
const HEAD: usize = 512;

/// How to read.
#[derive(Debug, Clone, Copy, Default)]
pub struct ReadOptions {
    /// Lines to skip.
    pub offset: Option<u64>,
    /// Lines wanted.
    pub limit: Option<u64>,
    /// Whether each line is shown with its number.
    pub line_numbers: bool,
}

/// Answers the text of a file, or what it is where it is not text or too long for one answer.
pub fn read(place: &Place, options: ReadOptions) -> Result {
    let mut source = open(place)?;
    let size = source.size();
    let whole = options.offset.is_none() && options.limit.is_none();
    let too_long = whole && size > MAX_ANSWER as u64;
    let (skip, wanted) = if too_long {
        (0, 0)
    } else {
        (options.offset.unwrap_or(0), options.limit.unwrap_or(u64::MAX))
    };

    let mut lines = Lines::new(skip, wanted, options.line_numbers, MAX_ANSWER);
    let mut head = Vec::new();
    let mut position = 0;
    let mut counted = true;
    while let Some(chunk) = source.chunk().context(|| format!("reading {place}"))? {
        if position < SNIFFED {
            let looked_at = &chunk[..chunk.len().min(SNIFFED - position)];
            head.extend_from_slice(&chunk[..chunk.len().min(HEAD.saturating_sub(head.len()))]);
            if looked_at.contains(&0) {
                return Ok(not_text(place, size, &head));
            }
        }
        position = position.saturating_add(chunk.len());
        lines.feed(&chunk);
        if lines.done() && size > MAX_COUNTED {
            counted = false;
            break;
        }
    }

    let range = lines.finish();
    let total = counted.then_some(range.total);
    if too_long {
        return Ok(over_long(place, size, total));
    }
    let (text, range) = match into_text(range) {
        Some(text) => text,
        None => return Ok(not_text(place, size, &head)),
    };
    Ok(answer(place, size, text, &range, skip, total))
}

/// Opens a regular file for reading; anything else is an error that says what to do.
pub(crate) fn open(place: &Place) -> Result<Source> {
    let stat = crate::dir::stat(&place.path).context(|| format!("reading {place}"))?;
    match stat.kind {
        Kind::File => {}
        Kind::Directory => {
            return Err(Error::invalid_input(format!(
                "{place} is a directory; use operation list, or name a file in it"
            )));
        }
        Kind::Link | Kind::Other => {
            return Err(Error::invalid_input(format!(
                "{place} is not a regular file (a pipe, socket or device); it cannot be read"
            )));
        }
    }
    Source::open(&place.path).context(|| format!("reading {place}"))
}

/// The whole text of a file of at most `max` bytes; none where it is not UTF-8.
pub fn read_text(place: &Place, max: u64) -> Result<Option<String>> {
    let bytes = read_bytes(place, max)?;
    Ok(String::from_utf8(bytes).ok())
}

pub(crate) fn read_bytes(place: &Place, max: u64) -> Result<Vec<u8>> {
    let too_large = |size: u64| {
        Error::limit_exceeded(format!(
            "{place} has {size} bytes, and this operation takes at most {max}; \
             work on a smaller file"
        ))
    };
    let mut source = open(place)?;
    if source.size() > max {
        return Err(too_large(source.size()));
    }
    let mut bytes = Vec::new();
    while let Some(chunk) = source.chunk().context(|| format!("reading {place}"))? {
        // It may have grown since it was looked at.
        if bytes.len() as u64 + chunk.len() as u64 > max {
            return Err(too_large(bytes.len() as u64 + chunk.len() as u64));
        }
        if bytes.is_empty() {
            bytes = chunk;
        } else {
            bytes.extend_from_slice(&chunk);
        }
    }
    Ok(bytes)
}

/// The collected bytes as text; a line that was cut may end inside a character, which is dropped.
fn into_text(mut range: Range) -> Option<(String, Range)> {
    let mut bytes = std::mem::take(&mut range.text);
    if range.cut_line
        && let Err(error) = std::str::from_utf8(&bytes)
        && error.error_len().is_none()
    {
        bytes.truncate(error.valid_up_to());
    }
    String::from_utf8(bytes).ok().map(|text| (text, range))
}

fn answer(
    place: &Place,
    size: u64,
    mut text: String,
    range: &Range,
    skip: u64,
    total: Option<u64>,
) -> Output {
    let end = skip.saturating_add(range.shown);
    let more = total.is_none_or(|total| end < total);
    let of = total.map_or_else(|| "of many".to_owned(), |total| format!("of {total}"));
    let note = if size == 0 && range.total == 0 {
        format!("[{place} is empty]")
    } else if range.shown == 0 {
        let has = total.map_or_else(|| "many".to_owned(), |total| total.to_string());
        format!("[no lines on this page: {place} has {has} lines, and {skip} were to be skipped]")
    } else if range.cut_line {
        format!(
            "[line {end} {of} is longer than an answer and was cut; {}search it with grep]",
            if more { format!("the next line is at offset {end}; ") } else { String::new() }
        )
    } else if skip > 0 || more {
        format!(
            "[lines {}-{end} {of}{}]",
            skip + 1,
            if more { format!("; continue with offset {end}") } else { String::new() }
        )
    } else {
        String::new()
    };
    if !note.is_empty() {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&note);
    }
    let mut output = Output::text(text).with("size", size).with("type", "text");
    if let Some(total) = total {
        output = output.with("total_lines", total);
    }
    if range.shown > 0 {
        output = output.with("first_line", skip + 1).with("last_line", end);
        if more {
            output = output.with("next_offset", end);
        }
    }
    output
}

fn not_text(place: &Place, size: u64, head: &[u8]) -> Output {
    let kind = sniff::kind(head);
    Output::text(format!(
        "[{place} is not UTF-8 text: {kind}, {size} bytes. Its bytes are not shown; \
         work on it with a program that knows its format]"
    ))
    .with("size", size)
    .with("type", kind)
}

fn over_long(place: &Place, size: u64, total: Option<u64>) -> Output {
    let lines = total.map_or_else(String::new, |total| format!(" in {total} lines"));
    let output = Output::text(format!(
        "[{place} is too long for one answer: text, {size} bytes{lines}. Read it in parts by \
         offset and limit, for example {{\"offset\": 0, \"limit\": 1000}}, or search it with grep]"
    ))
    .with("size", size)
    .with("type", "text");
    match total {
        Some(total) => output.with("total_lines", total),
        None => output,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dir::scratch::Scratch;

    fn paged(offset: u64, limit: u64) -> ReadOptions {
        ReadOptions { offset: Some(offset), limit: Some(limit), line_numbers: false }
    }

    #[test]
    fn text_comes_unchanged() {
        let scratch = Scratch::new();
        let place = scratch.file("a.txt", "one\r\ntwo\nthree");
        let output = read(&place, ReadOptions::default()).unwrap();
        assert_eq!(output.as_text(), "one\r\ntwo\nthree");
        assert_eq!(output.fact("total_lines"), Some("3"));
        assert_eq!(output.fact("next_offset"), None);
    }

    #[test]
    fn pages_say_where_they_are() {
        let scratch = Scratch::new();
        let place = scratch.file("a.txt", "1\n2\n3\n4\n5");
        let first = read(&place, paged(0, 2)).unwrap();
        assert_eq!(first.as_text(), "1\n2\n[lines 1-2 of 5; continue with offset 2]");
        let last = read(&place, paged(4, 2)).unwrap();
        assert_eq!(last.as_text(), "5\n[lines 5-5 of 5]");
        let past = read(&place, paged(9, 2)).unwrap();
        assert!(past.as_text().contains("has 5 lines"), "{}", past.as_text());
    }

    #[test]
    fn what_is_not_text_is_described() {
        let scratch = Scratch::new();
        let png = scratch.file("p", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
        let output = read(&png, ReadOptions::default()).unwrap();
        assert_eq!(output.fact("type"), Some("PNG image"));
        let latin = scratch.file("l", b"caf\xe9\n");
        let output = read(&latin, ReadOptions::default()).unwrap();
        assert_eq!(output.fact("type"), Some("binary data"));
        let empty = scratch.file("e", "");
        assert!(read(&empty, ReadOptions::default()).unwrap().as_text().contains("is empty"));
    }

    #[test]
    fn long_files_are_described_and_paged() {
        let scratch = Scratch::new();
        let text = "a line of some length\n".repeat(100_000);
        let place = scratch.file("long", &text);
        let output = read(&place, ReadOptions::default()).unwrap();
        assert_eq!(output.fact("total_lines"), Some("100000"));
        assert!(output.as_text().len() < 500, "{}", output.as_text());

        let mut joined = String::new();
        let mut offset = 0;
        loop {
            let page = read(&place, paged(offset, u64::MAX)).unwrap();
            assert!(page.as_text().len() < MAX_ANSWER + 200);
            joined.extend(page.as_text().lines().filter(|line| !line.starts_with('[')));
            match page.fact("next_offset") {
                Some(next) => offset = next.parse().unwrap(),
                None => break,
            }
        }
        assert_eq!(joined, text.replace('\n', ""));
    }

    #[test]
    fn one_endless_line_is_cut_at_a_character() {
        let scratch = Scratch::new();
        let place = scratch.file("wide", "\u{20ac}".repeat(400_000));
        let output = read(&place, paged(0, 1)).unwrap();
        assert!(output.as_text().len() < MAX_ANSWER + 200);
        assert!(output.as_text().contains("was cut"));
    }

    #[test]
    fn wrong_things_to_read() {
        let scratch = Scratch::new();
        let directory = scratch.place("");
        assert_eq!(read(&directory, ReadOptions::default()).unwrap_err().case(), "invalid-input");
        let missing = scratch.place("none");
        assert_eq!(read(&missing, ReadOptions::default()).unwrap_err().case(), "not-found");
        let place = scratch.file("big", "x".repeat(100));
        assert_eq!(read_text(&place, 99).unwrap_err().case(), "limit-exceeded");
        assert_eq!(read_text(&place, 100).unwrap().map(|text| text.len()), Some(100));
    }
}
