//! The functions of `wasi:filesystem`, each a check and one system call.

use rustix::fs::{self, AtFlags, FileType, Mode};
use wasmtime::component::Resource;
use wasmtime_wasi::p2::{DynInputStream, DynOutputStream};

use super::change::{keep_mode, stays_inside, timestamps};
use super::descriptor::FileHandle;
use super::stream::{self, FileInput, FileOutput, Position};
use super::{
    Descriptor, DirectoryEntries, DirectoryHandle, FilesView, FsError, FsResult, metadata,
};
use crate::capability::bindings::fs::{
    Advice, DescriptorFlags, DescriptorStat, DescriptorType, DirectoryEntry, ErrorCode, Filesize,
    Host, HostDescriptor, HostDirectoryEntryStream, MetadataHashValue, NewTimestamp, OpenFlags,
    PathFlags,
};
use crate::capability::bindings::preopens;
use crate::policy::Access;

impl FilesView<'_> {
    fn directory(&self, fd: &Resource<Descriptor>) -> FsResult<DirectoryHandle> {
        match self.table.get(fd)? {
            Descriptor::Directory(directory) => Ok(directory.clone()),
            Descriptor::File(_) => Err(ErrorCode::NotDirectory.into()),
        }
    }

    fn file(&self, fd: &Resource<Descriptor>) -> FsResult<&FileHandle> {
        match self.table.get(fd)? {
            Descriptor::File(file) => Ok(file),
            Descriptor::Directory(_) => Err(ErrorCode::IsDirectory.into()),
        }
    }

    fn readable(&self, fd: &Resource<Descriptor>) -> FsResult<&FileHandle> {
        match self.file(fd)? {
            file if file.readable => Ok(file),
            _ => Err(ErrorCode::BadDescriptor.into()),
        }
    }

    fn writable(&self, fd: &Resource<Descriptor>) -> FsResult<&FileHandle> {
        let file = self.file(fd)?;
        match file.writable {
            true => Ok(file),
            false => Err(self.ctx.refuse(&file.place, "it is open for reading only")),
        }
    }

    fn changed(&self, place: &str) {
        self.ctx.witness.ledger.file(place, |file| file.changed = true);
    }
}

impl preopens::Host for FilesView<'_> {
    fn get_directories(&mut self) -> wasmtime::Result<Vec<(Resource<Descriptor>, String)>> {
        let mut directories = Vec::with_capacity(self.ctx.preopens.len());
        for handle in &self.ctx.preopens {
            let fd = self.table.push(Descriptor::Directory(handle.clone()))?;
            // Dropping it will count, so getting it does.
            self.ctx.open = self.ctx.open.saturating_add(1);
            directories.push((fd, handle.place.clone()));
        }
        Ok(directories)
    }
}

impl Host for FilesView<'_> {
    fn convert_error_code(&mut self, error: FsError) -> wasmtime::Result<ErrorCode> {
        match error {
            FsError::Code(code) => Ok(code),
            FsError::Trap(error) => Err(error),
        }
    }

    fn filesystem_error_code(
        &mut self,
        error: Resource<wasmtime::Error>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        let error = self.table.get(&error)?;
        Ok(error.downcast_ref::<std::io::Error>().map(metadata::error_code_of))
    }
}

impl HostDescriptor for FilesView<'_> {
    fn read_via_stream(
        &mut self,
        fd: Resource<Descriptor>,
        offset: Filesize,
    ) -> FsResult<Resource<DynInputStream>> {
        let file = self.readable(&fd)?.clone();
        let witness = self.ctx.witness.clone();
        let stream: DynInputStream = Box::new(FileInput { file, position: offset, witness });
        Ok(self.table.push(stream)?)
    }

    fn write_via_stream(
        &mut self,
        fd: Resource<Descriptor>,
        offset: Filesize,
    ) -> FsResult<Resource<DynOutputStream>> {
        let file = self.writable(&fd)?.clone();
        let witness = self.ctx.witness.clone();
        let position = Position::At(offset);
        let stream: DynOutputStream = Box::new(FileOutput { file, position, witness });
        Ok(self.table.push(stream)?)
    }

    fn append_via_stream(
        &mut self,
        fd: Resource<Descriptor>,
    ) -> FsResult<Resource<DynOutputStream>> {
        let file = self.writable(&fd)?.clone();
        let witness = self.ctx.witness.clone();
        let position = Position::End;
        let stream: DynOutputStream = Box::new(FileOutput { file, position, witness });
        Ok(self.table.push(stream)?)
    }

    fn advise(
        &mut self,
        fd: Resource<Descriptor>,
        _offset: Filesize,
        _length: Filesize,
        _advice: Advice,
    ) -> FsResult<()> {
        // A hint; the kernel's read-ahead does well without it.
        self.file(&fd).map(drop)
    }

    fn sync_data(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        match self.table.get(&fd)? {
            Descriptor::File(file) => Ok(fs::fdatasync(&file.file)?),
            Descriptor::Directory(_) => Ok(()),
        }
    }

    fn sync(&mut self, fd: Resource<Descriptor>) -> FsResult<()> {
        match self.table.get(&fd)? {
            Descriptor::File(file) => Ok(fs::fsync(&file.file)?),
            Descriptor::Directory(_) => Ok(()),
        }
    }

    fn get_flags(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorFlags> {
        let only_if = |holds: bool, flag| if holds { flag } else { DescriptorFlags::empty() };
        Ok(match self.table.get(&fd)? {
            Descriptor::File(file) => {
                only_if(file.readable, DescriptorFlags::READ)
                    | only_if(file.writable, DescriptorFlags::WRITE)
            }
            Descriptor::Directory(directory) => {
                DescriptorFlags::READ
                    | only_if(directory.access == Access::Write, DescriptorFlags::MUTATE_DIRECTORY)
            }
        })
    }

    fn get_type(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorType> {
        Ok(match self.table.get(&fd)? {
            Descriptor::File(_) => DescriptorType::RegularFile,
            Descriptor::Directory(_) => DescriptorType::Directory,
        })
    }

    fn set_size(&mut self, fd: Resource<Descriptor>, size: Filesize) -> FsResult<()> {
        let file = self.writable(&fd)?;
        if size > stream::MAX_FILE_SIZE {
            return Err(ErrorCode::FileTooLarge.into());
        }
        fs::ftruncate(&file.file, size)?;
        self.changed(&file.place);
        Ok(())
    }

    fn set_times(
        &mut self,
        fd: Resource<Descriptor>,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let times = timestamps(accessed, modified)?;
        let descriptor = self.table.get(&fd)?;
        match descriptor {
            Descriptor::File(file) => {
                self.ctx.permit_change(file.access, &file.place)?;
                self.refuse_other_names(&file.place, &fs::fstat(&file.file)?)?;
                fs::futimens(&file.file, &times)?;
            }
            Descriptor::Directory(directory) => {
                self.ctx.permit_change(directory.access, &directory.place)?;
                fs::utimensat(&directory.fd, ".", &times, AtFlags::SYMLINK_NOFOLLOW)?;
            }
        }
        self.changed(descriptor.place());
        Ok(())
    }

    fn read(
        &mut self,
        fd: Resource<Descriptor>,
        length: Filesize,
        offset: Filesize,
    ) -> FsResult<(Vec<u8>, bool)> {
        let file = self.readable(&fd)?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let bytes = stream::read_at(file, length, offset)
            .map_err(|error| FsError::Code(metadata::error_code_of(&error)))?;
        self.ctx.witness.ledger.file(&file.place, |file| file.read_bytes += bytes.len() as u64);
        let end = bytes.is_empty() && length > 0;
        Ok((bytes, end))
    }

    fn write(
        &mut self,
        fd: Resource<Descriptor>,
        bytes: Vec<u8>,
        offset: Filesize,
    ) -> FsResult<Filesize> {
        let file = self.writable(&fd)?;
        stream::write_at(file, &bytes, offset)
            .map_err(|error| FsError::Code(metadata::error_code_of(&error)))?;
        self.ctx.witness.ledger.file(&file.place, |file| file.written_bytes += bytes.len() as u64);
        Ok(bytes.len() as Filesize)
    }

    fn read_directory(&mut self, fd: Resource<Descriptor>) -> FsResult<Resource<DirectoryEntries>> {
        let directory = self.directory(&fd)?;
        self.ctx.count_open(&directory.place)?;
        Ok(self.table.push(DirectoryEntries::new(&directory)?)?)
    }

    fn create_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        let directory = self.directory(&fd)?;
        let located = self.ctx.locate_for_change(&directory, path.trim_end_matches('/'), false)?;
        fs::mkdirat(&located.parent, &located.name, Mode::from_raw_mode(0o777))?;
        self.changed(&located.place);
        Ok(())
    }

    fn stat(&mut self, fd: Resource<Descriptor>) -> FsResult<DescriptorStat> {
        let stat = match self.table.get(&fd)? {
            Descriptor::File(file) => fs::fstat(&file.file)?,
            Descriptor::Directory(directory) => fs::fstat(&directory.fd)?,
        };
        Ok(metadata::descriptor_stat(&stat))
    }

    fn stat_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
    ) -> FsResult<DescriptorStat> {
        let stat = self.stat_of(&fd, path_flags, &path)?;
        Ok(metadata::descriptor_stat(&stat))
    }

    fn set_times_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
        accessed: NewTimestamp,
        modified: NewTimestamp,
    ) -> FsResult<()> {
        let times = timestamps(accessed, modified)?;
        let directory = self.directory(&fd)?;
        let follow = path_flags.contains(PathFlags::SYMLINK_FOLLOW);
        let located = self.ctx.locate_for_change(&directory, &path, follow)?;
        let stat = fs::statat(&located.parent, &located.name, AtFlags::SYMLINK_NOFOLLOW)?;
        self.refuse_other_names(&located.place, &stat)?;
        fs::utimensat(&located.parent, &located.name, &times, AtFlags::SYMLINK_NOFOLLOW)?;
        self.changed(&located.place);
        Ok(())
    }

    fn link_at(
        &mut self,
        fd: Resource<Descriptor>,
        old_path_flags: PathFlags,
        old_path: String,
        new_descriptor: Resource<Descriptor>,
        new_path: String,
    ) -> FsResult<()> {
        if old_path_flags.contains(PathFlags::SYMLINK_FOLLOW) {
            return Err(ErrorCode::Invalid.into());
        }
        let (from, to) = (self.directory(&fd)?, self.directory(&new_descriptor)?);
        // A second name is a second way to write: both ends must be open for change.
        let old = self.ctx.locate_for_change(&from, &old_path, false)?;
        let new = self.ctx.locate_for_change(&to, &new_path, false)?;
        fs::linkat(&old.parent, &old.name, &new.parent, &new.name, AtFlags::empty())?;
        self.changed(&new.place);
        Ok(())
    }

    fn open_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
        open_flags: OpenFlags,
        flags: DescriptorFlags,
    ) -> FsResult<Resource<Descriptor>> {
        let base = self.directory(&fd)?;
        let follow = path_flags.contains(PathFlags::SYMLINK_FOLLOW);
        let descriptor = self.open(&base, &path, follow, open_flags, flags)?;
        self.ctx.count_open(descriptor.place())?;
        Ok(self.table.push(descriptor)?)
    }

    fn readlink_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<String> {
        let directory = self.directory(&fd)?;
        let located = self.ctx.locate(&directory, &path, false)?;
        let target = fs::readlinkat(&located.parent, &located.name, Vec::new())?;
        let target = target.into_string().map_err(|_| ErrorCode::IllegalByteSequence)?;
        match target.starts_with('/') {
            // It would tell the guest about the host's directories.
            true => Err(self.ctx.refuse(&located.place, "the link points to an absolute path")),
            false => Ok(target),
        }
    }

    fn remove_directory_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        self.remove(&fd, path.trim_end_matches('/'), AtFlags::REMOVEDIR)
    }

    fn unlink_file_at(&mut self, fd: Resource<Descriptor>, path: String) -> FsResult<()> {
        self.remove(&fd, &path, AtFlags::empty())
    }

    fn rename_at(
        &mut self,
        fd: Resource<Descriptor>,
        old_path: String,
        new_descriptor: Resource<Descriptor>,
        new_path: String,
    ) -> FsResult<()> {
        let (from, to) = (self.directory(&fd)?, self.directory(&new_descriptor)?);
        let old = self.ctx.locate_for_change(&from, old_path.trim_end_matches('/'), false)?;
        let new = self.ctx.locate_for_change(&to, new_path.trim_end_matches('/'), false)?;
        self.ctx.permit_move(&old)?;
        self.ctx.permit_removal(&new.place)?;
        keep_mode(&old, &new)?;
        fs::renameat(&old.parent, &old.name, &new.parent, &new.name)?;
        self.changed(&old.place);
        self.changed(&new.place);
        Ok(())
    }

    fn symlink_at(
        &mut self,
        fd: Resource<Descriptor>,
        target: String,
        path: String,
    ) -> FsResult<()> {
        let directory = self.directory(&fd)?;
        let located = self.ctx.locate_for_change(&directory, &path, false)?;
        if !stays_inside(&directory.place, &located.place, &target) {
            return Err(self.ctx.refuse(
                &located.place,
                "a link may only point, by a relative path, to a place inside the granted directory",
            ));
        }
        fs::symlinkat(&target, &located.parent, &located.name)?;
        self.changed(&located.place);
        Ok(())
    }

    fn is_same_object(
        &mut self,
        one: Resource<Descriptor>,
        other: Resource<Descriptor>,
    ) -> wasmtime::Result<bool> {
        let identity = |fd: &Resource<Descriptor>| -> wasmtime::Result<_> {
            let stat = match self.table.get(fd)? {
                Descriptor::File(file) => fs::fstat(&file.file)?,
                Descriptor::Directory(directory) => fs::fstat(&directory.fd)?,
            };
            Ok((stat.st_dev, stat.st_ino))
        };
        Ok(identity(&one)? == identity(&other)?)
    }

    fn metadata_hash(&mut self, fd: Resource<Descriptor>) -> FsResult<MetadataHashValue> {
        let stat = match self.table.get(&fd)? {
            Descriptor::File(file) => fs::fstat(&file.file)?,
            Descriptor::Directory(directory) => fs::fstat(&directory.fd)?,
        };
        Ok(metadata::metadata_hash(&stat))
    }

    fn metadata_hash_at(
        &mut self,
        fd: Resource<Descriptor>,
        path_flags: PathFlags,
        path: String,
    ) -> FsResult<MetadataHashValue> {
        let stat = self.stat_of(&fd, path_flags, &path)?;
        Ok(metadata::metadata_hash(&stat))
    }

    fn drop(&mut self, fd: Resource<Descriptor>) -> wasmtime::Result<()> {
        self.table.delete(fd)?;
        self.ctx.count_closed();
        Ok(())
    }
}

impl FilesView<'_> {
    fn stat_of(
        &self,
        fd: &Resource<Descriptor>,
        path_flags: PathFlags,
        path: &str,
    ) -> FsResult<fs::Stat> {
        let directory = self.directory(fd)?;
        let follow = path_flags.contains(PathFlags::SYMLINK_FOLLOW);
        let located = self.ctx.locate(&directory, path, follow)?;
        let stat = fs::statat(&located.parent, &located.name, AtFlags::SYMLINK_NOFOLLOW)?;
        if located.must_be_directory && FileType::from_raw_mode(stat.st_mode) != FileType::Directory
        {
            return Err(ErrorCode::NotDirectory.into());
        }
        Ok(stat)
    }

    fn remove(&mut self, fd: &Resource<Descriptor>, path: &str, how: AtFlags) -> FsResult<()> {
        let directory = self.directory(fd)?;
        let located = self.ctx.locate_for_change(&directory, path, false)?;
        self.ctx.permit_removal(&located.place)?;
        fs::unlinkat(&located.parent, &located.name, how)?;
        self.changed(&located.place);
        Ok(())
    }
}

impl HostDirectoryEntryStream for FilesView<'_> {
    fn read_directory_entry(
        &mut self,
        stream: Resource<DirectoryEntries>,
    ) -> FsResult<Option<DirectoryEntry>> {
        let entries = self.table.get_mut(&stream)?;
        while let Some(entry) = entries.next_entry()? {
            if !self.ctx.roots.is_hidden(&entries.place_of(&entry.name)) {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    fn drop(&mut self, stream: Resource<DirectoryEntries>) -> wasmtime::Result<()> {
        self.table.delete(stream)?;
        self.ctx.count_closed();
        Ok(())
    }
}
