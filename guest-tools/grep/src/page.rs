//! One page of results: what was asked for, what came together, and how it is told.

use std::fmt::Write;

use grep_matcher::Matcher;
use xzatoma_tool::{Output as Answer, Result};

use crate::arguments::{Output, Request};
use crate::pattern::Pattern;
use crate::render::{Renderer, plain};
use crate::search::{FileSearch, Want, is_binary, text};

/// Bytes of text in one answer: more than a model reads at once, and far below what the host lets
/// through.
const MAX_TEXT_BYTES: usize = 256 * 1024;

/// What was looked at so far, found or not.
#[derive(Debug, Default, Clone, Copy)]
pub struct Coverage {
    pub files: u64,
    pub bytes: u64,
    pub too_large: u64,
    pub unreadable: u64,
    /// Binary files among those that could match.
    pub binary: u64,
}

/// Gathers a page, file by file in the order of their paths.
pub struct Page<'r> {
    request: &'r Request,
    pattern: &'r Pattern,
    search: FileSearch<'r>,
    text: String,
    /// Results passed so far, shown or not: lines, or files where those are listed.
    passed: u64,
    shown: u64,
    matching_lines: u64,
    matching_files: u64,
    binary: u64,
    more: bool,
}

impl<'r> Page<'r> {
    pub fn new(request: &'r Request, pattern: &'r Pattern) -> Self {
        let line_numbers = request.output == Output::Lines;
        Page {
            request,
            pattern,
            search: FileSearch::new(pattern, line_numbers),
            text: String::new(),
            passed: 0,
            shown: 0,
            matching_lines: 0,
            matching_files: 0,
            binary: 0,
            more: false,
        }
    }

    /// Whether further files cannot change the answer. Counts need them all.
    pub fn is_full(&self) -> bool {
        self.more && self.request.output != Output::Count
    }

    /// Searches one file; only those that could match have to be given.
    pub fn add(&mut self, path: &str, bytes: &[u8]) -> Result<()> {
        let text = text(bytes);
        if is_binary(&text) {
            self.binary += 1;
            return Ok(());
        }
        match self.request.output {
            Output::Lines => self.add_lines(path, &text),
            Output::Files => {
                let found = self.search.search(&text, Want::Any)?;
                self.add_file(path, found.count, |_| String::new());
                Ok(())
            }
            Output::Count => {
                let found = self.search.search(&text, Want::Count)?;
                self.add_file(path, found.count, |count| format!(":{count}"));
                Ok(())
            }
        }
    }

    fn add_file(&mut self, path: &str, count: u64, suffix: impl Fn(u64) -> String) {
        if count == 0 {
            return;
        }
        self.matching_files += 1;
        self.matching_lines += count;
        let line = format!("{}{}\n", plain(path), suffix(count));
        let fits =
            self.shown < self.request.max_results && self.text.len() + line.len() <= MAX_TEXT_BYTES;
        if self.passed < self.request.offset {
            self.passed += 1;
        } else if fits && !self.more {
            self.passed += 1;
            self.shown += 1;
            self.text.push_str(&line);
        } else {
            self.more = true;
        }
    }

    fn add_lines(&mut self, path: &str, text: &[u8]) -> Result<()> {
        let skip = self.request.offset.saturating_sub(self.passed);
        let take = self.request.max_results - self.shown;
        let found = self.search.search(text, Want::Lines { skip, take })?;
        self.passed += found.count.min(skip);
        self.more |= found.more;
        let mut renderer = Renderer::new(path, text, self.request.context);
        for (index, hit) in found.hits.iter().enumerate() {
            let line = &text[hit.range.clone()];
            let matched = match self.pattern.find(line) {
                Ok(Some(matched)) => matched.start(),
                // The match may need the line break to be seen; then the line is shown from its start.
                Ok(None) | Err(_) => 0,
            };
            let block = renderer.hit(hit, found.hits.get(index + 1), matched);
            if self.text.len() + block.len() > MAX_TEXT_BYTES {
                self.more = true;
                break;
            }
            // Blocks of different files are apart like those of one file.
            if index == 0 && self.request.context > 0 && !self.text.is_empty() {
                self.text.push_str("--\n");
            }
            self.text.push_str(&block);
            self.passed += 1;
            self.shown += 1;
            self.matching_lines += 1;
            if index == 0 {
                self.matching_files += 1;
            }
        }
        Ok(())
    }

    /// The answer. Nothing found is an answer too, and says where was looked.
    pub fn finish(mut self, coverage: Coverage) -> Answer {
        let coverage = Coverage { binary: self.binary, ..coverage };
        let summary = self.summary(&coverage);
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(&summary);
        let answer = Answer::text(self.text)
            .with("results", self.shown)
            .with("matching_lines", self.matching_lines)
            .with("matching_files", self.matching_files)
            .with("files_searched", coverage.files)
            .with("bytes_searched", coverage.bytes)
            .with("skipped_too_large", coverage.too_large)
            .with("skipped_binary", coverage.binary)
            .with("skipped_unreadable", coverage.unreadable)
            .with("truncated", self.more);
        if self.more { answer.with("next_offset", self.passed) } else { answer }
    }

    fn summary(&self, coverage: &Coverage) -> String {
        let mut summary = match (self.shown, self.passed) {
            (0, 0) => {
                format!("No match for {:?} in {}.", self.request.pattern, self.request.shown_path())
            }
            (0, passed) => {
                format!("Nothing at offset {}: there are {passed} results.", self.request.offset)
            }
            _ => self.results(),
        };
        if self.more {
            // Writing to a string cannot fail.
            let _ = match self.request.output {
                Output::Count => {
                    write!(
                        summary,
                        " {} more files: offset={}.",
                        self.matching_files - self.passed,
                        self.passed
                    )
                }
                _ => write!(summary, " More: repeat the call with offset={}.", self.passed),
            };
        }
        summary.push_str(&coverage.describe(self.request.max_file_size));
        if self.shown == 0 && self.passed == 0 {
            summary.push_str(" Hidden files and those that .gitignore names are not searched; name one as `path` to search it.");
        }
        summary
    }

    fn results(&self) -> String {
        let files = counted(self.matching_files, "file");
        match self.request.output {
            Output::Lines => {
                let lines = counted(self.shown, "matching line");
                let from = match self.request.offset {
                    0 => String::new(),
                    offset => format!(", from offset {offset}"),
                };
                format!("{lines} in {files}{from}.")
            }
            Output::Files => format!("{} with a match.", counted(self.shown, "file")),
            Output::Count => {
                format!("{} in {files}.", counted(self.matching_lines, "matching line"))
            }
        }
    }
}

impl Coverage {
    fn describe(&self, max_file_size: u64) -> String {
        let mut text = format!(" Searched {} ({} bytes).", counted(self.files, "file"), self.bytes);
        let mut skipped = |count: u64, why: String| {
            if count > 0 {
                let _ = write!(text, " Skipped {} {why}.", counted(count, "file"));
            }
        };
        skipped(self.too_large, format!("over {max_file_size} bytes (max_file_size)"));
        skipped(self.binary, "with binary content".to_owned());
        skipped(self.unreadable, "that could not be read".to_owned());
        text
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
