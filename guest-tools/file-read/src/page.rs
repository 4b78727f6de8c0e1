//! Pages of lists: which entries are wanted, and the note that says how to get the next ones.

use std::fmt::Write;

use xzatoma_tool::Output;

use crate::MAX_ANSWER;

/// Entries of a list in one answer where the call names no limit.
pub const DEFAULT_ENTRIES: u64 = 1000;

/// The part of a list that the call asked for.
#[derive(Debug, Clone, Copy, Default)]
pub struct Page {
    /// Entries to skip.
    pub offset: Option<u64>,
    /// Entries wanted.
    pub limit: Option<u64>,
}

/// Collects the wanted entries as lines of text and counts the others.
pub struct Collector {
    offset: u64,
    limit: u64,
    text: String,
    shown: u64,
    total: u64,
    full: bool,
}

impl Collector {
    pub fn new(page: Page) -> Self {
        Collector {
            offset: page.offset.unwrap_or(0),
            limit: page.limit.unwrap_or(DEFAULT_ENTRIES),
            text: String::new(),
            shown: 0,
            total: 0,
            full: false,
        }
    }

    /// Counts one entry; `line` is made only where the entry is on the page.
    pub fn entry<E>(&mut self, line: impl FnOnce() -> Result<String, E>) -> Result<(), E> {
        let index = self.total;
        self.total += 1;
        if self.full || index < self.offset || self.shown >= self.limit {
            return Ok(());
        }
        let line = line()?;
        if self.text.len() + line.len() + 1 > MAX_ANSWER {
            self.full = true;
            return Ok(());
        }
        self.text.push_str(&line);
        self.text.push('\n');
        self.shown += 1;
        Ok(())
    }

    /// The answer. `what` names the entries, `notes` say what the walk left out.
    pub fn finish(mut self, what: &str, none: &str, notes: &[String]) -> Output {
        let next = self.offset.saturating_add(self.shown);
        // Writing to a string does not fail.
        if self.total == 0 {
            self.text.push_str(none);
        } else if self.shown == 0 {
            let _ = write!(
                self.text,
                "[no {what} on this page: there are {}, offset is {}, limit {}]",
                self.total, self.offset, self.limit
            );
        } else if self.shown < self.total {
            let _ = write!(
                self.text,
                "[{what} {}-{next} of {}{}]",
                self.offset + 1,
                self.total,
                if next < self.total {
                    format!("; {} more, continue with offset {next}", self.total - next)
                } else {
                    String::new()
                }
            );
        }
        for note in notes {
            if !self.text.ends_with('\n') {
                self.text.push('\n');
            }
            let _ = write!(self.text, "[{note}]");
        }
        let output = Output::text(self.text).with("total", self.total).with("shown", self.shown);
        if self.shown > 0 && next < self.total { output.with("next_offset", next) } else { output }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(offset: Option<u64>, limit: Option<u64>, entries: u64) -> Output {
        let mut collector = Collector::new(Page { offset, limit });
        for entry in 0..entries {
            collector.entry(|| Ok::<_, ()>(format!("e{entry}"))).unwrap();
        }
        collector.finish("entries", "nothing here", &[])
    }

    #[test]
    fn everything_fits() {
        assert_eq!(page(None, None, 2).as_text(), "e0\ne1\n");
        assert_eq!(page(None, None, 0).as_text(), "nothing here");
    }

    #[test]
    fn pages_join_without_gap_or_overlap() {
        let first = page(None, Some(2), 5);
        assert_eq!(first.as_text(), "e0\ne1\n[entries 1-2 of 5; 3 more, continue with offset 2]");
        assert_eq!(first.fact("next_offset"), Some("2"));
        let last = page(Some(4), Some(2), 5);
        assert_eq!(last.as_text(), "e4\n[entries 5-5 of 5]");
        assert_eq!(last.fact("next_offset"), None);
        let past = page(Some(9), None, 5);
        assert!(past.as_text().starts_with("[no entries on this page: there are 5"));
    }

    #[test]
    fn hostile_numbers_do_no_harm() {
        page(Some(u64::MAX), Some(u64::MAX), 3);
        page(Some(1), Some(u64::MAX), 3);
        page(None, Some(0), 3);
    }

    #[test]
    fn an_answer_stays_below_its_bound() {
        let mut collector = Collector::new(Page { offset: None, limit: Some(u64::MAX) });
        for _ in 0..2000 {
            collector.entry(|| Ok::<_, ()>("x".repeat(1000))).unwrap();
        }
        let output = collector.finish("entries", "", &[]);
        assert!(output.as_text().len() < MAX_ANSWER + 200);
        assert_eq!(output.fact("total"), Some("2000"));
        assert!(output.fact("next_offset").is_some());
    }
}
