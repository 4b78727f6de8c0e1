//! What capabilities tell the rest of the host about a running call: uses, and refusals.
//!
//! WASI error codes carry no text. A capability that refuses something says why here; the guest
//! fetches it by the `refusal` interface to give the model a message it can act on, and the
//! receipt keeps it whatever the guest does.

use std::sync::{Arc, Mutex, PoisonError};

use crate::receipt::Ledger;
use crate::tool::{ErrorCase, ToolError};

#[derive(Debug, Clone, Default)]
pub struct Witness {
    pub ledger: Ledger,
    last: Arc<Mutex<Option<ToolError>>>,
}

impl Witness {
    /// Notes that `what` was refused, and leaves the reason for the guest.
    pub fn refuse(&self, what: impl Into<String>, error: &ToolError) {
        if error.case == ErrorCase::Denied || error.case == ErrorCase::LimitExceeded {
            self.ledger.denial(what, error.message.clone());
        }
        self.leave_reason(error);
    }

    /// Leaves a reason for the guest without a line in the receipt, where that has one already.
    pub fn leave_reason(&self, error: &ToolError) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.clone());
    }

    pub fn take_refusal(&self) -> Option<ToolError> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl super::bindings::refusal::Host for Witness {
    fn take(&mut self) -> wasmtime::Result<Option<super::bindings::types::ToolError>> {
        Ok(self.take_refusal().map(Into::into))
    }
}

/// Names the witness for the linker.
pub struct HasWitness;

impl wasmtime::component::HasData for HasWitness {
    type Data<'a> = &'a mut Witness;
}
