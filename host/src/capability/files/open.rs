//! Opening a path: the check, one system call, and a look at what came out.

use std::sync::Arc;

use rustix::fs::{self, FileType, OFlags};
use rustix::io::Errno;

use super::descriptor::{FileHandle, Opened, open_name};
use super::{Descriptor, DirectoryHandle, FilesView, FsError, FsResult};
use crate::capability::bindings::fs::{DescriptorFlags, ErrorCode, OpenFlags};

impl FilesView<'_> {
    pub(super) fn open(
        &self,
        base: &DirectoryHandle,
        path: &str,
        follow: bool,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Descriptor> {
        let truncate = open_flags.contains(OpenFlags::TRUNCATE);
        let create = open_flags.contains(OpenFlags::CREATE);
        let write = flags.contains(DescriptorFlags::WRITE) || truncate || create;
        let read = flags.contains(DescriptorFlags::READ) || !write;
        let change = write || flags.contains(DescriptorFlags::MUTATE_DIRECTORY);
        // A directory is asked for with these set by some libraries; what counts there is the
        // grant, at each later use.
        let only_directory = open_flags.contains(OpenFlags::DIRECTORY);
        if only_directory && (create || truncate) {
            return Err(ErrorCode::Invalid.into());
        }
        let located = match change && !only_directory {
            true => self.ctx.locate_for_change(base, path, follow)?,
            false => self.ctx.locate(base, path, follow)?,
        };

        let mut how = match (read, write && !only_directory) {
            (_, false) => OFlags::RDONLY,
            (false, true) => OFlags::WRONLY,
            (true, true) => OFlags::RDWR,
        };
        if create {
            how |= OFlags::CREATE;
            if open_flags.contains(OpenFlags::EXCLUSIVE) {
                how |= OFlags::EXCL;
            }
        }
        if only_directory || located.must_be_directory || located.name == "." {
            how |= OFlags::DIRECTORY;
        }
        let opened = open_name(&located.parent, &located.name, how).map_err(|errno| {
            match errno {
            // A link was put there after we looked.
            Errno::LOOP => FsError::Code(ErrorCode::Loop),
            Errno::ACCESS => self.ctx.refuse(
                &located.place,
                "it is neither a regular file nor a directory, or the system forbids opening it",
            ),
            // What a FIFO without a reader or a socket answers.
            Errno::NXIO => self.ctx.refuse(&located.place, "it is not a regular file"),
            errno => errno.into(),
        }
        })?;
        let place = located.place;
        match opened {
            Opened::Directory(fd) => Ok(Descriptor::Directory(DirectoryHandle {
                fd: Arc::new(fd),
                place,
                access: base.access,
            })),
            Opened::File(file) => {
                if write {
                    self.refuse_other_names(&place, &fs::fstat(&file)?)?;
                }
                if truncate {
                    fs::ftruncate(&file, 0)?;
                }
                let (file, access) = (Arc::new(file), base.access);
                // An open counts in the receipt even if nothing is read.
                self.ctx.witness.ledger.file(&place, |file| file.changed = create || truncate);
                Ok(Descriptor::File(FileHandle {
                    file,
                    place,
                    readable: read,
                    writable: write,
                    access,
                }))
            }
        }
    }

    /// What is done to a file by one of its names is done to all of them, and the others may be
    /// outside the grant.
    pub(super) fn refuse_other_names(&self, place: &str, stat: &fs::Stat) -> FsResult<()> {
        let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
        match is_file && stat.st_nlink > 1 {
            true => Err(self.ctx.refuse(
                place,
                "it has several hard links, and the others may be outside the grant; replace it by a new file instead",
            )),
            false => Ok(()),
        }
    }
}
