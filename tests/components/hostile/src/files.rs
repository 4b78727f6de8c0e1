//! `wasi:filesystem`, descriptor by descriptor.

use crate::bindings::exports::xzatoma::tool::tool::ToolError;
use crate::bindings::wasi::clocks::wall_clock::Datetime;
use crate::bindings::wasi::filesystem::preopens;
use crate::bindings::wasi::filesystem::types::{
    Descriptor, DescriptorFlags, ErrorCode, NewTimestamp, OpenFlags, PathFlags,
};
use crate::{Answer, Arguments, achieved, answer, failed};

/// What a successful write leaves behind.
const MARK: &[u8] = b"written by the hostile tool";

pub fn act(arguments: &Arguments) -> Option<Answer> {
    if arguments.case == "directories" {
        return Some(directories());
    }
    let act = match arguments.case.as_str() {
        "open" => open,
        "rename" => rename,
        "link" => link,
        "symlink" => symlink,
        "symlink-then-write" => symlink_then_write,
        "unlink" => unlink,
        "rmdir" => rmdir,
        "mkdir" => mkdir,
        "set-times" => set_times,
        "stat" => stat,
        "readlink" => readlink,
        "list" => list,
        "dig" => dig,
        "many-entries" => many_entries,
        _ => return None,
    };
    Some(start(arguments).and_then(|base| act(arguments, &base)))
}

/// The granted directory, or one below it.
pub fn start(arguments: &Arguments) -> Result<Descriptor, ToolError> {
    let wanted = if arguments.base.is_empty() { "/workspace" } else { &arguments.base };
    let granted = preopens::get_directories().into_iter().find(|(_, name)| name == wanted);
    let (granted, _) =
        granted.ok_or_else(|| ToolError::Denied("no directory is granted".into()))?;
    if arguments.below.is_empty() {
        return Ok(granted);
    }
    // With every right that can be asked for: what it can do must not depend on that.
    let rights = DescriptorFlags::READ | DescriptorFlags::MUTATE_DIRECTORY;
    granted
        .open_at(PathFlags::SYMLINK_FOLLOW, &arguments.below, OpenFlags::DIRECTORY, rights)
        .map_err(failed)
}

fn path_flags(arguments: &Arguments) -> PathFlags {
    match arguments.how.iter().any(|how| how == "nofollow") {
        true => PathFlags::empty(),
        false => PathFlags::SYMLINK_FOLLOW,
    }
}

/// Opens as told, and then does what the open file allows as told.
fn open(arguments: &Arguments, base: &Descriptor) -> Answer {
    let has = |word: &str| arguments.how.iter().any(|how| how == word);
    let mut flags = DescriptorFlags::empty();
    let mut how = OpenFlags::empty();
    for (word, flag) in [
        ("read", DescriptorFlags::READ),
        ("write", DescriptorFlags::WRITE),
        ("mutate", DescriptorFlags::MUTATE_DIRECTORY),
    ] {
        if has(word) {
            flags = flags | flag;
        }
    }
    for (word, flag) in [
        ("create", OpenFlags::CREATE),
        ("exclusive", OpenFlags::EXCLUSIVE),
        ("truncate", OpenFlags::TRUNCATE),
        ("directory", OpenFlags::DIRECTORY),
    ] {
        if has(word) {
            how = how | flag;
        }
    }
    let path = match arguments.path.as_str() {
        "{long}" => "x".repeat(arguments.count as usize),
        path => path.to_owned(),
    };
    let file = base.open_at(path_flags(arguments), &path, how, flags).map_err(failed)?;
    let mut done = vec!["opened".to_owned()];
    if has("read") && !has("directory") {
        let (bytes, _) = file.read(1024, 0).map_err(failed)?;
        done.push(format!("read {:?}", String::from_utf8_lossy(&bytes)));
    }
    if has("write") {
        file.write(MARK, 0).map_err(failed)?;
        done.push("wrote".to_owned());
    }
    if has("append") {
        let stream = file.append_via_stream().map_err(failed)?;
        stream.blocking_write_and_flush(MARK).map_err(failed)?;
        done.push("appended".to_owned());
    }
    if has("stream") {
        let stream = file.write_via_stream(0).map_err(failed)?;
        stream.blocking_write_and_flush(MARK).map_err(failed)?;
        done.push("streamed".to_owned());
    }
    if has("size") {
        file.set_size(arguments.count).map_err(failed)?;
        done.push("changed the size".to_owned());
    }
    if has("times") {
        file.set_times(NewTimestamp::Now, NewTimestamp::Timestamp(long_ago())).map_err(failed)?;
        done.push("changed the times".to_owned());
    }
    if has("beyond") {
        file.write(MARK, arguments.count).map_err(failed)?;
        done.push("wrote far out".to_owned());
    }
    achieved(done.join(", "))
}

fn long_ago() -> Datetime {
    Datetime { seconds: 1, nanoseconds: 0 }
}

fn rename(arguments: &Arguments, base: &Descriptor) -> Answer {
    let root = root()?;
    base.rename_at(&arguments.path, &root, &arguments.to).map_err(failed)?;
    achieved("renamed")
}

fn root() -> Result<Descriptor, ToolError> {
    start(&Arguments::default())
}

fn link(arguments: &Arguments, base: &Descriptor) -> Answer {
    let flags = match arguments.how.iter().any(|how| how == "follow") {
        true => PathFlags::SYMLINK_FOLLOW,
        false => PathFlags::empty(),
    };
    base.link_at(flags, &arguments.path, &root()?, &arguments.to).map_err(failed)?;
    achieved("linked")
}

fn symlink(arguments: &Arguments, base: &Descriptor) -> Answer {
    base.symlink_at(&arguments.to, &arguments.path).map_err(failed)?;
    achieved("linked")
}

/// Makes a link and creates a file through it.
fn symlink_then_write(arguments: &Arguments, base: &Descriptor) -> Answer {
    base.symlink_at(&arguments.to, "way").map_err(failed)?;
    let path = format!("way{}", arguments.path);
    let (create, write) = (OpenFlags::CREATE, DescriptorFlags::WRITE);
    let file = base.open_at(PathFlags::SYMLINK_FOLLOW, &path, create, write).map_err(failed)?;
    file.write(MARK, 0).map_err(failed)?;
    achieved("wrote through a link")
}

fn unlink(arguments: &Arguments, base: &Descriptor) -> Answer {
    base.unlink_file_at(&arguments.path).map_err(failed)?;
    achieved("unlinked")
}

fn rmdir(arguments: &Arguments, base: &Descriptor) -> Answer {
    base.remove_directory_at(&arguments.path).map_err(failed)?;
    achieved("removed")
}

fn mkdir(arguments: &Arguments, base: &Descriptor) -> Answer {
    base.create_directory_at(&arguments.path).map_err(failed)?;
    achieved("made")
}

fn set_times(arguments: &Arguments, base: &Descriptor) -> Answer {
    let seconds = if arguments.count == 0 { 1 } else { arguments.count };
    let time = NewTimestamp::Timestamp(Datetime { seconds, nanoseconds: 0 });
    base.set_times_at(path_flags(arguments), &arguments.path, time, time).map_err(failed)?;
    achieved("changed the times")
}

fn stat(arguments: &Arguments, base: &Descriptor) -> Answer {
    let stat = base.stat_at(path_flags(arguments), &arguments.path).map_err(failed)?;
    achieved(format!("{:?} of {} bytes", stat.type_, stat.size))
}

fn readlink(arguments: &Arguments, base: &Descriptor) -> Answer {
    achieved(base.readlink_at(&arguments.path).map_err(failed)?)
}

/// The names in a directory, as many as there are.
fn list(arguments: &Arguments, base: &Descriptor) -> Answer {
    let directory = base
        .open_at(
            path_flags(arguments),
            &arguments.path,
            OpenFlags::DIRECTORY,
            DescriptorFlags::READ,
        )
        .map_err(failed)?;
    let entries = directory.read_directory().map_err(failed)?;
    let mut names = Vec::new();
    while let Some(entry) = entries.read_directory_entry().map_err(failed)? {
        names.push(entry.name);
    }
    let count = names.len();
    names.sort();
    names.truncate(100);
    achieved(format!("{count} entries: {}", names.join(" ")))
}

/// Directories below each other, as deep as it goes, each made from the one above.
fn dig(arguments: &Arguments, base: &Descriptor) -> Answer {
    let mut here = base
        .open_at(PathFlags::empty(), ".", OpenFlags::DIRECTORY, DescriptorFlags::READ)
        .map_err(failed)?;
    for level in 0..arguments.count {
        let below = here.create_directory_at("deep").and_then(|()| {
            here.open_at(PathFlags::empty(), "deep", OpenFlags::DIRECTORY, DescriptorFlags::READ)
        });
        here = match below {
            Ok(below) => below,
            Err(code) => return answer(format!("{level} levels, then {code:?}")),
        };
    }
    // Back in by one path from the top, as a careless recursion would.
    let path = vec!["deep"; arguments.count as usize].join("/");
    match base.stat_at(PathFlags::empty(), &path) {
        Ok(_) => answer(format!("{} levels, one path", arguments.count)),
        Err(code) => answer(format!("{} levels, no path: {code:?}", arguments.count)),
    }
}

fn many_entries(arguments: &Arguments, base: &Descriptor) -> Answer {
    let (create, write) = (OpenFlags::CREATE, DescriptorFlags::WRITE);
    for number in 0..arguments.count {
        base.open_at(PathFlags::empty(), &format!("file-{number}"), create, write)
            .map_err(failed)?;
    }
    answer(format!("{} files", arguments.count))
}

fn directories() -> Answer {
    let names: Vec<String> =
        preopens::get_directories().into_iter().map(|(_, name)| name).collect();
    answer(names.join(" "))
}

/// For acts elsewhere that need an open file.
pub fn some_file(path: &str) -> Result<Descriptor, ErrorCode> {
    let granted = preopens::get_directories().into_iter().next().ok_or(ErrorCode::NoEntry)?.0;
    granted.open_at(PathFlags::empty(), path, OpenFlags::empty(), DescriptorFlags::READ)
}
