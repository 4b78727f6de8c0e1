//! The parts of the Rust toolchain that the project needs beyond the compiler.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::command::Program;
use crate::failure::Failure;
use crate::step::{note, step};
use crate::workspace::Workspace;

/// What the tools are compiled for.
pub const GUEST_TARGET: &str = "wasm32-wasip2";

/// Where the compiler in use keeps its libraries.
pub fn sysroot() -> Result<PathBuf, Failure> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let answer = Program::new(rustc).args(["--print", "sysroot"]).read()?;
    Ok(PathBuf::from(answer.trim_end()))
}

/// Sees to it that guests can be compiled; adds the target where rustup can.
pub fn ensure_guest_target() -> Result<(), Failure> {
    let sysroot = sysroot()?;
    if has_guest_target(&sysroot) {
        return Ok(());
    }
    if !Program::new("rustup").arg("--version").works() {
        return Err(Failure::Failed(without_rustup(&sysroot)));
    }
    step(&format!("adding the Rust target {GUEST_TARGET} by rustup (once)"), || {
        Program::new("rustup").args(["target", "add", GUEST_TARGET]).run()?;
        if has_guest_target(&sysroot) { Ok(()) } else { Err(not_of_rustup(&sysroot)) }
    })
}

/// A component of the toolchain that is a Cargo command, such as clippy.
pub fn ensure_component(
    workspace: &Workspace,
    command: &str,
    component: &str,
) -> Result<(), Failure> {
    let installed = || workspace.cargo().args([command, "--version"]).works();
    if installed() {
        return Ok(());
    }
    if Program::new("rustup").arg("--version").works() {
        note(&format!("adding {component} by rustup (once)"));
        Program::new("rustup").args(["component", "add", component]).run()?;
    }
    if installed() {
        return Ok(());
    }
    Err(Failure::failed(format!(
        "`cargo {command}` is needed and not installed. With rustup: \
         `rustup component add {component}`; else install {component} as you installed Rust."
    )))
}

fn has_guest_target(sysroot: &Path) -> bool {
    sysroot.join("lib/rustlib").join(GUEST_TARGET).join("lib").is_dir()
}

fn without_rustup(sysroot: &Path) -> String {
    format!(
        "the tools are compiled for {GUEST_TARGET}, which the Rust in {} does not have, and there \
         is no rustup to add it.\n\
         Either install rustup from https://rustup.rs and run this command again (it adds the \
         target by itself),\n\
         or install the standard library for {GUEST_TARGET} the way Rust was installed: it \
         belongs in {}.",
        sysroot.display(),
        sysroot.join("lib/rustlib").join(GUEST_TARGET).display()
    )
}

fn not_of_rustup(sysroot: &Path) -> Failure {
    Failure::failed(format!(
        "rustup added {GUEST_TARGET}, but the compiler in use is another one, in {}. Put rustup's \
         directory (usually ~/.cargo/bin) first in PATH, or install the target for that compiler.",
        sysroot.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::TemporaryDirectory;

    #[test]
    fn the_message_without_rustup_says_what_to_do() {
        let text = without_rustup(Path::new("/usr"));
        for part in ["https://rustup.rs", "/usr/lib/rustlib/wasm32-wasip2", GUEST_TARGET] {
            assert!(text.contains(part), "{part} is missing in: {text}");
        }
    }

    #[test]
    fn a_target_is_installed_when_its_library_is_there() {
        let sysroot = TemporaryDirectory::new("sysroot").unwrap();
        assert!(!has_guest_target(sysroot.path()));
        let library = sysroot.path().join("lib/rustlib/wasm32-wasip2/lib");
        std::fs::create_dir_all(library).unwrap();
        assert!(has_guest_target(sysroot.path()));
    }
}
