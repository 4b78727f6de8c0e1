//! Whether this system confines processes: tried, not guessed.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::run::run;
use crate::capability::process::spec::{
    HelperExe, ProcessError, ProcessLimits, ProcessSpec, Program,
};
use crate::policy::Confinement;

/// Far more than it takes; a machine that is this slow has other problems.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs a trivial program in the sandbox, once for each helper; the message says what is missing.
pub fn availability(helper: &HelperExe) -> Result<(), String> {
    static KNOWN: Mutex<Option<HashMap<HelperExe, Result<(), String>>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    if let Some(answer) = known.get(helper) {
        return answer.clone();
    }
    let answer = probe(helper);
    known.insert(helper.clone(), answer.clone());
    answer
}

fn probe(helper: &HelperExe) -> Result<(), String> {
    // On a thread of its own: the caller may be inside a runtime, which must not be entered twice.
    let probing = std::thread::scope(|scope| {
        scope
            .spawn(|| {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                let runtime = runtime.map_err(|error| ProcessError::Failed(error.to_string()))?;
                runtime.block_on(run(probe_spec(), helper, drop))
            })
            .join()
    });
    let finished = probing
        .map_err(|_| "the probe of the operating system's sandbox panicked".to_owned())?
        .map_err(|error| error.to_string())?;
    match finished.exit_code {
        Some(0) => Ok(()),
        _ => Err(format!(
            "the operating system's sandbox is not available: a trivial program in it ended with \
             {:?}, signal {:?}: {}",
            finished.exit_code,
            finished.signal,
            String::from_utf8_lossy(&finished.stderr.bytes)
        )),
    }
}

fn probe_spec() -> ProcessSpec {
    ProcessSpec {
        program: Program::Path(PathBuf::from("/bin/sh")),
        name: "sh".to_owned(),
        arguments: vec!["-c".to_owned(), ":".to_owned()],
        directory: "/tmp".to_owned(),
        environment: BTreeMap::new(),
        search_path: Vec::new(),
        dirs: Vec::new(),
        toolchains: Vec::new(),
        hidden: Vec::new(),
        confinement: Confinement::Os,
        limits: ProcessLimits::default(),
        stdin: Vec::new(),
        timeout: PATIENCE,
        max_output: 4096,
        proxy: false,
    }
}
