//! Paths as the model writes them, made absolute and checked against what is granted.
//!
//! The check here is for good answers, not for safety: the host opens nothing outside the granted
//! directories, whatever a tool asks for. But WASI answers "no such file" for a path that no
//! granted directory covers, and a model that reads that goes looking for the file.

use std::path::{Component, Path, PathBuf};

use crate::{Error, Result};

/// Where relative paths start.
pub const WORKSPACE: &str = "/workspace";

/// Longest path taken, as on Linux; longer ones could only fail.
pub const MAX_PATH: usize = 4096;

/// Longest name of one file, as on most file systems.
pub const MAX_NAME: usize = 255;

/// The absolute path that `path` means, without `.` and `..`; relative ones start at
/// [`WORKSPACE`].
///
/// Malformed paths are `invalid-input`; a path that climbs out of the workspace or that no
/// granted directory covers is `denied`. Nothing is opened: it need not exist.
pub fn resolve(path: &str) -> Result<PathBuf> {
    let resolved = normalise(path)?;
    #[cfg(target_arch = "wasm32")]
    check_granted(path, &resolved, &granted())?;
    Ok(resolved)
}

/// The granted directories, as the guest sees them.
#[cfg(target_arch = "wasm32")]
pub fn granted() -> Vec<String> {
    let directories = crate::bindings::wasi::filesystem::preopens::get_directories();
    directories.into_iter().map(|(_, path)| path).collect()
}

fn normalise(path: &str) -> Result<PathBuf> {
    if path.is_empty() {
        return Err(Error::invalid_input("the path is empty; `.` is the workspace itself"));
    }
    if path.contains('\0') {
        return Err(Error::invalid_input("the path contains a NUL character; remove it"));
    }
    if path.len() > MAX_PATH {
        return Err(Error::invalid_input(format!(
            "the path has {} bytes; at most {MAX_PATH} are possible",
            path.len()
        )));
    }
    let relative = !path.starts_with('/');
    let mut resolved = PathBuf::from(if relative { WORKSPACE } else { "/" });
    for component in Path::new(path).components() {
        match component {
            Component::Normal(name) if name.len() > MAX_NAME => {
                return Err(Error::invalid_input(format!(
                    "a name in the path has {} bytes; at most {MAX_NAME} are possible",
                    name.len()
                )));
            }
            Component::Normal(name) => resolved.push(name),
            Component::ParentDir if relative && resolved.as_os_str() == WORKSPACE => {
                return Err(outside(path));
            }
            // Above the root is the root, as everywhere.
            Component::ParentDir => {
                resolved.pop();
            }
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    if path.starts_with(WORKSPACE) && climbs_out(path) && !resolved.starts_with(WORKSPACE) {
        return Err(outside(path));
    }
    Ok(resolved)
}

/// Whether the path began in the workspace and used `..`.
fn climbs_out(path: &str) -> bool {
    Path::new(path).starts_with(WORKSPACE)
        && Path::new(path).components().any(|component| component == Component::ParentDir)
}

fn outside(path: &str) -> Error {
    Error::denied(format!("{path:?} is outside the workspace; paths are under {WORKSPACE}"))
}

#[cfg_attr(not(target_arch = "wasm32"), allow(dead_code))]
fn check_granted(given: &str, resolved: &Path, granted: &[String]) -> Result<()> {
    if granted.iter().any(|directory| resolved.starts_with(directory)) {
        return Ok(());
    }
    Err(Error::denied(match granted {
        [] => format!("{given:?} is not granted: no directory is; --workspace DIR grants one"),
        [only] => format!("{given:?} is not granted; paths are under {only}"),
        several => format!("{given:?} is not granted; paths are under {}", several.join(", ")),
    }))
}

/// How a path is shown: relative to the workspace where it is below it.
pub fn shown(path: &Path) -> String {
    match path.strip_prefix(WORKSPACE) {
        Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Ok(below) => below.to_string_lossy().into_owned(),
        Err(_) => path.to_string_lossy().into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(path: &str) -> String {
        normalise(path).unwrap().to_string_lossy().into_owned()
    }

    #[test]
    fn relative_paths_start_at_the_workspace() {
        assert_eq!(normal("."), "/workspace");
        assert_eq!(normal("a/./b//c/../d"), "/workspace/a/b/d");
        assert_eq!(normal("a/.."), "/workspace");
        assert_eq!(normal("/workspace/a/"), "/workspace/a");
        assert_eq!(normal("/data/x"), "/data/x");
        assert_eq!(normal("/../data"), "/data");
        assert_eq!(normal("..."), "/workspace/...");
    }

    #[test]
    fn climbing_out_is_denied() {
        for path in
            ["..", "../x", "a/../..", "../../etc/passwd", "../workspace/a", "/workspace/../etc"]
        {
            let error = normalise(path).unwrap_err();
            assert_eq!(error.case(), "denied", "{path}");
            assert!(error.message().contains("paths are under /workspace"), "{error}");
        }
        assert_eq!(normal("/workspace/../workspace/a"), "/workspace/a");
    }

    #[test]
    fn malformed_paths_are_invalid() {
        for path in ["", "a\0b", &"x/".repeat(3000), &"y".repeat(256)] {
            assert_eq!(normalise(path).unwrap_err().case(), "invalid-input", "{path:?}");
        }
    }

    #[test]
    fn what_is_not_granted_is_named() {
        let granted = ["/workspace".to_owned(), "/data".to_owned()];
        let check = |path: &str| check_granted(path, Path::new(path), &granted);
        assert_eq!(check("/workspace/a"), Ok(()));
        assert_eq!(check("/data"), Ok(()));
        let error = check("/database").unwrap_err();
        assert_eq!(error.case(), "denied");
        assert!(error.message().contains("/workspace, /data"), "{error}");
        assert_eq!(check_granted("/x", Path::new("/x"), &[]).unwrap_err().case(), "denied");
    }

    #[test]
    fn shown_relative_to_the_workspace() {
        assert_eq!(shown(Path::new("/workspace")), ".");
        assert_eq!(shown(Path::new("/workspace/a/b")), "a/b");
        assert_eq!(shown(Path::new("/data/a")), "/data/a");
    }
}
