//! Between what the kernel says of a file and what `wasi:filesystem` says.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, FileType, Stat, statat};
use rustix::io::Errno;
use wasmtime_wasi::p2::bindings::clocks::wall_clock::Datetime;

use crate::capability::bindings::fs::{
    DescriptorStat, DescriptorType, ErrorCode, MetadataHashValue,
};

pub fn descriptor_type(kind: FileType) -> DescriptorType {
    match kind {
        FileType::RegularFile => DescriptorType::RegularFile,
        FileType::Directory => DescriptorType::Directory,
        FileType::Symlink => DescriptorType::SymbolicLink,
        FileType::Fifo => DescriptorType::Fifo,
        FileType::Socket => DescriptorType::Socket,
        FileType::CharacterDevice => DescriptorType::CharacterDevice,
        FileType::BlockDevice => DescriptorType::BlockDevice,
        _ => DescriptorType::Unknown,
    }
}

pub fn type_of_name(parent: &OwnedFd, name: &str) -> Result<DescriptorType, Errno> {
    let stat = statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(descriptor_type(FileType::from_raw_mode(stat.st_mode)))
}

#[allow(clippy::unnecessary_cast, reason = "the types differ between systems")]
pub fn descriptor_stat(stat: &Stat) -> DescriptorStat {
    DescriptorStat {
        type_: descriptor_type(FileType::from_raw_mode(stat.st_mode)),
        link_count: stat.st_nlink as u64,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        data_access_timestamp: datetime(stat.st_atime as i64, stat.st_atime_nsec as i64),
        data_modification_timestamp: datetime(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
        status_change_timestamp: datetime(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
    }
}

/// WASI has no time before 1970; such a time is not given.
fn datetime(seconds: i64, nanoseconds: i64) -> Option<Datetime> {
    Some(Datetime {
        seconds: u64::try_from(seconds).ok()?,
        nanoseconds: u32::try_from(nanoseconds).ok()?,
    })
}

/// Says whether two objects are the same without giving the numbers away.
pub fn metadata_hash(stat: &Stat) -> MetadataHashValue {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    (stat.st_dev, stat.st_ino).hash(&mut hasher);
    let lower = hasher.finish();
    (lower, stat.st_ino).hash(&mut hasher);
    MetadataHashValue { lower, upper: hasher.finish() }
}

pub fn error_code(errno: Errno) -> ErrorCode {
    match errno {
        Errno::ACCESS => ErrorCode::Access,
        Errno::AGAIN => ErrorCode::WouldBlock,
        Errno::ALREADY => ErrorCode::Already,
        Errno::BADF => ErrorCode::BadDescriptor,
        Errno::BUSY => ErrorCode::Busy,
        Errno::DEADLK => ErrorCode::Deadlock,
        Errno::DQUOT => ErrorCode::Quota,
        Errno::EXIST => ErrorCode::Exist,
        Errno::FBIG => ErrorCode::FileTooLarge,
        Errno::ILSEQ => ErrorCode::IllegalByteSequence,
        Errno::INPROGRESS => ErrorCode::InProgress,
        Errno::INTR => ErrorCode::Interrupted,
        Errno::INVAL => ErrorCode::Invalid,
        Errno::ISDIR => ErrorCode::IsDirectory,
        Errno::LOOP => ErrorCode::Loop,
        Errno::MLINK => ErrorCode::TooManyLinks,
        Errno::NAMETOOLONG => ErrorCode::NameTooLong,
        Errno::NOENT => ErrorCode::NoEntry,
        Errno::NOMEM => ErrorCode::InsufficientMemory,
        Errno::NOSPC => ErrorCode::InsufficientSpace,
        Errno::NOTDIR => ErrorCode::NotDirectory,
        Errno::NOTEMPTY => ErrorCode::NotEmpty,
        Errno::NOTSUP => ErrorCode::Unsupported,
        Errno::OVERFLOW => ErrorCode::Overflow,
        Errno::PERM => ErrorCode::NotPermitted,
        Errno::PIPE => ErrorCode::Pipe,
        Errno::ROFS => ErrorCode::ReadOnly,
        Errno::SPIPE => ErrorCode::InvalidSeek,
        Errno::TXTBSY => ErrorCode::TextFileBusy,
        Errno::XDEV => ErrorCode::CrossDevice,
        _ => ErrorCode::Io,
    }
}

pub fn error_code_of(error: &std::io::Error) -> ErrorCode {
    error.raw_os_error().map_or(ErrorCode::Io, |raw| error_code(Errno::from_raw_os_error(raw)))
}
