//! `guests`: compiles the tools to components and prepares them for being embedded.
//!
//! 1. Cargo compiles every guest crate for wasm32-wasip2.
//! 2. The components are copied to TOOLS, so that their place depends on no profile.
//! 3. A program of the host, with the very engine that will run them, precompiles them and asks
//!    them what they are. It is built in the profile of what is built next, so the engine is
//!    compiled once.
//! 4. `embedded.rs` lists them; the host's `main.rs` includes it.

mod embedded;
mod precompile;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::failure::Failure;
use crate::files;
use crate::json::Json;
use crate::options::{GuestOptions, Profile};
use crate::step::{note, step};
use crate::toolchain::{self, GUEST_TARGET};
use crate::workspace::{Package, Workspace};

pub const TOOL_CRATES: &str = "guest-tools";
pub const TEST_CRATES: &str = "tests/components";

pub fn run(workspace: &Workspace, options: GuestOptions) -> Result<(), Failure> {
    prepare(workspace, options)?;
    eprintln!("\nThe tools are in {}", workspace.tools().display());
    Ok(())
}

/// Everything that has to be there before the host itself can be built.
pub fn prepare(workspace: &Workspace, options: GuestOptions) -> Result<(), Failure> {
    toolchain::ensure_guest_target()?;
    let tools = workspace.components_below(TOOL_CRATES)?;
    if tools.is_empty() {
        return Err(Failure::failed(format!(
            "no crate in {TOOL_CRATES}/ is a component (crate-type = [\"cdylib\"])"
        )));
    }
    let directory = workspace.tools();
    step("building the tools as components (the first time: a minute or more)", || {
        build(workspace, &tools, &directory)
    })?;
    if options.test_components {
        let components = workspace.components_below(TEST_CRATES)?;
        step("building the components that the tests use", || {
            build(workspace, &components, &directory.join("tests"))
        })?;
    }
    let precompiler = step(
        "building the program that precompiles the tools (the first time: several minutes, for \
         the engine)",
        || build_precompiler(workspace, options.profile),
    )?;
    let names: Vec<&str> = tools.iter().map(|tool| tool.tool.as_str()).collect();
    step("precompiling the tools", || {
        precompile::precompile(&precompiler, &directory, &names)?;
        names.iter().try_for_each(|name| check_own_name(&directory, name))
    })?;
    let text = embedded::source(&names);
    files::write_if_changed(&directory.join("embedded.rs"), text.as_bytes())?;
    Ok(())
}

/// Compiles crates to components and copies each to NAME.wasm in `directory`.
fn build(workspace: &Workspace, packages: &[&Package], directory: &Path) -> Result<(), Failure> {
    files::create_directory(directory)?;
    remove_stale(directory, packages)?;
    if packages.is_empty() {
        note("there are none");
        return Ok(());
    }
    let mut cargo = workspace
        .cargo()
        .args(["build", "--target", GUEST_TARGET, "--profile", "guest"])
        .args(["--message-format", "json-render-diagnostics"]);
    for package in packages {
        cargo = cargo.args(["--package", &package.name]);
    }
    let messages = cargo.read()?;
    for package in packages {
        let built = artifact(&messages, package, ".wasm").ok_or_else(|| {
            Failure::failed(format!("Cargo built no component from `{}`", package.name))
        })?;
        let copy = directory.join(format!("{}.wasm", package.tool));
        if files::write_if_changed(&copy, &files::read(&built)?)? {
            note(&format!("{} is new or has changed", package.tool));
        }
    }
    Ok(())
}

/// A tool that is called one thing by its crate and another by itself could not be found.
fn check_own_name(directory: &Path, name: &str) -> Result<(), Failure> {
    let file = directory.join(format!("{name}.json"));
    let text = files::read(&file)?;
    let definition = Json::parse(&String::from_utf8_lossy(&text))
        .map_err(|problem| Failure::failed(format!("{}: {problem}", file.display())))?;
    match definition.get("name").text() {
        Some(own) if own == name => Ok(()),
        own => Err(Failure::failed(format!(
            "the tool `{name}` calls itself `{}`; set `tool` in [package.metadata.xzatoma] of its \
             Cargo.toml to the name by which it is called",
            own.unwrap_or_default()
        ))),
    }
}

/// What an earlier run left for a crate that has since been renamed or removed: a test must not
/// find it.
fn remove_stale(directory: &Path, packages: &[&Package]) -> Result<(), Failure> {
    let current: BTreeSet<&str> = packages.iter().map(|package| package.tool.as_str()).collect();
    for file in files::files_in(directory)? {
        let ours = ["wasm", "cwasm", "json", "stamp"].map(Some).contains(&extension(&file));
        let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        if ours && !current.contains(stem) {
            files::remove(&file)?;
        }
    }
    Ok(())
}

fn extension(file: &Path) -> Option<&str> {
    file.extension().and_then(|extension| extension.to_str())
}

fn build_precompiler(workspace: &Workspace, profile: Profile) -> Result<PathBuf, Failure> {
    const PROGRAM: &str = "xzatoma-precompile";
    let mut cargo = workspace.cargo_with_tools().args(["build", "--package", "xzatoma"]);
    if profile == Profile::Release {
        cargo = cargo.arg("--release");
    }
    cargo = cargo.args(["--bin", PROGRAM, "--message-format", "json-render-diagnostics"]);
    let messages = cargo.read()?;
    executable(&messages, PROGRAM)
        .ok_or_else(|| Failure::failed(format!("Cargo built no program `{PROGRAM}`")))
}

/// The program of that name among Cargo's messages.
pub fn executable(messages: &str, name: &str) -> Option<PathBuf> {
    artifacts(messages)
        .filter(|message| message.get("target").get("name").text() == Some(name))
        .find_map(|message| message.get("executable").text().map(PathBuf::from))
}

fn artifact(messages: &str, package: &Package, ending: &str) -> Option<PathBuf> {
    let manifest = package.directory.join("Cargo.toml");
    artifacts(messages)
        .filter(|message| message.get("manifest_path").text().map(Path::new) == Some(&manifest))
        .flat_map(|message| message.get("filenames").list().to_vec())
        .find_map(|file| file.text().filter(|file| file.ends_with(ending)).map(PathBuf::from))
}

/// Cargo writes one message a line; what is no message (a build script that prints) is not ours.
fn artifacts(messages: &str) -> impl Iterator<Item = Json> {
    messages
        .lines()
        .filter_map(|line| Json::parse(line).ok())
        .filter(|message| message.get("reason").text() == Some("compiler-artifact"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGES: &str = r#"
{"reason":"compiler-artifact","manifest_path":"/w/a/Cargo.toml","target":{"name":"a"},"filenames":["/t/a.d","/t/a.wasm"],"executable":null}
not a message
{"reason":"compiler-artifact","manifest_path":"/w/host/Cargo.toml","target":{"name":"xzatoma"},"filenames":["/t/xzatoma.rlib"],"executable":null}
{"reason":"compiler-artifact","manifest_path":"/w/host/Cargo.toml","target":{"name":"xzatoma"},"filenames":["/t/xzatoma"],"executable":"/t/xzatoma"}
{"reason":"build-finished","success":true}"#;

    fn package(name: &str) -> Package {
        Package {
            name: name.into(),
            directory: Path::new("/w").join(name),
            tool: name.into(),
            is_component: true,
            has_tests: false,
        }
    }

    #[test]
    fn artifacts_are_found_among_the_messages() {
        assert_eq!(artifact(MESSAGES, &package("a"), ".wasm"), Some("/t/a.wasm".into()));
        assert_eq!(artifact(MESSAGES, &package("b"), ".wasm"), None);
        assert_eq!(executable(MESSAGES, "xzatoma"), Some("/t/xzatoma".into()));
        assert_eq!(executable(MESSAGES, "a"), None);
    }

    #[test]
    fn a_tool_has_one_name() {
        let directory = files::TemporaryDirectory::new("guests-name").unwrap();
        let file = directory.path().join("grep.json");
        files::write(&file, br#"{"name":"grep"}"#).unwrap();
        check_own_name(directory.path(), "grep").unwrap();
        for wrong in [r#"{"name":"rg"}"#, "{}", "text"] {
            files::write(&file, wrong.as_bytes()).unwrap();
            assert!(check_own_name(directory.path(), "grep").is_err(), "{wrong}");
        }
    }

    #[test]
    fn only_stale_files_of_ours_are_removed() {
        let directory = files::TemporaryDirectory::new("guests-stale").unwrap();
        for name in ["a.wasm", "a.cwasm", "old.wasm", "old.json", "old.stamp", "embedded.rs"] {
            files::write_if_changed(&directory.path().join(name), b"x").unwrap();
        }
        remove_stale(directory.path(), &[&package("a")]).unwrap();
        let left: Vec<_> = files::files_in(directory.path())
            .unwrap()
            .iter()
            .map(|file| file.file_name().unwrap().to_str().unwrap().to_owned())
            .collect();
        assert_eq!(left, ["a.cwasm", "a.wasm", "embedded.rs"]);
    }
}
