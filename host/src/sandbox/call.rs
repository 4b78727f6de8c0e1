//! One call: a fresh instance with one authority, one deadline, one answer.

use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::{Store, UpdateDeadline};

use super::Sandbox;
use super::component::{self, Prepared};
use super::library::Tool;
use super::link::Interfaces;
use super::outcome::{self, DeadlinePassed};
use super::runtime::{Begun, Running};
use super::state::CallState;
use crate::capability::bindings::RunnerPre;
use crate::capability::witness::Witness;
use crate::policy::{Authority, Limits};
use crate::receipt::Receipt;
use crate::tool::{
    Approver, CallReport, Headless, ToolCall, ToolDefinition, ToolError, ToolOutput,
};

/// What a guest may hand over in one crossing of the boundary: arguments of host calls, answers.
const MAX_CROSSING: usize = 16 << 20;
/// Component-model handles that a guest may make by itself.
const MAX_GUEST_HANDLES: usize = 10_000;
/// The caller waits this much longer than the guest may run, then answers without it.
const GRACE: Duration = Duration::from_millis(50);
const MAX_METADATA: usize = 64;
const MAX_METADATA_BYTES: usize = 16 << 10;

/// What to do in the instance.
enum Act {
    Call(String),
    Describe,
}

enum Done {
    Called(Result<ToolOutput, ToolError>),
    Described(Box<crate::capability::bindings::guest::Definition>),
}

impl Sandbox {
    pub(super) async fn run(&self, call: ToolCall) -> CallReport {
        let started = Instant::now();
        let witness = Witness::default();
        let result = match self.tools.get(&call.tool) {
            Some(tool) => self.run_tool(tool, call, &witness).await,
            None => {
                let known: Vec<&str> = self.tools.keys().map(String::as_str).collect();
                Err(ToolError::not_found(format!(
                    "there is no tool {:?}; there are: {}",
                    call.tool,
                    known.join(", ")
                )))
            }
        };
        CallReport { result, receipt: finished_receipt(&witness, started) }
    }

    async fn run_tool(
        &self,
        tool: &Tool,
        call: ToolCall,
        witness: &Witness,
    ) -> Result<ToolOutput, ToolError> {
        // Declared ∩ granted: a tool gets no class of authority that it did not ask for.
        let authority = Arc::new(call.authority.for_capabilities(&tool.definition().capabilities));
        let prepared = tool.prepared(self)?;
        let act = Act::Call(call.arguments);
        match self.run_act(&prepared, &call.tool, act, &authority, &call.approver, witness).await? {
            Done::Called(result) => result,
            Done::Described(_) => Err(ToolError::crashed("the host mixed up two acts")),
        }
    }

    /// Asks a component what it is, under an empty grant.
    pub(super) async fn describe(
        &self,
        prepared: &Arc<Prepared>,
    ) -> Result<Arc<ToolDefinition>, ToolError> {
        let limits = Limits { deadline_ms: 5_000, ..Limits::default() };
        let authority = Arc::new(Authority { limits, ..Authority::default() });
        let approver: Arc<dyn Approver> = Arc::new(Headless);
        let witness = Witness::default();
        match self.run_act(prepared, "", Act::Describe, &authority, &approver, &witness).await? {
            Done::Described(said) => component::definition(*said),
            Done::Called(_) => Err(ToolError::crashed("the host mixed up two acts")),
        }
    }

    async fn run_act(
        &self,
        prepared: &Arc<Prepared>,
        tool: &str,
        act: Act,
        authority: &Arc<Authority>,
        approver: &Arc<dyn Approver>,
        witness: &Witness,
    ) -> Result<Done, ToolError> {
        let deadline = authority.limits.deadline();
        if !self.machine.threads.available().await {
            return Err(ToolError::limit_exceeded(format!(
                "{} earlier calls hold their threads in system calls that do not end; try again later",
                self.machine.threads.stuck()
            )));
        }
        let interfaces = match act {
            // `describe` may be asked of tools whose interfaces this grant would not link: they
            // are linked then, to nothing.
            Act::Describe => Interfaces::EVERY,
            Act::Call(_) => Interfaces::of(authority),
        };
        let pre = prepared.link(self.machine, interfaces).inspect_err(|error| {
            witness.refuse(format!("the tool {tool}"), error);
        })?;
        let pre = pre.clone();
        let state = CallState::new(tool, authority, approver, &self.shared, witness.clone())?;
        let output_bytes = authority.limits.output_bytes;
        let guest = instance(pre, state, act, deadline, output_bytes);
        let started = Instant::now();
        let result = match prepared.is_quick() && computes_only(authority) {
            true => match self.machine.threads.begin_here(guest).await {
                Begun::Ended(result) => result,
                Begun::Running(running) => wait(running, deadline).await,
                Begun::Panicked => Err(host_failed()),
            },
            false => wait(self.machine.threads.spawn(guest), deadline).await,
        };
        prepared.took(started.elapsed());
        result
    }
}

/// Without anything of the outside world in its grant, a guest has nothing to block on.
fn computes_only(authority: &Authority) -> bool {
    authority.dirs.is_empty() && authority.network.is_empty() && authority.programs.is_empty()
}

/// Waits for a guest, but not much longer than it may run.
async fn wait(
    mut running: Running<Result<Done, ToolError>>,
    deadline: Duration,
) -> Result<Done, ToolError> {
    match tokio::time::timeout(deadline.saturating_add(GRACE), &mut running).await {
        Ok(Ok(result)) => result,
        Ok(Err(failure)) if failure.is_panic() => Err(host_failed()),
        Ok(Err(_cancelled)) => Err(ToolError::crashed("the call was cancelled")),
        Err(_) => {
            running.abandon();
            Err(outcome::timed_out(deadline))
        }
    }
}

fn host_failed() -> ToolError {
    ToolError::crashed("the host failed while running the tool; please report this")
}

/// The life of one instance, on a guest thread.
async fn instance(
    pre: RunnerPre<CallState>,
    state: CallState,
    act: Act,
    deadline: Duration,
    output_bytes: u64,
) -> Result<Done, ToolError> {
    let ends = Instant::now().checked_add(deadline);
    let mut store = Store::new(pre.engine(), state);
    store.limiter(|state| &mut state.limiter);
    store.set_hostcall_fuel(MAX_CROSSING);
    store.set_max_component_handles(MAX_GUEST_HANDLES);
    // A deadline in ticks for code that never comes back to us, and a yield at every tick so that
    // the timer below and other guests get their turn.
    store.epoch_deadline_callback(move |_| match ends {
        Some(ends) if Instant::now() >= ends => Err(DeadlinePassed.into()),
        _ => Ok(UpdateDeadline::Yield(1)),
    });
    store.set_epoch_deadline(1);

    let work = async {
        let instance = pre.instantiate_async(&mut store).await?;
        let tool = instance.xzatoma_tool_tool();
        match act {
            Act::Describe => Ok(Done::Described(Box::new(tool.call_describe(&mut store).await?))),
            Act::Call(arguments) => {
                let answer = tool.call_call(&mut store, &arguments).await?;
                Ok(Done::Called(bounded(answer, output_bytes)))
            }
        }
    };
    let ended: Result<wasmtime::Result<Done>, _> = tokio::time::timeout(deadline, work).await;
    match ended {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(error)) => Err(outcome::ended(&error, &store.data().limiter, deadline)),
        Err(_) => Err(outcome::timed_out(deadline)),
    }
}

/// A guest's answer, held to its limits.
fn bounded(
    answer: Result<
        crate::capability::bindings::guest::Output,
        crate::capability::bindings::types::ToolError,
    >,
    output_bytes: u64,
) -> Result<ToolOutput, ToolError> {
    let limit = usize::try_from(output_bytes).unwrap_or(usize::MAX);
    match answer {
        Ok(output) => {
            let metadata: usize =
                output.metadata.iter().map(|(key, value)| key.len() + value.len()).sum();
            if output.text.len() > limit {
                return Err(ToolError::limit_exceeded(format!(
                    "the answer has {} bytes, the limit is {limit}; ask for less at a time",
                    output.text.len()
                )));
            }
            if output.metadata.len() > MAX_METADATA || metadata > MAX_METADATA_BYTES {
                return Err(ToolError::limit_exceeded("the answer has too much metadata"));
            }
            Ok(ToolOutput { text: output.text, metadata: output.metadata })
        }
        Err(error) => {
            let mut error = ToolError::from(error);
            if error.message.len() > limit {
                error.message.truncate(error.message.floor_char_boundary(limit));
                error.message.push_str(" (cut)");
            }
            Err(error)
        }
    }
}

fn finished_receipt(witness: &Witness, started: Instant) -> Receipt {
    let mut receipt = witness.ledger.snapshot();
    receipt.duration_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    receipt
}
