//! `find`: files and directories by name.

use globset::{GlobBuilder, GlobMatcher};
use xzatoma_tool::{Context, Error, Result};

use crate::Place;
use crate::dir::{self, Dir, Kind};
use crate::list::printable;
use crate::page::{Collector, Page};
use crate::walk::Walk;

/// Longest pattern taken: longer ones only serve to make building the matcher expensive.
const MAX_PATTERN: usize = 1024;

/// Finds everything below a directory whose name fits the glob; with a `/` in it, whose path
/// relative to the directory does.
pub fn find(place: &Place, pattern: &str, recursive: bool, page: Page) -> Result {
    let by_path = pattern.contains('/');
    let matcher = compile(pattern)?;
    let searching = || format!("searching {place}");
    if dir::stat(&place.path).context(searching)?.kind != Kind::Directory {
        return Err(Error::invalid_input(format!("{place} is a file; name a directory")));
    }
    let root = Dir::open(&place.path).context(searching)?;
    let mut walk = Walk::new(root, recursive).context(searching)?;
    let mut matches = Collector::new(page);
    while let Some(found) = walk.step() {
        let subject = if by_path { &found.path } else { &found.name };
        if matcher.is_match(subject) {
            let slash = if found.kind == Kind::Directory { "/" } else { "" };
            matches.entry(|| Ok::<_, Error>(format!("{}{slash}", printable(&found.path))))?;
        }
    }
    let none = format!(
        "[nothing below {place} fits {pattern:?}; globs match whole names: *.rs, test_*, src/**/*.rs]"
    );
    let output = matches.finish("matches", &none, &walk.notes());
    Ok(output.with("complete", walk.complete()))
}

fn compile(pattern: &str) -> Result<GlobMatcher> {
    if pattern.is_empty() {
        return Err(Error::invalid_input("`pattern` is empty; `*` finds everything"));
    }
    if pattern.len() > MAX_PATTERN {
        return Err(Error::invalid_input(format!(
            "`pattern` has {} bytes; at most {MAX_PATTERN} are taken",
            pattern.len()
        )));
    }
    // `./src/*` and `src/*` mean the same to people.
    let plain = pattern.trim_start_matches("./");
    let glob = GlobBuilder::new(plain).literal_separator(true).build().map_err(|error| {
        Error::invalid_input(format!("`pattern` is not a glob: {error}; for example *.rs"))
    })?;
    Ok(glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dir::scratch::Scratch;

    fn found(pattern: &str) -> Result<String> {
        let scratch = Scratch::new();
        for name in ["src/a.rs", "src/deep/b.rs", "c.rs", "d.txt", ".hidden/e.rs"] {
            scratch.file(name, "");
        }
        let found = find(&scratch.place(""), pattern, true, Page::default())?;
        Ok(found.as_text().to_owned())
    }

    #[test]
    fn names_and_paths() {
        assert_eq!(found("*.rs").unwrap(), ".hidden/e.rs\nc.rs\nsrc/a.rs\nsrc/deep/b.rs\n");
        assert_eq!(found("src/*.rs").unwrap(), "src/a.rs\n");
        assert_eq!(found("./src/**/*.rs").unwrap(), "src/a.rs\nsrc/deep/b.rs\n");
        assert_eq!(found("deep").unwrap(), "src/deep/\n");
        assert_eq!(found("{c,d}.*").unwrap(), "c.rs\nd.txt\n");
        assert!(found("*.py").unwrap().contains("nothing below"));
    }

    #[test]
    fn bad_patterns() {
        for pattern in ["", "[", &"*".repeat(2000)] {
            assert_eq!(found(pattern).unwrap_err().case(), "invalid-input", "{pattern}");
        }
    }

    #[test]
    fn not_in_a_file() {
        let scratch = Scratch::new();
        let file = scratch.file("f", "");
        assert_eq!(find(&file, "*", true, Page::default()).unwrap_err().case(), "invalid-input");
    }
}
