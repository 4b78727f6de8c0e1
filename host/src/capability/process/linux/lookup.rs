//! Which file a program's name stands for.
//!
//! A bare name is looked up in the host's `PATH`, without whatever lies in a granted directory:
//! what an agent can write must not become a command that the user has approved. For a confined
//! process only directories count that it will see.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, openat2};

use super::helper::SYSTEM_DIRECTORIES;
use crate::capability::process::spec::{GrantedDir, ProcessError};
use crate::policy::Confinement;

/// The directories of `path` (the host's `PATH`) in which programs are looked up, in order.
pub fn search_path(
    path: &OsStr,
    dirs: &[GrantedDir],
    toolchains: &[PathBuf],
    confinement: Confinement,
) -> Vec<PathBuf> {
    let mut answer: Vec<PathBuf> = Vec::new();
    for directory in std::env::split_paths(path) {
        let Ok(real) = directory.canonicalize() else { continue };
        let usable = directory.is_absolute()
            && !is_granted(&directory, dirs)
            && !is_granted(&real, dirs)
            && (confinement == Confinement::None
                || is_visible(&directory, toolchains) && is_visible(&real, toolchains));
        if usable && !answer.contains(&directory) {
            answer.push(directory);
        }
    }
    answer
}

/// The file that `name` stands for, as the process sees it: a bare name by `search_path`, a path
/// below `directory` (a guest path) or from the root.
pub fn resolve_program(
    name: &str,
    directory: &str,
    search_path: &[PathBuf],
    dirs: &[GrantedDir],
    toolchains: &[PathBuf],
    confinement: Confinement,
) -> Result<PathBuf, ProcessError> {
    if name.is_empty() || name.contains('\0') {
        return Err(ProcessError::NotFound("a program needs a name".to_owned()));
    }
    if !name.contains('/') {
        return look_up(name, search_path, dirs, toolchains, confinement);
    }
    let guest = normalize(&Path::new(directory).join(name));
    let innermost = dirs
        .iter()
        .filter_map(|dir| Some((dir, guest.strip_prefix(&dir.guest_path).ok()?)))
        .min_by_key(|(_, below)| below.components().count());
    if let Some((dir, below)) = innermost {
        check_granted(name, dir, below)?;
        return Ok(match confinement {
            Confinement::Os => guest.clone(),
            Confinement::None => dir.host_path.join(below),
        });
    }
    if confinement == Confinement::Os && !is_visible(&guest, toolchains) {
        return Err(ProcessError::NotFound(format!(
            "no such program: {name} (a process sees the granted directories and the system's \
             own, such as /usr)"
        )));
    }
    match is_executable(&guest) {
        Ok(true) => Ok(guest),
        Ok(false) => Err(ProcessError::Denied(format!("{name} is not an executable file"))),
        Err(_) => Err(ProcessError::NotFound(format!("no such program: {name}"))),
    }
}

fn look_up(
    name: &str,
    search_path: &[PathBuf],
    dirs: &[GrantedDir],
    toolchains: &[PathBuf],
    confinement: Confinement,
) -> Result<PathBuf, ProcessError> {
    let mut passed_over = None;
    for candidate in search_path.iter().map(|directory| directory.join(name)) {
        if !is_executable(&candidate).unwrap_or(false) {
            continue;
        }
        // What counts is where links lead.
        let Ok(real) = candidate.canonicalize() else { continue };
        let hidden = confinement == Confinement::Os && !is_visible(&real, toolchains);
        if hidden || is_granted(&real, dirs) {
            passed_over.get_or_insert(real);
            continue;
        }
        return Ok(candidate);
    }
    Err(ProcessError::NotFound(match passed_over {
        Some(real) => format!(
            "no such program: {name} (there is {}, which a process here cannot use by name)",
            real.display()
        ),
        None => format!("no such program: {name}; programs come from the host's PATH"),
    }))
}

fn check_granted(name: &str, dir: &GrantedDir, below: &Path) -> Result<(), ProcessError> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let stat = openat2(&*dir.handle, below, flags, Mode::empty(), ResolveFlags::BENEATH)
        .and_then(fstat)
        .map_err(|error| ProcessError::NotFound(format!("no such program: {name}: {error}")))?;
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    if is_file && stat.st_mode & 0o111 != 0 {
        Ok(())
    } else {
        Err(ProcessError::Denied(format!(
            "{name} is not an executable file; start its interpreter with it instead, \
             or make it executable"
        )))
    }
}

fn is_executable(path: &Path) -> std::io::Result<bool> {
    let metadata = path.metadata()?;
    Ok(metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// Whether a path of the host lies in a granted directory, by its path or by where that leads.
fn is_granted(path: &Path, dirs: &[GrantedDir]) -> bool {
    dirs.iter().any(|dir| {
        path.starts_with(&dir.host_path)
            || dir.host_path.canonicalize().is_ok_and(|real| path.starts_with(real))
    })
}

/// Whether a confined process sees this path of the host.
fn is_visible(path: &Path, toolchains: &[PathBuf]) -> bool {
    SYSTEM_DIRECTORIES.iter().any(|system| path.starts_with(system))
        || toolchains.iter().any(|toolchain| {
            path.starts_with(toolchain)
                || toolchain.canonicalize().is_ok_and(|real| path.starts_with(real))
        })
}

/// Takes `.` and `..` out by the text alone. No link is followed, so the result is the path that
/// is both checked and started.
fn normalize(path: &Path) -> PathBuf {
    let mut answer = PathBuf::from("/");
    for part in path.components() {
        match part {
            Component::Normal(name) => answer.push(name),
            Component::ParentDir => drop(answer.pop()),
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_normalized_by_their_text() {
        for (path, plain) in [
            ("/a/b/../c", "/a/c"),
            ("/a/./b/", "/a/b"),
            ("/../../a", "/a"),
            ("/a/..", "/"),
            ("/a/..b/c..", "/a/..b/c.."),
        ] {
            assert_eq!(normalize(Path::new(path)), Path::new(plain));
        }
    }
}
