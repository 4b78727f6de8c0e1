//! The regular expression, with a prefilter in front of it.

use grep_matcher::{ByteSet, LineMatchKind, LineTerminator, Match, Matcher, NoCaptures};
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::Hir;
use xzatoma_tool::{Error, Result};

use crate::prefilter::Prefilter;

/// Longest expression taken: an alternation of a thousand words is shorter.
const MAX_PATTERN_BYTES: usize = 16 * 1024;

/// Memory of the compiled expression; ordinary ones need a few kilobytes, and compiling this much
/// takes a fraction of a second.
const MAX_COMPILED_BYTES: usize = 8 * 1024 * 1024;

/// Memory of the states that are built while searching; when it is full they are built again.
const MAX_CACHE_BYTES: usize = 8 * 1024 * 1024;

/// How deep groups may nest; the parser's default.
const MAX_NESTING: u32 = 250;

/// What is searched for.
#[derive(Debug)]
pub struct Pattern {
    regex: RegexMatcher,
    prefilter: Option<Prefilter>,
    line_ending: LineTerminator,
}

impl Pattern {
    pub fn new(pattern: &str, case_sensitive: bool) -> Result<Pattern> {
        if pattern.is_empty() {
            return Err(Error::invalid_input(
                "the pattern is empty and would match every line; give a regular expression",
            ));
        }
        if pattern.len() > MAX_PATTERN_BYTES {
            return Err(Error::invalid_input(format!(
                "the pattern has {} bytes; at most {MAX_PATTERN_BYTES} are taken: search for parts of it",
                pattern.len()
            )));
        }
        let hir = parse(pattern, case_sensitive)?;
        // Line endings of Windows end a line too, so that `$` means what it says. An expression
        // that names `\r` has to see it, though, and with `\A` or `\z`, which the matcher shows by
        // having no line terminator, lines are only looked at without their ends if that is `\n`.
        let (regex, crlf) = match compile(pattern, case_sensitive, true) {
            Ok(regex) if regex.line_terminator().is_some() => (regex, true),
            Err(error) if !names_carriage_return(&error) => return Err(explain(error)),
            _ => (compile(pattern, case_sensitive, false).map_err(explain)?, false),
        };
        let prefilter = Prefilter::new(&hir);
        let line_ending = if crlf { LineTerminator::crlf() } else { LineTerminator::byte(b'\n') };
        Ok(Pattern { regex, prefilter, line_ending })
    }

    /// A place from which on there can be a match; none where there is none for certain.
    pub fn possible_from(&self, haystack: &[u8]) -> Option<usize> {
        match &self.prefilter {
            Some(prefilter) => prefilter.find(haystack),
            None => (!haystack.is_empty()).then_some(0),
        }
    }

    /// How lines end for this expression.
    pub fn line_ending(&self) -> LineTerminator {
        self.line_ending
    }

    /// Without the prefilter, to compare with.
    #[cfg(test)]
    pub fn plain(&self) -> &RegexMatcher {
        &self.regex
    }

    #[cfg(test)]
    pub fn has_prefilter(&self) -> bool {
        self.prefilter.is_some()
    }
}

fn compile(
    pattern: &str,
    case_sensitive: bool,
    crlf: bool,
) -> std::result::Result<RegexMatcher, grep_regex::Error> {
    let mut builder = RegexMatcherBuilder::new();
    if crlf {
        builder.crlf(true);
    } else {
        builder.line_terminator(Some(b'\n'));
    }
    builder
        .case_insensitive(!case_sensitive)
        .multi_line(true)
        .size_limit(MAX_COMPILED_BYTES)
        .dfa_size_limit(MAX_CACHE_BYTES)
        .nest_limit(MAX_NESTING)
        .build(pattern)
}

/// The same expression as the matcher compiles, for its literals and for better errors: the matcher
/// puts something around it that nobody wrote. How lines end makes no difference to the literals.
fn parse(pattern: &str, case_sensitive: bool) -> Result<Hir> {
    ParserBuilder::new()
        .utf8(false)
        .case_insensitive(!case_sensitive)
        .multi_line(true)
        .nest_limit(MAX_NESTING)
        .build()
        .parse(pattern)
        .map_err(|error| {
            Error::invalid_input(format!(
                "the pattern is not a valid regular expression of Rust (no look-around, no \
                 back-references; `\\` escapes special characters): {error}"
            ))
        })
}

fn names_carriage_return(error: &grep_regex::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotAllowed(what) if what.contains('\r'))
}

fn explain(error: grep_regex::Error) -> Error {
    match error.kind() {
        ErrorKind::NotAllowed(_) => Error::invalid_input(
            "the pattern names a line break, but lines are searched one by one: search for what \
             stands on one line, and use `context` to see its neighbours",
        ),
        ErrorKind::Regex(message) if message.contains("size limit") => {
            Error::limit_exceeded(format!(
                "the pattern is too large: {message}; make its repetitions smaller or search for \
                 parts of it"
            ))
        }
        _ => Error::invalid_input(format!("the pattern cannot be searched for: {error}")),
    }
}

impl Matcher for &Pattern {
    type Captures = NoCaptures;
    type Error = grep_matcher::NoError;

    fn find_at(
        &self,
        haystack: &[u8],
        at: usize,
    ) -> std::result::Result<Option<Match>, Self::Error> {
        self.regex.find_at(haystack, at)
    }

    fn new_captures(&self) -> std::result::Result<NoCaptures, Self::Error> {
        Ok(NoCaptures::new())
    }

    fn shortest_match_at(
        &self,
        haystack: &[u8],
        at: usize,
    ) -> std::result::Result<Option<usize>, Self::Error> {
        self.regex.shortest_match_at(haystack, at)
    }

    fn non_matching_bytes(&self) -> Option<&ByteSet> {
        // The searcher would take the fast way because of these, and see lines with their ends.
        self.regex.line_terminator().and_then(|_| self.regex.non_matching_bytes())
    }

    fn line_terminator(&self) -> Option<LineTerminator> {
        self.regex.line_terminator()
    }

    fn find_candidate_line(
        &self,
        haystack: &[u8],
    ) -> std::result::Result<Option<LineMatchKind>, Self::Error> {
        match &self.prefilter {
            None => self.regex.find_candidate_line(haystack),
            Some(prefilter) => Ok(prefilter.find(haystack).map(|position| {
                if prefilter.is_exact() {
                    LineMatchKind::Confirmed(position)
                } else {
                    LineMatchKind::Candidate(position)
                }
            })),
        }
    }
}
