//! `write` and `append`.

use std::io;
use std::path::Path;

use xzatoma_file_read::Place;
use xzatoma_tool::{Context, Error, Output, Result};

use crate::links::{follow_to_file, follow_to_replaceable};
use crate::parents;
use crate::stage::Staged;
use crate::system::{self, Sink};

/// Makes a file hold `content`, all or nothing.
pub fn write(place: &Place, content: &str) -> Result {
    let target = follow_to_replaceable(place)?;
    let made = parents::above(&target.path)?;
    replace(&target.path, content.as_bytes()).context(|| format!("writing {place}"))?;
    let done = if target.stat.is_some() { "replaced" } else { "created" };
    let also = made.keep();
    Ok(Output::text(format!("{done} {place}: {} bytes{also}", content.len()))
        .with("bytes", content.len())
        .with("created", target.stat.is_none()))
}

/// Replaces a file, or makes it, in one step.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut staged = Staged::beside(path)?;
    staged.write(content)?;
    staged.replace(path)
}

/// Adds `content` at the end of a file, in place: other names of the file see it too.
pub fn append(place: &Place, content: &str) -> Result {
    let target = follow_to_file(place)?;
    let made = parents::above(&target.path)?;
    let appending = || format!("appending to {place}");
    let mut file = Sink::open_end(&target.path).context(appending)?;
    let before = file.size().context(appending)?;
    if let Err(error) = file.append_all(content.as_bytes()).and_then(|()| file.sync()) {
        let error = Error::from(error);
        let left = undo(&file, before, content.len() as u64, target.stat.is_none(), &target.path);
        return Err(error.map_message(|message| format!("{}: {message}; {left}", appending())));
    }
    let also = made.keep();
    let size = before + content.len() as u64;
    Ok(Output::text(format!(
        "appended {} bytes to {place}, which has {size} bytes now{also}",
        content.len()
    ))
    .with("bytes", content.len())
    .with("size", size)
    .with("created", target.stat.is_none()))
}

/// Takes back what was appended before it failed, and says how that went.
fn undo(file: &Sink, before: u64, added: u64, created: bool, path: &Path) -> &'static str {
    // Longer than that means that somebody else appended meanwhile; their text must stay.
    let ours = file.size().is_ok_and(|now| now <= before + added);
    let undone =
        ours && if created { system::remove_file(path) } else { file.set_size(before) }.is_ok();
    if undone { "the file is as it was" } else { "a part may have been added: read its end" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use xzatoma_file_read::dir::scratch::Scratch;

    fn content(place: &Place) -> String {
        fs::read_to_string(&place.path).unwrap()
    }

    #[test]
    fn creates_and_replaces() {
        let scratch = Scratch::new();
        let place = scratch.place("new/dir/f.txt");
        let output = write(&place, "one").unwrap();
        assert!(output.as_text().starts_with("created new/dir/f.txt: 3 bytes; made the directory"));
        let output = write(&place, "").unwrap();
        assert_eq!(output.as_text(), "replaced new/dir/f.txt: 0 bytes");
        assert_eq!(content(&place), "");
        assert_eq!(fs::read_dir(scratch.path().join("new/dir")).unwrap().count(), 1);
    }

    #[test]
    fn keeps_links() {
        let scratch = Scratch::new();
        let real = scratch.file("real", "old");
        std::os::unix::fs::symlink("real", scratch.path().join("link")).unwrap();
        write(&scratch.place("link"), "new").unwrap();
        assert_eq!(content(&real), "new");
        assert!(fs::symlink_metadata(scratch.path().join("link")).unwrap().is_symlink());

        fs::hard_link(&real.path, scratch.path().join("other")).unwrap();
        assert_eq!(write(&real, "x").unwrap_err().case(), "failed");
        assert_eq!(content(&scratch.place("other")), "new");
        append(&real, "er").unwrap();
        assert_eq!(content(&scratch.place("other")), "newer");
    }

    #[test]
    fn not_over_a_directory() {
        let scratch = Scratch::new();
        scratch.file("d/f", "");
        assert_eq!(write(&scratch.place("d"), "x").unwrap_err().case(), "invalid-input");
        assert_eq!(append(&scratch.place("d"), "x").unwrap_err().case(), "invalid-input");
        assert_eq!(write(&scratch.place("d/f/g"), "x").unwrap_err().case(), "invalid-input");
    }

    #[test]
    fn a_failure_leaves_no_new_directories() {
        let scratch = Scratch::new();
        let long = scratch.place(&format!("a/b/{}", "n".repeat(300)));
        assert!(write(&long, "x").is_err());
        assert!(!scratch.path().join("a").exists());
    }

    #[test]
    fn appends() {
        let scratch = Scratch::new();
        let place = scratch.place("log");
        assert_eq!(append(&place, "a\n").unwrap().fact("created"), Some("true"));
        assert_eq!(append(&place, "b\n").unwrap().fact("size"), Some("4"));
        assert_eq!(content(&place), "a\nb\n");
    }
}
