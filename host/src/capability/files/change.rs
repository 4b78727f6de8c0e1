//! Parts of changing things: modes, links and times.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, Timespec, Timestamps};

use super::FsResult;
use super::descriptor::{Opened, open_name};
use super::resolve::Located;
use crate::capability::bindings::fs::{ErrorCode, NewTimestamp};

/// WASI knows no permission bits, so a tool that replaces a file by renaming a new one over it
/// would drop its mode: a script would no longer run. The host carries the mode over. Set-user-id
/// and its like are not carried.
pub fn keep_mode(old: &Located, new: &Located) -> FsResult<()> {
    let Ok(target) = fs::statat(&new.parent, &new.name, AtFlags::SYMLINK_NOFOLLOW) else {
        return Ok(());
    };
    if FileType::from_raw_mode(target.st_mode) != FileType::RegularFile {
        return Ok(());
    }
    let source = fs::statat(&old.parent, &old.name, AtFlags::SYMLINK_NOFOLLOW)?;
    if FileType::from_raw_mode(source.st_mode) != FileType::RegularFile || source.st_nlink > 1 {
        return Ok(());
    }
    if let Opened::File(file) = open_name(&old.parent, &old.name, OFlags::RDONLY)? {
        fs::fchmod(&file, Mode::from_raw_mode(target.st_mode & 0o777))?;
    }
    Ok(())
}

/// Whether a link at `place` to `target` stays, by its words, below `base`.
pub fn stays_inside(base: &str, place: &str, target: &str) -> bool {
    if target.is_empty() || target.starts_with('/') || target.contains('\0') {
        return false;
    }
    let below = place[base.trim_end_matches('/').len()..].trim_start_matches('/');
    let mut depth = below.split('/').count() - 1;
    for name in target.split('/') {
        match name {
            "" | "." => {}
            ".." if depth == 0 => return false,
            ".." => depth -= 1,
            _ => depth += 1,
        }
    }
    true
}

pub fn timestamps(accessed: NewTimestamp, modified: NewTimestamp) -> FsResult<Timestamps> {
    Ok(Timestamps { last_access: timespec(accessed)?, last_modification: timespec(modified)? })
}

fn timespec(time: NewTimestamp) -> FsResult<Timespec> {
    let at = match time {
        NewTimestamp::NoChange => {
            return Ok(Timespec { tv_sec: 0, tv_nsec: fs::UTIME_OMIT });
        }
        NewTimestamp::Now => SystemTime::now(),
        NewTimestamp::Timestamp(at) => UNIX_EPOCH
            .checked_add(Duration::new(at.seconds, 0))
            .and_then(|whole| whole.checked_add(Duration::from_nanos(at.nanoseconds.into())))
            .ok_or(ErrorCode::Overflow)?,
    };
    let since = at.duration_since(UNIX_EPOCH).map_err(|_| ErrorCode::Overflow)?;
    Ok(Timespec {
        tv_sec: i64::try_from(since.as_secs()).map_err(|_| ErrorCode::Overflow)?,
        tv_nsec: since.subsec_nanos().into(),
    })
}
