//! Systems on which processes cannot be confined yet: nothing is started, and the answer says so.

use std::ffi::OsStr;
use std::net::TcpListener;
use std::path::PathBuf;

use super::spec::{Finished, GrantedDir, HelperExe, LimitedChild, ProcessError, ProcessSpec};
use crate::policy::Confinement;

const REASON: &str = "terminal is not available on this system; native processes need Linux, where \
                      the operating system can confine them";

/// There is no helper here.
pub fn become_helper_if_asked() {}

pub fn availability(_helper: &HelperExe) -> Result<(), String> {
    Err(REASON.to_owned())
}

pub async fn run(
    _spec: ProcessSpec,
    _helper: &HelperExe,
    _on_listener: impl FnOnce(TcpListener),
) -> Result<Finished, ProcessError> {
    Err(ProcessError::Unavailable(REASON.to_owned()))
}

pub fn search_path(
    _path: &OsStr,
    _dirs: &[GrantedDir],
    _toolchains: &[PathBuf],
    _confinement: Confinement,
) -> Vec<PathBuf> {
    Vec::new()
}

pub fn resolve_program(
    _name: &str,
    _directory: &str,
    _search_path: &[PathBuf],
    _dirs: &[GrantedDir],
    _toolchains: &[PathBuf],
    _confinement: Confinement,
) -> Result<PathBuf, ProcessError> {
    Err(ProcessError::Unavailable(REASON.to_owned()))
}

impl LimitedChild {
    pub async fn run(self, _helper: &HelperExe) -> Result<Finished, ProcessError> {
        Err(ProcessError::Unavailable(REASON.to_owned()))
    }
}
