//! Compiled components on disk: made once, and made again when they are not what they should be.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::SystemTime;

struct Cache(PathBuf);

impl Cache {
    fn new(name: &str) -> Cache {
        let path =
            std::env::temp_dir().join(format!("xzatoma-cache-{}-{name}", std::process::id()));
        // From an earlier run that was killed.
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Cache(path)
    }

    /// A process that calls the canary, which it has to compile first or finds here.
    fn start(&self) -> Child {
        Command::new(env!("CARGO_BIN_EXE_xzatoma"))
            .args(["tools", "call", "canary", r#"{"a":20,"b":22}"#, "--component"])
            .arg(Path::new(env!("XZATOMA_TOOLS_DIR")).join("tests/canary.wasm"))
            .env("XZATOMA_CACHE_DIR", &self.0)
            .env("RUST_LOG", "warn")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// What it said on standard error.
    fn call(&self) -> String {
        let output = self.start().wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        assert!(String::from_utf8_lossy(&output.stdout).contains("42"));
        said
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.0.join("components")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    fn only_file(&self) -> PathBuf {
        let files = self.files();
        assert_eq!(files.len(), 1, "{files:?}");
        files[0].clone()
    }

    fn changed(&self) -> SystemTime {
        fs::metadata(self.only_file()).unwrap().modified().unwrap()
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_component_is_compiled_once() {
    let cache = Cache::new("once");
    cache.call();
    let changed = cache.changed();
    assert_eq!(cache.call(), "");
    assert_eq!(cache.changed(), changed);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&cache.only_file()), 0o600);
        assert_eq!(mode(&cache.0.join("components")), 0o700);
    }
}

#[test]
fn what_is_damaged_is_made_again() {
    let cache = Cache::new("damaged");
    cache.call();
    let path = cache.only_file();
    let good = fs::read(&path).unwrap();
    let mut flipped = good.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    // A checksum that fits, over code that is none of ours.
    let mut foreign = good[..8].to_vec();
    let code = b"this is not code for any engine";
    foreign.extend_from_slice(&<sha2::Sha256 as sha2::Digest>::digest(code));
    foreign.extend_from_slice(code);
    for damaged in [flipped, good[..good.len() / 2].to_vec(), Vec::new(), foreign] {
        fs::write(&path, &damaged).unwrap();
        let said = cache.call();
        assert!(said.contains("compiling again"), "{said}");
        assert_eq!(cache.call(), "");
        assert_eq!(fs::read(cache.only_file()).unwrap().len(), good.len());
    }
}

#[test]
fn several_processes_at_once_agree() {
    let cache = Cache::new("several");
    let children: Vec<Child> = (0..4).map(|_| cache.start()).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stdout).contains("42"));
    }
    cache.only_file();
}

#[test]
fn a_cache_that_cannot_be_written_is_no_obstacle() {
    let cache = Cache::new("unwritable");
    // A file where the directory should be.
    fs::write(cache.0.join("components"), "").unwrap();
    let said = cache.call();
    assert!(said.contains("could not be kept"), "{said}");
}
