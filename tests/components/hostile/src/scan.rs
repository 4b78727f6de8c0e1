//! The host's own walk, turned against it.

use std::mem::forget;

use crate::bindings::wasi::clocks::monotonic_clock;
use crate::bindings::xzatoma::tool::scan::{Options, Walk};
use crate::{Answer, Arguments, achieved, answer};

pub fn act(arguments: &Arguments) -> Option<Answer> {
    Some(match arguments.case.as_str() {
        "scan" => scan(arguments),
        "hoard-walks" => hoard(arguments),
        _ => return None,
    })
}

fn options(arguments: &Arguments) -> Options {
    Options {
        include: Vec::new(),
        exclude: arguments.how.clone(),
        ignore_files: false,
        hidden: true,
        max_file_size: u64::MAX,
    }
}

/// Everything below a path: the names, and whether a word is in any of the files.
fn scan(arguments: &Arguments) -> Answer {
    let walk = Walk::open(&arguments.path, &options(arguments))?;
    let (mut names, mut found, mut bytes) = (Vec::new(), false, 0);
    while let Some(batch) = walk.next()? {
        bytes += batch.data.len();
        let word = arguments.to.as_bytes();
        found |= !word.is_empty() && batch.data.windows(word.len()).any(|window| window == word);
        names.extend(batch.files.into_iter().map(|file| file.path));
    }
    let count = names.len();
    names.truncate(100);
    achieved(format!("{count} files of {bytes} bytes, word found: {found}: {}", names.join(" ")))
}

/// Begins many walks, takes one batch of each, and keeps them all waiting.
fn hoard(arguments: &Arguments) -> Answer {
    for number in 0..arguments.count {
        match Walk::open(&arguments.path, &options(arguments)) {
            Ok(walk) => {
                let _ = walk.next();
                forget(walk);
            }
            Err(error) => return answer(format!("{number} walks, then {error:?}")),
        }
    }
    monotonic_clock::subscribe_duration(u64::MAX).block();
    achieved("life after the end")
}
