//! [`LimitedChild`]: the same sandbox around our own executable.

use std::collections::BTreeMap;

use super::availability::availability;
use super::run::run_keeping;
use crate::capability::process::spec::{
    Finished, HelperExe, LimitedChild, ProcessError, ProcessLimits, ProcessSpec, Program,
};
use crate::policy::Confinement;

/// Threads of the child. It is our own code, which starts one for each processor.
const MAX_THREADS: u32 = 1024;

impl LimitedChild {
    /// Runs it to its end. It is confined where the system can; elsewhere it has limits alone,
    /// and the log says so.
    pub async fn run(self, helper: &HelperExe) -> Result<Finished, ProcessError> {
        let confinement = match availability(helper) {
            Ok(()) => Confinement::Os,
            Err(reason) => {
                tracing::warn!(%reason, "a child process for untrusted input runs with limits only");
                Confinement::None
            }
        };
        let most = self.max_stdout;
        let finished = run_keeping(self.spec(confinement), helper, most, drop).await?;
        if finished.stdout.dropped > 0 {
            return Err(ProcessError::Limit(format!("its result is larger than {most} bytes")));
        }
        Ok(finished)
    }

    fn spec(self, confinement: Confinement) -> ProcessSpec {
        ProcessSpec {
            program: Program::Own,
            name: "xzatoma".to_owned(),
            arguments: self.arguments,
            directory: if confinement == Confinement::Os { "/tmp" } else { "/" }.to_owned(),
            environment: BTreeMap::new(),
            search_path: Vec::new(),
            dirs: Vec::new(),
            toolchains: Vec::new(),
            hidden: Vec::new(),
            confinement,
            limits: ProcessLimits {
                memory_bytes: self.memory_bytes,
                processes: MAX_THREADS,
                ..ProcessLimits::default()
            },
            stdin: self.stdin,
            timeout: self.deadline,
            max_output: self.max_stdout,
            proxy: false,
        }
    }
}
