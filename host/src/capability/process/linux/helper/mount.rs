//! Mounts by descriptor. Nothing here takes a path from outside and resolves it while mounting:
//! a tree is cloned from an open file and put onto an open place, so nobody can swap either.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};

use super::kernel::{MOUNT_ATTR_NODEV, MOUNT_ATTR_NOSUID, MOUNT_ATTR_RDONLY, add_mount_attributes};
use super::walk::Identity;

/// What a mount allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rights {
    ReadOnly,
    ReadWrite,
    /// A device file, which works only where devices do.
    Device,
}

impl Rights {
    fn attributes(self) -> u64 {
        match self {
            Rights::ReadOnly => MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_RDONLY,
            Rights::ReadWrite => MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV,
            Rights::Device => MOUNT_ATTR_NOSUID,
        }
    }
}

/// Opens a path of the host, links and all; for paths of our own choosing.
pub(super) fn open_host(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?)
}

/// Opens, in this mount namespace, what another one has open.
///
/// A descriptor from before the namespaces were made leads into the old ones and cannot be cloned
/// here. Its path can be looked up again; only the same file is accepted.
pub(super) fn reopen(file: BorrowedFd<'_>) -> io::Result<(OwnedFd, std::path::PathBuf)> {
    use std::os::fd::AsRawFd;
    let path = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let again = openat2(
        CWD,
        &path,
        OFlags::PATH | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::NO_SYMLINKS,
    )
    .map_err(|_| moved(&path))?;
    if Identity::of_file(&again)? == Identity::of_file(file)? {
        Ok((again, path))
    } else {
        Err(moved(&path))
    }
}

fn moved(path: &Path) -> io::Error {
    io::Error::new(
        io::ErrorKind::NotFound,
        format!("{} was moved or replaced since it was granted", path.display()),
    )
}

/// Clones what is open, with all mounts below it, and attaches it nowhere yet.
pub(super) fn clone_tree(source: BorrowedFd<'_>, rights: Rights) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_EMPTY_PATH
        | OpenTreeFlags::AT_RECURSIVE;
    let tree = open_tree(source, c"", flags)?;
    add_mount_attributes(tree.as_fd(), rights.attributes(), true)?;
    Ok(tree)
}

/// Makes an empty filesystem in memory.
pub(super) fn new_tmpfs(bytes: u64, mode: &CStr) -> io::Result<OwnedFd> {
    // A page at least for each file, so this many are never the bound that counts.
    let files = (bytes / 4096).max(1024);
    let fs = fsopen(c"tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(fs.as_fd(), c"size", bytes.to_string().as_str())?;
    fsconfig_set_string(fs.as_fd(), c"nr_inodes", files.to_string().as_str())?;
    fsconfig_set_string(fs.as_fd(), c"mode", mode)?;
    fsconfig_create(fs.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(fs.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

/// Makes the view on this process namespace.
pub(super) fn new_proc() -> io::Result<OwnedFd> {
    let fs = fsopen(c"proc", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_create(fs.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    Ok(fsmount(fs.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

pub(super) fn make_read_only(mount: BorrowedFd<'_>) -> io::Result<()> {
    add_mount_attributes(mount, MOUNT_ATTR_RDONLY, false)
}

/// Puts a mount that is attached nowhere onto an open file or directory.
pub(super) fn attach(mount: BorrowedFd<'_>, place: BorrowedFd<'_>) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(mount, c"", place, c"", flags)?)
}

/// Opens a path below `root` in which no part is a link.
pub(super) fn open_below(root: BorrowedFd<'_>, path: &Path) -> Result<OwnedFd, Errno> {
    let path = path.strip_prefix("/").unwrap_or(path);
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    openat2(
        root,
        path,
        OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC,
        Mode::empty(),
        ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS,
    )
}
