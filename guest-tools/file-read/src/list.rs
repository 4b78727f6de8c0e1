//! `list`: what is in a directory, in pages.

use xzatoma_tool::{Context, Error, Output, Result};

use crate::Place;
use crate::dir::{self, Dir, Kind};
use crate::page::{Collector, Page};
use crate::walk::{Found, Walk};

/// Lists a directory, or the tree below it; for a file, the file.
pub fn list(place: &Place, recursive: bool, page: Page) -> Result {
    let listing = || format!("listing {place}");
    let stat = dir::stat(&place.path).context(listing)?;
    if stat.kind != Kind::Directory {
        return Ok(Output::text(line(&place.given, stat.kind, Some(stat.size), None))
            .with("total", 1)
            .with("shown", 1));
    }
    let root = Dir::open(&place.path).context(listing)?;
    let mut walk = Walk::new(root, recursive).context(listing)?;
    let mut entries = Collector::new(page);
    while let Some(found) = walk.step() {
        entries.entry(|| Ok::<_, Error>(describe(&walk, &found)))?;
    }
    let output = entries.finish("entries", &format!("[{place} is empty]"), &walk.notes());
    Ok(output.with("complete", walk.complete()))
}

/// One line; an entry that is gone by now keeps its name.
fn describe(walk: &Walk, found: &Found) -> String {
    let size = match found.kind {
        Kind::File => walk.stat(found).ok().map(|stat| stat.size),
        _ => None,
    };
    let target = match found.kind {
        // The target of a link that leads out of the grant stays hidden.
        Kind::Link => walk.parent().and_then(|parent| parent.read_link(&found.name).ok()),
        _ => None,
    };
    line(&found.path, found.kind, size, target.as_deref())
}

fn line(path: &str, kind: Kind, size: Option<u64>, target: Option<&str>) -> String {
    let path = printable(path);
    match (kind, size, target) {
        (Kind::File, Some(size), _) => format!("file  {path}  {size} bytes"),
        (Kind::File, None, _) => format!("file  {path}"),
        (Kind::Directory, _, _) => format!("dir   {path}/"),
        (Kind::Link, _, Some(target)) => format!("link  {path} -> {}", printable(target)),
        (Kind::Link, _, None) => format!("link  {path}"),
        (Kind::Other, _, _) => format!("other {path}"),
    }
}

/// A name may hold a line break, and would then look like two entries.
pub(crate) fn printable(path: &str) -> String {
    if path.contains(char::is_control) { path.escape_debug().to_string() } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dir::scratch::Scratch;

    #[test]
    fn kinds_sizes_and_pages() {
        let scratch = Scratch::new();
        scratch.file("b.txt", "12345");
        scratch.file("a/inner", "");
        scratch.file("odd\nname", "");
        std::os::unix::fs::symlink("b.txt", scratch.path().join("l")).unwrap();
        let root = scratch.place("");
        let output = list(&root, false, Page::default()).unwrap();
        assert_eq!(
            output.as_text(),
            "dir   a/\nfile  b.txt  5 bytes\nlink  l -> b.txt\nfile  odd\\nname  0 bytes\n"
        );
        let page = Page { offset: Some(1), limit: Some(1) };
        let output = list(&root, true, page).unwrap();
        assert!(output.as_text().starts_with("file  a/inner  0 bytes\n["), "{}", output.as_text());
        assert_eq!(output.fact("next_offset"), Some("2"));
        assert_eq!(output.fact("total"), Some("5"));
    }

    #[test]
    fn files_and_missing_ones() {
        let scratch = Scratch::new();
        let file = scratch.file("f", "123");
        assert_eq!(list(&file, false, Page::default()).unwrap().as_text(), "file  f  3 bytes");
        let missing = scratch.place("none");
        assert_eq!(list(&missing, false, Page::default()).unwrap_err().case(), "not-found");
    }
}
