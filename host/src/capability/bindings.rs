//! The only `bindgen!`: Rust types and traits for the interfaces in `wit/`.
//!
//! `wasi:io` and `wasi:clocks` come from wasmtime-wasi; `wasi:filesystem` is ours from end to end,
//! because the checks that matter (protected paths, links, special files) have to sit where a
//! path becomes an object.

wasmtime::component::bindgen!({
    path: "../wit",
    inline: "
        package xzatoma:host;

        world runner {
            import xzatoma:tool/log@0.1.0;
            import xzatoma:tool/refusal@0.1.0;
            import xzatoma:tool/scan@0.1.0;
            import xzatoma:tool/process@0.1.0;
            import wasi:filesystem/types@0.2.12;
            import wasi:filesystem/preopens@0.2.12;
            export xzatoma:tool/tool@0.1.0;
        }
    ",
    world: "xzatoma:host/runner",
    imports: {
        "xzatoma:tool/process.run": async | trappable,
        "xzatoma:tool/scan.[method]walk.next": async | trappable,
        default: trappable,
    },
    exports: { default: async },
    with: {
        "wasi:io/error": wasmtime_wasi::p2::bindings::io::error,
        "wasi:io/poll": wasmtime_wasi::p2::bindings::io::poll,
        "wasi:io/streams": wasmtime_wasi::p2::bindings::io::streams,
        "wasi:clocks": wasmtime_wasi::p2::bindings::clocks,
        "wasi:filesystem/types.descriptor": crate::capability::files::Descriptor,
        "wasi:filesystem/types.directory-entry-stream": crate::capability::files::DirectoryEntries,
        "xzatoma:tool/scan.walk": crate::capability::scan::Walk,
    },
    trappable_error_type: {
        "wasi:filesystem/types.error-code" => crate::capability::files::FsError,
    },
});

pub use exports::xzatoma::tool::tool as guest;
pub use wasi::filesystem::{preopens, types as fs};
pub use xzatoma::tool::{log, process, refusal, scan, types};

use crate::policy::Capability;
use crate::tool::{ErrorCase, ToolError};

impl From<types::ToolError> for ToolError {
    fn from(error: types::ToolError) -> Self {
        use types::ToolError as Wit;
        let (case, message) = match error {
            Wit::InvalidInput(message) => (ErrorCase::InvalidInput, message),
            Wit::NotFound(message) => (ErrorCase::NotFound, message),
            Wit::Denied(message) => (ErrorCase::Denied, message),
            Wit::TimedOut(message) => (ErrorCase::TimedOut, message),
            Wit::LimitExceeded(message) => (ErrorCase::LimitExceeded, message),
            Wit::Failed(message) => (ErrorCase::Failed, message),
            Wit::Crashed(message) => (ErrorCase::Crashed, message),
        };
        ToolError { case, message }
    }
}

impl From<ToolError> for types::ToolError {
    fn from(error: ToolError) -> Self {
        use types::ToolError as Wit;
        let message = error.message;
        match error.case {
            ErrorCase::InvalidInput => Wit::InvalidInput(message),
            ErrorCase::NotFound => Wit::NotFound(message),
            ErrorCase::Denied => Wit::Denied(message),
            ErrorCase::TimedOut => Wit::TimedOut(message),
            ErrorCase::LimitExceeded => Wit::LimitExceeded(message),
            ErrorCase::Failed => Wit::Failed(message),
            ErrorCase::Crashed => Wit::Crashed(message),
        }
    }
}

impl From<types::Capability> for Capability {
    fn from(capability: types::Capability) -> Self {
        match capability {
            types::Capability::FilesRead => Capability::FilesRead,
            types::Capability::FilesWrite => Capability::FilesWrite,
            types::Capability::Http => Capability::Http,
            types::Capability::Process => Capability::Process,
        }
    }
}
