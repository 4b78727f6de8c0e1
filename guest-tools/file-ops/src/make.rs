//! `mkdir`.

use std::io;

use xzatoma_file_read::Place;
use xzatoma_file_read::dir::{Kind, stat};
use xzatoma_tool::{Context, Error, Output, Result};

use crate::parents;

/// Makes a directory and those above it.
pub fn mkdir(place: &Place) -> Result {
    match stat(&place.path) {
        Ok(found) if found.kind == Kind::Directory => {
            return Ok(Output::text(format!("{place} exists already")).with("created", false));
        }
        Ok(_) => {
            return Err(Error::failed(format!(
                "{place} exists and is not a directory; delete it first or name another path"
            )));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error).context(|| format!("looking at {place}")),
    }
    let made = parents::make(&place.path)?;
    let created = !made.is_empty();
    made.keep();
    Ok(Output::text(format!("made the directory {place}")).with("created", created))
}

#[cfg(test)]
mod tests {
    use super::*;
    use xzatoma_file_read::dir::scratch::Scratch;

    #[test]
    fn makes_once() {
        let scratch = Scratch::new();
        let place = scratch.place("a/b/c");
        assert_eq!(mkdir(&place).unwrap().fact("created"), Some("true"));
        assert!(place.path.is_dir());
        assert_eq!(mkdir(&place).unwrap().fact("created"), Some("false"));
        let file = scratch.file("f", "");
        assert_eq!(mkdir(&file).unwrap_err().case(), "failed");
        assert_eq!(mkdir(&scratch.place("f/g")).unwrap_err().case(), "invalid-input");
    }
}
