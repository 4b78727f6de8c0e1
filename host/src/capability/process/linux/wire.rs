//! What the host and its helper say to each other.
//!
//! They share a pair of sequenced-packet sockets: a message arrives whole or not at all. The host
//! sends one message, whose descriptors carry everything: the order as JSON in an anonymous file
//! (an argument list can be larger than a packet), the program's standard input, the granted
//! directories. From then on only the helper speaks. When the host's end is closed, or closed for
//! writing, the helper ends the process tree: a host that dies takes its processes with it.

use std::collections::BTreeMap;
use std::io::{self, IoSlice, IoSliceMut, Read, Seek, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

use crate::capability::process::spec::{MAX_GRANTED_DIRS, ProcessError};

/// A report, as JSON. It holds short messages and a bounded list of paths.
const MAX_MESSAGE: usize = 64 * 1024;

/// The order and standard input come before the directories.
const MAX_DESCRIPTORS: usize = MAX_GRANTED_DIRS + 2;

/// What the program is, in the words of the wire.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum OrderedProgram {
    Path(PathBuf),
    Own,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct OrderedDir {
    pub guest_path: String,
    pub writable: bool,
}

/// Everything that the helper needs to know.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Order {
    pub program: OrderedProgram,
    pub name: String,
    pub arguments: Vec<String>,
    pub directory: String,
    /// Complete but for the proxy, whose port the helper learns.
    pub environment: BTreeMap<String, String>,
    /// One for each directory descriptor, in the same order.
    pub dirs: Vec<OrderedDir>,
    pub toolchains: Vec<PathBuf>,
    pub hidden: Vec<PathBuf>,
    pub confined: bool,
    pub proxy: bool,
    pub memory_bytes: u64,
    pub processes: u32,
    pub open_files: u32,
    pub file_bytes: u64,
    pub temporary_bytes: u64,
    pub cpu_seconds: u64,
    /// The host's own, as `nice` counts.
    pub priority: i32,
}

/// Why the helper did not start the program.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Refusal {
    NotFound(String),
    Denied(String),
    Limit(String),
    /// A step of the confinement that this system does not do.
    Unavailable {
        step: String,
        error: String,
    },
    Failed(String),
}

impl Refusal {
    /// A step of the confinement that did not work.
    pub fn step(step: impl Into<String>) -> impl FnOnce(io::Error) -> Refusal {
        let step = step.into();
        move |error| Refusal::Unavailable { step, error: error.to_string() }
    }
}

impl From<Refusal> for ProcessError {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::NotFound(message) => ProcessError::NotFound(message),
            Refusal::Denied(message) => ProcessError::Denied(message),
            Refusal::Limit(message) => ProcessError::Limit(message),
            Refusal::Unavailable { step, error } => {
                ProcessError::Unavailable(super::diagnosis::explain(&step, &error))
            }
            Refusal::Failed(message) => ProcessError::Failed(message),
        }
    }
}

/// How the tree came to its end.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Ending {
    Exited(i32),
    Signalled(i32),
    /// Ended by the helper, because of a limit.
    Limit(String),
}

/// What the helper tells, in this order; everything but `Swept` may be missing.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) enum Report {
    /// Comes with the descriptor of a listening socket inside the sandbox.
    Listener,
    /// It was not started.
    Refused(Refusal),
    Ended(Ending),
    /// The last one: no process is left, and what had to be undone is undone.
    Swept {
        denials: Vec<String>,
    },
}

/// Sends one message.
pub(super) fn send(
    socket: BorrowedFd<'_>,
    payload: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !descriptors.is_empty() && !control.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "too many descriptors"));
    }
    sendmsg(socket, &[IoSlice::new(payload)], &mut control, SendFlags::NOSIGNAL)?;
    Ok(())
}

/// Receives one message; none when the other end is closed.
pub(super) fn receive(socket: BorrowedFd<'_>) -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    let mut payload = vec![0; MAX_MESSAGE];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let message = recvmsg(
        socket,
        &mut [IoSliceMut::new(&mut payload)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    let mut descriptors = Vec::new();
    for part in control.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = part {
            descriptors.extend(rights);
        }
    }
    // Nobody sends an empty message.
    if message.bytes == 0 {
        return Ok(None);
    }
    payload.truncate(message.bytes);
    Ok(Some((payload, descriptors)))
}

pub(super) fn send_report(
    socket: BorrowedFd<'_>,
    report: &Report,
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    send(socket, &serde_json::to_vec(report)?, descriptors)
}

pub(super) fn receive_report(socket: BorrowedFd<'_>) -> io::Result<Option<(Report, Vec<OwnedFd>)>> {
    match receive(socket)? {
        Some((payload, descriptors)) => Ok(Some((serde_json::from_slice(&payload)?, descriptors))),
        None => Ok(None),
    }
}

/// Sends the order and what belongs to it.
pub(super) fn send_order(
    socket: BorrowedFd<'_>,
    order: &Order,
    stdin: BorrowedFd<'_>,
    dirs: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut text = std::fs::File::from(memfd_create("order", MemfdFlags::CLOEXEC)?);
    serde_json::to_writer(io::BufWriter::new(&mut text), order)?;
    text.flush()?;
    text.rewind()?;
    let mut descriptors = vec![text.as_fd(), stdin];
    descriptors.extend_from_slice(dirs);
    send(socket, b"order", &descriptors)
}

/// The order with its descriptors: standard input, then the directories.
pub(super) fn receive_order(
    socket: BorrowedFd<'_>,
) -> io::Result<Option<(Order, OwnedFd, Vec<OwnedFd>)>> {
    let Some((_, descriptors)) = receive(socket)? else { return Ok(None) };
    let incomplete = || io::Error::new(io::ErrorKind::InvalidData, "the order is incomplete");
    let mut descriptors = descriptors.into_iter();
    let text = descriptors.next().ok_or_else(incomplete)?;
    let stdin = descriptors.next().ok_or_else(incomplete)?;
    let mut bytes = Vec::new();
    std::fs::File::from(text).read_to_end(&mut bytes)?;
    let order: Order = serde_json::from_slice(&bytes)?;
    let dirs: Vec<OwnedFd> = descriptors.collect();
    if dirs.len() != order.dirs.len() {
        return Err(incomplete());
    }
    Ok(Some((order, stdin, dirs)))
}
