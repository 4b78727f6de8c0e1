//! What the model may ask for, and the same with every default filled in and every bound checked.

use schemars::JsonSchema;
use serde::Deserialize;
use xzatoma_tool::{Error, Result};

const DEFAULT_MAX_RESULTS: u64 = 100;

/// More are in the next page; the size of the text is bounded on its own.
const MAX_RESULTS: u64 = 10_000;

/// Neighbouring lines on each side. With the longest path and the longest shown line, one match
/// still fits into an answer.
const MAX_CONTEXT: u64 = 20;

const DEFAULT_MAX_FILE_SIZE: u64 = 10 * 1024 * 1024;

/// A file is searched in memory; the tool's own is bounded.
const MAX_FILE_SIZE: u64 = 32 * 1024 * 1024;

/// Globs of both lists together, as the host takes them: each is tried on every path.
const MAX_GLOBS: usize = 64;

// What the model reads about the fields are their doc comments; the struct itself has none.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Arguments {
    /// Regular expression in Rust's syntax, matched line by line. No look-around, no
    /// back-references. Escape special characters: `foo\(`.
    pub pattern: String,
    /// File or directory to search; default the whole workspace.
    #[serde(default)]
    pub path: Option<String>,
    /// Search only files that fit one of these globs, such as `*.rs` or `src/**`. With a `/` they
    /// are about paths below `path`.
    #[serde(default)]
    pub include: Option<Vec<String>>,
    /// Leave out files and directories that fit one of these globs.
    #[serde(default)]
    pub exclude: Option<Vec<String>>,
    /// Whether upper and lower case differ; default false.
    #[serde(default)]
    pub case_sensitive: Option<bool>,
    /// Lines shown before and after each match, at most 20; default 0.
    #[serde(default)]
    pub context: Option<u64>,
    /// Results in one answer, 1 to 10000; default 100.
    #[serde(default)]
    pub max_results: Option<u64>,
    /// Larger files are skipped and counted, in bytes; default 10 MiB, at most 32 MiB.
    #[serde(default)]
    pub max_file_size: Option<u64>,
    /// Results to pass over: the next page begins where the last answer says; default 0.
    #[serde(default)]
    pub offset: Option<u64>,
    /// `lines` shows matching lines (default), `files` the names of files with a match, `count`
    /// how many lines match in each file.
    #[serde(default)]
    pub output: Option<Output>,
}

/// What an answer lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Output {
    #[default]
    Lines,
    Files,
    Count,
}

/// A call that makes sense.
#[derive(Debug)]
pub struct Request {
    pub pattern: String,
    pub path: String,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub case_sensitive: bool,
    pub context: usize,
    pub max_results: u64,
    pub max_file_size: u64,
    pub offset: u64,
    pub output: Output,
}

impl TryFrom<Arguments> for Request {
    type Error = Error;

    fn try_from(arguments: Arguments) -> Result<Request> {
        let context = arguments.context.unwrap_or(0);
        check("context", context, 0, MAX_CONTEXT)?;
        let max_results = arguments.max_results.unwrap_or(DEFAULT_MAX_RESULTS);
        check("max_results", max_results, 1, MAX_RESULTS)?;
        let max_file_size = arguments.max_file_size.unwrap_or(DEFAULT_MAX_FILE_SIZE);
        check("max_file_size", max_file_size, 1, MAX_FILE_SIZE)?;
        let include = globs("include", arguments.include)?;
        let exclude = globs("exclude", arguments.exclude)?;
        if include.len() + exclude.len() > MAX_GLOBS {
            return Err(Error::invalid_input(format!(
                "`include` and `exclude` have {} globs; at most {MAX_GLOBS} are taken",
                include.len() + exclude.len()
            )));
        }
        Ok(Request {
            pattern: arguments.pattern,
            path: arguments.path.unwrap_or_else(|| ".".to_owned()),
            include,
            exclude,
            case_sensitive: arguments.case_sensitive.unwrap_or(false),
            // Checked to be small above.
            context: context as usize,
            max_results,
            max_file_size,
            offset: arguments.offset.unwrap_or(0),
            output: arguments.output.unwrap_or_default(),
        })
    }
}

impl Request {
    /// The path in words.
    pub fn shown_path(&self) -> String {
        match self.path.as_str() {
            "." => "the workspace".to_owned(),
            path => format!("{path:?}"),
        }
    }
}

fn check(name: &str, value: u64, least: u64, most: u64) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::invalid_input(format!("`{name}` is {value}; it can be {least} to {most}")))
}

fn globs(name: &str, given: Option<Vec<String>>) -> Result<Vec<String>> {
    let given = given.unwrap_or_default();
    if given.iter().any(|glob| glob.trim().is_empty()) {
        return Err(Error::invalid_input(format!(
            "`{name}` has an empty glob; leave it out, or write one such as `*.rs`"
        )));
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults() {
        let request = Request::try_from(Arguments { pattern: "x".into(), ..Default::default() });
        let request = request.unwrap();
        assert_eq!(request.path, ".");
        assert!(!request.case_sensitive);
        assert_eq!((request.context, request.max_results, request.offset), (0, 100, 0));
        assert_eq!(request.max_file_size, 10 * 1024 * 1024);
        assert_eq!(request.output, Output::Lines);
    }

    #[test]
    fn bounds() {
        let refused = |change: fn(&mut Arguments), name: &str| {
            let mut arguments = Arguments { pattern: "x".into(), ..Default::default() };
            change(&mut arguments);
            let error = Request::try_from(arguments).unwrap_err();
            assert_eq!(error.case(), "invalid-input");
            assert!(error.message().contains(&format!("`{name}`")), "{error}");
        };
        refused(|arguments| arguments.context = Some(21), "context");
        refused(|arguments| arguments.max_results = Some(0), "max_results");
        refused(|arguments| arguments.max_results = Some(10_001), "max_results");
        refused(|arguments| arguments.max_file_size = Some(0), "max_file_size");
        refused(|arguments| arguments.max_file_size = Some(33 << 20), "max_file_size");
        refused(|arguments| arguments.include = Some(vec!["a".into(); 65]), "include");
        refused(|arguments| arguments.exclude = Some(vec![" ".into()]), "exclude");
    }
}
