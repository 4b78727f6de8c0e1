//! What a peer sends, read in bounded pieces.

use std::io;

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::AsyncReadExt;
use tokio::net::tcp::OwnedReadHalf;

/// Read at once.
const PIECE_BYTES: usize = 16 * 1024;

pub(super) struct Inbound {
    pub(super) reader: OwnedReadHalf,
    /// Read and not yet used.
    pub(super) buffer: BytesMut,
}

impl Inbound {
    pub(super) fn new(reader: OwnedReadHalf) -> Self {
        Inbound { reader, buffer: BytesMut::new() }
    }

    /// Reads more into the buffer; false at the end.
    pub(super) async fn fill(&mut self) -> io::Result<bool> {
        self.buffer.reserve(PIECE_BYTES);
        let mut window = (&mut self.reader).take(PIECE_BYTES as u64);
        Ok(window.read_buf(&mut self.buffer).await? > 0)
    }

    /// Up to `most` bytes, none only at the end.
    pub(super) async fn piece(&mut self, most: u64) -> io::Result<Bytes> {
        if self.buffer.is_empty() {
            self.fill().await?;
        }
        let length = usize::try_from(most).unwrap_or(usize::MAX).min(self.buffer.len());
        Ok(self.buffer.split_to(length).freeze())
    }

    /// A line without its CRLF, which is the only line end there is.
    pub(super) async fn line(&mut self, most: usize) -> io::Result<Bytes> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let mut line = self.buffer.split_to(end + 1).freeze();
                if line.len() > most || !line.ends_with(b"\r\n") {
                    return Err(broken("a line is too long or does not end in CRLF"));
                }
                line.truncate(end - 1);
                if line.contains(&b'\r') {
                    return Err(broken("a line has a stray carriage return"));
                }
                return Ok(line);
            }
            if self.buffer.len() >= most {
                return Err(broken("a line is too long"));
            }
            if !self.fill().await? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Exactly `bytes`, or an error.
    pub(super) async fn expect(&mut self, bytes: &[u8]) -> io::Result<()> {
        while self.buffer.len() < bytes.len() {
            if !self.fill().await? {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        if !self.buffer.starts_with(bytes) {
            return Err(broken("a chunk does not end where it says"));
        }
        self.buffer.advance(bytes.len());
        Ok(())
    }
}

pub(super) fn broken(message: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}
