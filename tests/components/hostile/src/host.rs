//! Makes the host work, allocate and remember on its behalf.

use std::mem::forget;

use crate::bindings::wasi::cli::{environment, stderr, stdin, stdout};
use crate::bindings::wasi::clocks::monotonic_clock;
use crate::bindings::wasi::filesystem::preopens;
use crate::bindings::wasi::filesystem::types::{Descriptor, DescriptorFlags, OpenFlags, PathFlags};
use crate::bindings::wasi::http::types::{Fields, OutgoingRequest, RequestOptions};
use crate::bindings::wasi::io::poll::{self, Pollable};
use crate::bindings::wasi::io::streams::{InputStream, OutputStream, StreamError};
use crate::bindings::wasi::random::{insecure, random};
use crate::{Answer, Arguments, achieved, answer, failed, files};

pub fn act(arguments: &Arguments) -> Option<Answer> {
    let count = arguments.count;
    Some(match arguments.case.as_str() {
        "random" => achieved(random::get_random_bytes(count).len()),
        "random-insecure" => achieved(insecure::get_insecure_random_bytes(count).len()),
        "random-loop" => loop {
            std::hint::black_box(random::get_random_bytes(count));
        },
        "read-all" => read_all(arguments),
        "hoard" => hoard(arguments),
        "hoard-files" => hoard_files(arguments),
        "write-too-much" => write_too_much(count as usize),
        "write-zeroes" => write_zeroes(count),
        "stdio-flood" => flood(count),
        "stdin" => read_stdin(),
        "environment" => achieved(format!(
            "{:?} {:?} {:?}",
            environment::get_environment(),
            environment::get_arguments(),
            environment::initial_cwd()
        )),
        "fields" => fields(arguments),
        "poll-crowd" => poll_crowd(count as usize),
        "poll-nothing" => {
            poll::poll(&[]);
            achieved("a poll of nothing")
        }
        "forged-handle" => forged(count as u32),
        "handle-of-another-kind" => another_kind(),
        "used-after-drop" => used_after_drop(),
        "parent-before-child" => parent_before_child(),
        _ => return None,
    })
}

/// Every way to read, with a size and a place that no file has.
fn read_all(arguments: &Arguments) -> Answer {
    let file = files::some_file(&arguments.path).map_err(failed)?;
    let (bytes, _) = file.read(u64::MAX, 0).map_err(failed)?;
    let mut sizes = vec![bytes.len() as u64];
    let stream = file.read_via_stream(0).map_err(failed)?;
    sizes.push(stream.read(u64::MAX).map_err(failed)?.len() as u64);
    sizes.push(stream.blocking_read(u64::MAX).map_err(failed)?.len() as u64);
    sizes.push(stream.skip(u64::MAX).map_err(failed)?);
    sizes.push(stream.blocking_skip(u64::MAX).map_err(failed)?);
    let far = file.read(u64::MAX, u64::MAX);
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    answer(format!("{} and far out {:?}", sizes.join(" "), far.map(|(bytes, _)| bytes.len())))
}

/// Takes handles of one kind and never gives them back.
fn hoard(arguments: &Arguments) -> Answer {
    let kind = arguments.how.first().map_or("", String::as_str);
    let file = match kind {
        "input-stream" | "directory-stream" | "directory" => {
            Some(files::start(&Arguments::default())?)
        }
        _ => None,
    };
    for _ in 0..arguments.count {
        match (kind, &file) {
            ("pollable", _) => forget(monotonic_clock::subscribe_duration(u64::MAX)),
            ("fields", _) => forget(Fields::new()),
            ("request", _) => forget(OutgoingRequest::new(Fields::new())),
            ("options", _) => forget(RequestOptions::new()),
            ("stdin", _) => forget(stdin::get_stdin()),
            ("preopens", _) => forget(preopens::get_directories()),
            ("directory-stream", Some(directory)) => {
                forget(directory.read_directory().map_err(failed)?);
            }
            ("directory", Some(directory)) => {
                let (flags, how) = (DescriptorFlags::READ, OpenFlags::DIRECTORY);
                forget(directory.open_at(PathFlags::empty(), ".", how, flags).map_err(failed)?);
            }
            _ => return answer(format!("no kind {kind:?}")),
        }
    }
    achieved(format!("{} of {kind}", arguments.count))
}

/// Opens the same file again and again and keeps what it gets, as far as it goes.
fn hoard_files(arguments: &Arguments) -> Answer {
    let mut held = Vec::new();
    for number in 0..arguments.count {
        match files::some_file(&arguments.path) {
            Ok(file) => held.push(file),
            Err(code) => return answer(format!("{number} files, then {code:?}")),
        }
    }
    achieved(format!("{} files", held.len()))
}

/// More than the stream said it takes.
fn write_too_much(bytes: usize) -> Answer {
    let stream = stdout::get_stdout();
    let _ = stream.check_write();
    match stream.write(&vec![b'x'; bytes]) {
        Ok(()) => answer("taken"),
        Err(error) => Err(failed(error)),
    }
}

fn write_zeroes(bytes: u64) -> Answer {
    let stream = stdout::get_stdout();
    let _ = stream.check_write();
    match stream.write_zeroes(bytes) {
        Ok(()) => achieved("taken"),
        Err(error) => Err(failed(error)),
    }
}

/// Writes to streams that were never given.
fn flood(bytes: u64) -> Answer {
    let line = b"HOSTILE-FLOOD ".repeat(256);
    let chunk = &line[..3584];
    let streams: [OutputStream; 2] = [stdout::get_stdout(), stderr::get_stderr()];
    let mut written = 0;
    while written < bytes {
        for stream in &streams {
            match stream.blocking_write_and_flush(chunk) {
                Ok(()) => written += chunk.len() as u64,
                Err(StreamError::Closed) => return answer(format!("closed after {written}")),
                Err(error) => return Err(failed(error)),
            }
        }
    }
    answer(format!("{written} bytes went nowhere"))
}

fn read_stdin() -> Answer {
    match stdin::get_stdin().blocking_read(1024) {
        Ok(bytes) if bytes.is_empty() => answer("nothing"),
        Ok(bytes) => achieved(format!("{} bytes of standard input", bytes.len())),
        Err(StreamError::Closed) => answer("nothing"),
        Err(error) => Err(failed(error)),
    }
}

/// Header fields without end: many, or one that is long.
fn fields(arguments: &Arguments) -> Answer {
    let fields = Fields::new();
    let value = vec![b'x'; arguments.count as usize];
    for number in 0..1_000_000_u64 {
        if let Err(error) = fields.append(&format!("x-{number}"), &value) {
            return answer(format!("{number} fields, then {error:?}"));
        }
    }
    achieved("a million fields")
}

fn poll_crowd(count: usize) -> Answer {
    let ready = monotonic_clock::subscribe_duration(0);
    let crowd: Vec<&Pollable> = vec![&ready; count];
    answer(format!("{} ready", poll::poll(&crowd).len()))
}

/// A handle that this instance was never given.
fn forged(number: u32) -> Answer {
    // SAFETY: a number; what it stands for is for the host to check, which is the point.
    let file = unsafe { Descriptor::from_handle(number) };
    let read = file.read(16, 0);
    forget(file);
    match read {
        Ok((bytes, _)) => achieved(format!("{} bytes", bytes.len())),
        Err(code) => achieved(format!("an answer: {code:?}")),
    }
}

/// A clock's handle as a file's.
fn another_kind() -> Answer {
    let pollable = monotonic_clock::subscribe_duration(0);
    // SAFETY: as above.
    let stream = unsafe { InputStream::from_handle(pollable.take_handle()) };
    let read = stream.read(16);
    forget(stream);
    achieved(format!("an answer: {:?}", read.is_ok()))
}

fn used_after_drop() -> Answer {
    let pollable = monotonic_clock::subscribe_duration(0);
    let number = pollable.handle();
    drop(pollable);
    // SAFETY: as above.
    let again = unsafe { Pollable::from_handle(number) };
    let ready = again.ready();
    forget(again);
    achieved(format!("an answer: {ready}"))
}

fn parent_before_child() -> Answer {
    let stream = stdin::get_stdin();
    let child = stream.subscribe();
    drop(stream);
    let ready = child.ready();
    answer(format!("an answer: {ready}"))
}
