//! Reading a stream to its end while keeping only the beginning.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe::Sender;

use crate::capability::process::spec::Kept;

/// A pipe holds this much.
const CHUNK: usize = 64 * 1024;

/// Reads until the end. What is over `most` is counted and dropped, so that the process neither
/// blocks nor fills the host's memory.
pub(super) async fn drain(
    mut stream: impl AsyncRead + Unpin,
    most: usize,
    kept: &mut Kept,
) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    loop {
        let length = stream.read(&mut chunk).await?;
        if length == 0 {
            return Ok(());
        }
        let room = most.saturating_sub(kept.bytes.len()).min(length);
        kept.bytes.extend_from_slice(&chunk[..room]);
        kept.dropped += (length - room) as u64;
    }
}

/// Writes all of standard input and closes it.
pub(super) async fn feed(mut stdin: Sender, bytes: &[u8]) -> io::Result<()> {
    match stdin.write_all(bytes).await {
        // A program need not read what it is given.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
