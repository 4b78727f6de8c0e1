//! The tool `grep`: searches the files below a directory by regular expression.
//!
//! The host walks the directory, honours .gitignore and hands over whole files in batches
//! ([`xzatoma_tool::scan`]); here they are searched with ripgrep's own crates. A batch is first
//! looked through as one piece for a place that could match ([`pattern::Pattern::possible_from`]);
//! files without one are not touched any further.
//!
//! Results come in the order of the paths, so that a page that begins at an offset is the same
//! whoever asks for it, as long as the files do not change.

pub mod arguments;
pub mod page;
pub mod pattern;
pub mod prefilter;
pub mod render;
pub mod search;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::path::Path;

use xzatoma_tool::scan::{self, Batch, Options};
use xzatoma_tool::{Context, Result, paths, tool};

use crate::arguments::{Arguments, Request};
use crate::page::{Coverage, Page};
use crate::pattern::Pattern;

fn call(arguments: Arguments) -> Result {
    let request = Request::try_from(arguments)?;
    let pattern = Pattern::new(&request.pattern, request.case_sensitive)?;
    let root = paths::resolve(&request.path)?;
    let options = Options {
        include: request.include.clone(),
        exclude: request.exclude.clone(),
        ignore_files: true,
        hidden: false,
        max_file_size: request.max_file_size,
    };
    let searching = || format!("searching {:?}", request.path);
    let walk = scan::open(&root.to_string_lossy(), &options).context(searching)?;
    let names = Names::new(&root);

    let mut page = Page::new(&request, &pattern);
    let mut coverage = Coverage::default();
    while !page.is_full()
        && let Some(batch) = scan::next(&walk).context(searching)?
    {
        search_batch(&batch, &names, &pattern, &mut page, &mut coverage)?;
    }
    let totals = walk.totals();
    coverage.too_large = totals.too_large;
    coverage.unreadable = totals.unreadable;
    Ok(page.finish(coverage))
}

/// Searches the files of a batch that could match.
fn search_batch(
    batch: &Batch,
    names: &Names,
    pattern: &Pattern,
    page: &mut Page<'_>,
    coverage: &mut Coverage,
) -> Result<()> {
    let mut possible = Possible::new(pattern, &batch.data);
    let mut start = 0;
    for (path, bytes) in scan::files(batch) {
        if page.is_full() {
            break;
        }
        coverage.files += 1;
        coverage.bytes += bytes.len() as u64;
        if possible.within(start, bytes) {
            page.add(&names.shown(path), bytes)?;
        }
        start += bytes.len();
    }
    Ok(())
}

/// Where in a batch a match could be, looked for once and not once per file.
struct Possible<'b> {
    pattern: &'b Pattern,
    data: &'b [u8],
    /// The first possible place at or after what was looked at; none: nowhere further on.
    next: Option<usize>,
}

impl<'b> Possible<'b> {
    fn new(pattern: &'b Pattern, data: &'b [u8]) -> Self {
        Possible { pattern, data, next: pattern.possible_from(data) }
    }

    /// Whether the file that begins at `start` could match. Files have to come in their order.
    fn within(&mut self, start: usize, file: &[u8]) -> bool {
        if let Some(next) = self.next
            && next < start
        {
            let rest = self.data.get(start..).unwrap_or_default();
            self.next = self.pattern.possible_from(rest).map(|at| start + at);
        }
        // Literals are looked for in UTF-8.
        search::is_utf16(file) || self.next.is_some_and(|next| next < start + file.len())
    }
}

/// How the files of the walk are named, so that other tools find them.
enum Names {
    /// The root is the only file.
    Alone(String),
    /// The root is the workspace, where relative paths start.
    Workspace,
    Below(String),
}

impl Names {
    fn new(root: &Path) -> Names {
        match paths::shown(root) {
            shown if shown == "." => Names::Workspace,
            shown if std::fs::metadata(root).is_ok_and(|found| found.is_file()) => {
                Names::Alone(shown)
            }
            shown => Names::Below(shown),
        }
    }

    fn shown<'n>(&'n self, path: &'n str) -> Cow<'n, str> {
        match self {
            Names::Alone(file) => Cow::Borrowed(file),
            Names::Workspace => Cow::Borrowed(path),
            Names::Below(directory) => Cow::Owned(format!("{directory}/{path}")),
        }
    }
}

tool! {
    name: "grep",
    description: "Searches files for a regular expression, line by line. Honours .gitignore; \
        skips hidden and binary files. Answers `path:line:text`, in pages. Use it to find where \
        something is, then read the file.",
    mutates: false,
    capabilities: [FilesRead],
    call: call,
}
