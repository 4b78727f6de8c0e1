//! `log`: lines from a guest into the host's log, cut and counted.

use wasmtime::component::HasData;

use super::bindings::log::{Host, Level};

/// Longer messages are cut.
const MAX_MESSAGE: usize = 2048;
/// Later messages of the same call are dropped: a flood must not fill a disk.
const MAX_MESSAGES: u32 = 200;

pub struct LogCtx {
    pub tool: String,
    pub written: u32,
}

impl LogCtx {
    pub fn new(tool: &str) -> LogCtx {
        LogCtx { tool: tool.to_owned(), written: 0 }
    }
}

impl Host for LogCtx {
    fn log(&mut self, level: Level, message: String) -> wasmtime::Result<()> {
        self.written = self.written.saturating_add(1);
        if self.written > MAX_MESSAGES {
            return Ok(());
        }
        let cut = message.floor_char_boundary(MAX_MESSAGE);
        // Control characters would let a guest forge lines or drive the user's terminal.
        let message: String = message[..cut]
            .chars()
            .map(|character| if character.is_control() { '\u{fffd}' } else { character })
            .collect();
        let tool = self.tool.as_str();
        match level {
            Level::Debug => tracing::debug!(tool, "{message}"),
            Level::Info => tracing::info!(tool, "{message}"),
            Level::Warn => tracing::warn!(tool, "{message}"),
            Level::Error => tracing::error!(tool, "{message}"),
        }
        Ok(())
    }
}

pub struct HasLog;

impl HasData for HasLog {
    type Data<'a> = &'a mut LogCtx;
}
