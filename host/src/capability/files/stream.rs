//! Reading and writing a file as a stream. Every size that the guest names is capped.

use std::io;
use std::os::unix::fs::FileExt;

use bytes::Bytes;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::{InputStream, OutputStream, Pollable, StreamError, StreamResult};

use super::descriptor::FileHandle;
use crate::capability::witness::Witness;

/// The most that one read hands over: large enough that the boundary does not show, small enough
/// that a guest that asks for everything costs little.
pub const MAX_READ: usize = 1 << 20;
/// The most that one write takes.
const MAX_WRITE: usize = 1 << 20;
/// The largest file that a guest may make. A sparse terabyte is a trap for whoever copies it.
pub const MAX_FILE_SIZE: u64 = 8 << 30;

pub fn read_at(file: &FileHandle, len: usize, offset: u64) -> io::Result<Vec<u8>> {
    let mut buffer = vec![0; len.min(MAX_READ)];
    let read = loop {
        match file.file.read_at(&mut buffer, offset) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            answer => break answer?,
        }
    };
    buffer.truncate(read);
    Ok(buffer)
}

pub fn write_at(file: &FileHandle, bytes: &[u8], offset: u64) -> io::Result<()> {
    let end = offset.checked_add(bytes.len() as u64);
    if end.is_none_or(|end| end > MAX_FILE_SIZE) {
        return Err(rustix::io::Errno::FBIG.into());
    }
    file.file.write_all_at(bytes, offset)
}

pub struct FileInput {
    pub file: FileHandle,
    pub position: u64,
    pub witness: Witness,
}

#[async_trait]
impl Pollable for FileInput {
    async fn ready(&mut self) {}
}

impl InputStream for FileInput {
    fn read(&mut self, size: usize) -> StreamResult<Bytes> {
        if size == 0 {
            return Ok(Bytes::new());
        }
        let bytes = read_at(&self.file, size, self.position).map_err(failed)?;
        if bytes.is_empty() {
            return Err(StreamError::Closed);
        }
        self.position += bytes.len() as u64;
        self.witness.ledger.file(&self.file.place, |file| file.read_bytes += bytes.len() as u64);
        Ok(bytes.into())
    }
}

/// Where a stream writes.
pub enum Position {
    At(u64),
    End,
}

pub struct FileOutput {
    pub file: FileHandle,
    pub position: Position,
    pub witness: Witness,
}

#[async_trait]
impl Pollable for FileOutput {
    async fn ready(&mut self) {}
}

impl OutputStream for FileOutput {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        let offset = match self.position {
            Position::At(offset) => offset,
            Position::End => self.file.file.metadata().map_err(failed)?.len(),
        };
        write_at(&self.file, &bytes, offset).map_err(failed)?;
        if let Position::At(offset) = &mut self.position {
            *offset += bytes.len() as u64;
        }
        self.witness.ledger.file(&self.file.place, |file| file.written_bytes += bytes.len() as u64);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(MAX_WRITE)
    }
}

fn failed(error: io::Error) -> StreamError {
    StreamError::LastOperationFailed(error.into())
}
