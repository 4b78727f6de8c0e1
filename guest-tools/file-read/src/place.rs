//! A path as the model gave it, and where that is.

use std::path::{Path, PathBuf};

use xzatoma_tool::{Result, paths};

/// Messages speak of `given`, work is done on `path`.
#[derive(Debug, Clone)]
pub struct Place {
    pub given: String,
    pub path: PathBuf,
}

impl Place {
    /// Resolves a path of the arguments; malformed or not granted ones are errors.
    pub fn resolve(given: &str) -> Result<Self> {
        Ok(Place { given: given.to_owned(), path: paths::resolve(given)? })
    }

    /// A path that is already absolute.
    pub fn at(path: &Path) -> Self {
        Place { given: paths::shown(path), path: path.to_owned() }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.given)
    }
}
