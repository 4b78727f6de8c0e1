//! A directory for one test, gone when it ends.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Place;

pub struct Scratch(PathBuf);

impl Scratch {
    /// # Panics
    /// When the system's temporary directory cannot be used: no test can run then.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("xzatoma-files-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("a fresh temporary directory");
        Scratch(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A place in it that need not exist.
    pub fn place(&self, name: &str) -> Place {
        Place { given: name.to_owned(), path: self.0.join(name) }
    }

    /// Writes a file, with the directories above it.
    ///
    /// # Panics
    /// When that fails: the test has no ground to stand on.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> Place {
        let place = self.place(name);
        let parent = place.path.parent().expect("below the scratch directory");
        fs::create_dir_all(parent).expect("directories in the scratch directory");
        fs::write(&place.path, content).expect("a file in the scratch directory");
        place
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What is left behind is only litter in the system's temporary directory.
        let _ = fs::remove_dir_all(&self.0);
    }
}
