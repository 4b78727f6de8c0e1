//! The file system of a sandbox: an empty root in memory, onto which only what the process may
//! see is mounted.
//!
//! Everything is cloned from open files before the new root exists, because attaching it hides
//! what was there.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fstat, mkdirat, openat, statat, symlinkat};
use rustix::io::Errno;
use rustix::mount::{MountPropagationFlags, UnmountFlags, mount_change, unmount};
use rustix::process::{chdir, fchdir, pivot_root};

use super::hidden::{hidden_below, real_path};
use super::mount::{
    Rights, attach, clone_tree, make_read_only, new_proc, new_tmpfs, open_below, open_host, reopen,
};
use super::protect::protect;
use super::system;
use super::walk::Found;
use crate::capability::process::linux::wire::{Order, OrderedProgram, Refusal};

/// Where the process finds its own executable when it is asked to run it.
pub(super) const OWN_EXECUTABLE: &str = "/run/xzatoma/executable";

/// Where the process keeps what it would keep in the user's home; inside its private `/tmp`.
pub const HOME: &str = "/tmp/home";

/// The root holds directories and links only.
const ROOT_BYTES: u64 = 4 * 1024 * 1024;

/// What programs put into shared memory is small, and it is memory.
const SHARED_MEMORY_BYTES: u64 = 64 * 1024 * 1024;

/// An empty directory; of no size at all would mean of any size.
const MASK_BYTES: u64 = 4096;

/// A tree that waits for its place.
struct Source {
    tree: OwnedFd,
    is_directory: bool,
    guest: PathBuf,
    /// Where it is on the host.
    host: PathBuf,
}

/// Builds the root and moves into it. `found` are the protected entries of each directory.
pub(super) fn enter(order: &Order, dirs: &[OwnedFd], found: &[Vec<Found>]) -> Result<(), Refusal> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)
        .map_err(io::Error::from)
        .map_err(Refusal::step("making mounts private"))?;
    let mut sources = system_sources().map_err(Refusal::step("cloning the system's mounts"))?;
    sources
        .extend(toolchain_sources(order).map_err(Refusal::step("cloning the toolchains' mounts"))?);
    let null = open_host(Path::new("/dev/null")).map_err(Refusal::step("opening /dev/null"))?;
    let devices = device_sources().map_err(Refusal::step("cloning device files"))?;
    let granted = granted_sources(order, dirs)?;

    let mut root = Root::attach().map_err(Refusal::step("mounting a new root"))?;
    root.furnish(order, devices).map_err(Refusal::step("building the new root"))?;
    let mut masks = Vec::new();
    sources.extend(granted);
    // What lies inside another comes after it.
    sources.sort_by_key(|source| source.guest.components().count());
    for source in &sources {
        root.place(source)?;
        if order.hidden.is_empty() {
            continue;
        }
        for hidden in hidden_below(&real_path(&source.host), &order.hidden)? {
            root.pin_above(&source.guest, &hidden).map_err(Refusal::step("hiding files"))?;
            masks.push(source.guest.join(hidden));
        }
    }
    for (dir, found) in order.dirs.iter().zip(found).filter(|(dir, _)| dir.writable) {
        let guest = Path::new(&dir.guest_path);
        let Some(source) = sources.iter().rfind(|source| source.guest == guest) else { continue };
        let place = open_below(root.fd.as_fd(), guest)
            .map_err(io::Error::from)
            .map_err(Refusal::step("opening a granted directory"))?;
        protect(place.as_fd(), &source.host, found)?;
    }
    root.mount_proc(order.processes, &mut masks).map_err(Refusal::step("mounting a new /proc"))?;
    for path in masks {
        root.mask(&path, null.as_fd()).map_err(Refusal::step("hiding files"))?;
    }
    root.enter().map_err(Refusal::step("moving into the new root"))
}

fn system_sources() -> io::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for path in system::DIRECTORIES.iter().map(Path::new) {
        let is_link = match path.symlink_metadata() {
            Ok(metadata) => metadata.is_symlink(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        // Links are made again by `furnish`.
        if !is_link {
            sources.extend(host_source(path)?);
        }
    }
    for name in system::ETC {
        sources.extend(host_source(&Path::new("/etc").join(name))?);
    }
    Ok(sources)
}

/// A file or directory of the host, read-only at its own path; none when there is none.
fn host_source(path: &Path) -> io::Result<Option<Source>> {
    let file = match open_host(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        // The process could not use it either.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => return Ok(None),
        Err(error) => return Err(error),
    };
    Ok(Some(Source {
        is_directory: is_directory(file.as_fd())?,
        tree: clone_tree(file.as_fd(), Rights::ReadOnly)?,
        guest: path.to_owned(),
        host: path.to_owned(),
    }))
}

fn device_sources() -> io::Result<Vec<(&'static str, OwnedFd)>> {
    let mut sources = Vec::new();
    for name in system::DEVICES {
        let device = open_host(&Path::new("/dev").join(name))?;
        sources.push((name, clone_tree(device.as_fd(), Rights::Device)?));
    }
    Ok(sources)
}

fn toolchain_sources(order: &Order) -> io::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for path in &order.toolchains {
        let is_there_already = system::DIRECTORIES.iter().any(|known| path.starts_with(known));
        if is_plain_absolute(path) && !is_there_already {
            sources.extend(host_source(path)?);
        }
    }
    if let OrderedProgram::Own = order.program {
        let own = open_host(Path::new("/proc/self/exe"))?;
        let (own, host) = reopen(own.as_fd())?;
        sources.push(Source {
            tree: clone_tree(own.as_fd(), Rights::ReadOnly)?,
            is_directory: false,
            guest: PathBuf::from(OWN_EXECUTABLE),
            host,
        });
    }
    Ok(sources)
}

fn granted_sources(order: &Order, dirs: &[OwnedFd]) -> Result<Vec<Source>, Refusal> {
    let mut sources = Vec::new();
    for (dir, handle) in order.dirs.iter().zip(dirs) {
        let guest = PathBuf::from(&dir.guest_path);
        // These are not the host's, and something mounted over them would break every program.
        let is_reserved = ["/proc", "/dev"].iter().any(|reserved| guest.starts_with(reserved));
        if guest == Path::new("/") || is_reserved || !is_plain_absolute(&guest) {
            return Err(Refusal::Denied(format!(
                "a process cannot have a granted directory at {}",
                dir.guest_path
            )));
        }
        let rights = if dir.writable { Rights::ReadWrite } else { Rights::ReadOnly };
        let (again, host) = reopen(handle.as_fd()).map_err(|error| {
            Refusal::NotFound(format!("the granted directory {}: {error}", dir.guest_path))
        })?;
        let tree = clone_tree(again.as_fd(), rights)
            .map_err(Refusal::step(format!("cloning the granted directory {}", dir.guest_path)))?;
        sources.push(Source { tree, is_directory: true, guest, host });
    }
    Ok(sources)
}

fn is_plain_absolute(path: &Path) -> bool {
    path.is_absolute()
        && path.components().all(|part| matches!(part, Component::RootDir | Component::Normal(_)))
}

fn is_directory(file: BorrowedFd<'_>) -> io::Result<bool> {
    Ok(FileType::from_raw_mode(fstat(file)?.st_mode) == FileType::Directory)
}

#[allow(clippy::unnecessary_cast, reason = "the types differ between architectures")]
fn device_of(file: BorrowedFd<'_>) -> io::Result<u64> {
    Ok(fstat(file)?.st_dev as u64)
}

struct Root {
    fd: OwnedFd,
    /// The file systems in memory that are the sandbox's own, by device.
    own: Vec<u64>,
}

impl Root {
    /// A new root, mounted over the old one. This process still sees the old one.
    fn attach() -> io::Result<Root> {
        let fd = new_tmpfs(ROOT_BYTES, c"0755")?;
        attach(fd.as_fd(), open_host(Path::new("/"))?.as_fd())?;
        let own = vec![device_of(fd.as_fd())?];
        Ok(Root { fd, own })
    }

    /// The parts that are not the host's: `/tmp`, `/dev`, and links.
    fn furnish(&mut self, order: &Order, devices: Vec<(&'static str, OwnedFd)>) -> io::Result<()> {
        for path in system::DIRECTORIES {
            if let Ok(text) = std::fs::read_link(path) {
                symlinkat(&text, &self.fd, path.trim_start_matches('/'))?;
            }
        }
        for path in ["/proc", "/tmp", "/dev/shm", "/run", "/var"] {
            self.make_directory(Path::new(path))?;
        }
        symlinkat("../tmp", &self.fd, "var/tmp")?;
        for (text, name) in [
            ("/proc/self/fd", "dev/fd"),
            ("/proc/self/fd/0", "dev/stdin"),
            ("/proc/self/fd/1", "dev/stdout"),
            ("/proc/self/fd/2", "dev/stderr"),
        ] {
            symlinkat(text, &self.fd, name)?;
        }
        for (name, device) in devices {
            let place = self.make_file(&Path::new("/dev").join(name))?;
            attach(device.as_fd(), place.as_fd())?;
        }
        let shared = new_tmpfs(SHARED_MEMORY_BYTES.min(order.memory_bytes), c"1777")?;
        attach(shared.as_fd(), self.open(Path::new("/dev/shm"))?.as_fd())?;
        let temporary = new_tmpfs(order.temporary_bytes, c"1777")?;
        mkdirat(&temporary, "home", Mode::from_raw_mode(0o755))?;
        self.own.push(device_of(temporary.as_fd())?);
        attach(temporary.as_fd(), self.open(Path::new("/tmp"))?.as_fd())?;
        Ok(())
    }

    fn open(&self, path: &Path) -> Result<OwnedFd, Errno> {
        open_below(self.fd.as_fd(), path)
    }

    fn place(&self, source: &Source) -> Result<(), Refusal> {
        let place = if source.is_directory {
            self.make_directory(&source.guest)
        } else {
            self.make_file(&source.guest)
        };
        place
            .and_then(|place| attach(source.tree.as_fd(), place.as_fd()))
            .map_err(Refusal::step(format!("mounting {}", source.guest.display())))
    }

    /// Opens a directory, made where it is missing in the root itself. Nothing is ever made in a
    /// mount of the host's.
    fn make_directory(&self, path: &Path) -> io::Result<OwnedFd> {
        let mut directory = self.open(Path::new("/"))?;
        let mut so_far = PathBuf::from("/");
        for name in path.strip_prefix("/").unwrap_or(path) {
            so_far.push(name);
            directory = match self.open(&so_far) {
                Err(Errno::NOENT) if self.is_ours(&directory)? => {
                    mkdirat(&directory, name, Mode::from_raw_mode(0o755))?;
                    self.open(&so_far)?
                }
                other => other?,
            };
        }
        Ok(directory)
    }

    fn make_file(&self, path: &Path) -> io::Result<OwnedFd> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        };
        let parent = self.make_directory(parent)?;
        if self.is_ours(&parent)? && statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW).is_err() {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            drop(openat(&parent, name, flags, Mode::from_raw_mode(0o444))?);
        }
        Ok(self.open(path)?)
    }

    fn is_ours(&self, directory: &OwnedFd) -> io::Result<bool> {
        Ok(self.own.contains(&device_of(directory.as_fd())?))
    }

    /// Mounts `/proc`, read-only: a host that runs as root owns every setting in it.
    fn mount_proc(&self, processes: u32, masks: &mut Vec<PathBuf>) -> io::Result<()> {
        let proc = new_proc()?;
        attach(proc.as_fd(), self.open(Path::new("/proc"))?.as_fd())?;
        super::limits::limit_process_ids(proc.as_fd(), processes)?;
        make_read_only(proc.as_fd())?;
        masks.extend(system::MASKED_PROC.iter().map(|name| Path::new("/proc").join(name)));
        Ok(())
    }

    /// Mounts each directory between `guest` and what is hidden below it over itself. A directory
    /// that holds a mount can be moved, and another one made in its place; one that is a mount
    /// cannot.
    fn pin_above(&self, guest: &Path, hidden: &Path) -> io::Result<()> {
        let mut above: Vec<&Path> = hidden.ancestors().skip(1).collect();
        above.pop();
        for directory in above.into_iter().rev() {
            let place = match self.open(&guest.join(directory)) {
                Ok(place) => place,
                // Not there: then a placeholder is, further up.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            attach(clone_tree(place.as_fd(), Rights::ReadWrite)?.as_fd(), place.as_fd())?;
        }
        Ok(())
    }

    /// Covers a file or a directory with something that cannot be opened.
    fn mask(&self, path: &Path, null: BorrowedFd<'_>) -> io::Result<()> {
        let place = match self.open(path) {
            Ok(place) => place,
            // Not there, or not a place: nothing to hide.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        let cover = if is_directory(place.as_fd())? {
            let empty = new_tmpfs(MASK_BYTES, c"0000")?;
            make_read_only(empty.as_fd())?;
            empty
        } else {
            // Read-only mounts have no devices, so even this one cannot be opened there.
            clone_tree(null, Rights::ReadOnly)?
        };
        attach(cover.as_fd(), place.as_fd())
    }

    /// Makes it the root of this process and lets go of the old one.
    fn enter(self) -> io::Result<()> {
        make_read_only(self.fd.as_fd())?;
        fchdir(&self.fd)?;
        // The old root lands on top of the new one, from where it is taken away.
        pivot_root(".", ".")?;
        unmount(".", UnmountFlags::DETACH)?;
        chdir("/")?;
        Ok(())
    }
}
