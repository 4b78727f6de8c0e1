//! What `test --ci` checks besides the tests.

use crate::command::Program;
use crate::failure::Failure;
use crate::guests::{TEST_CRATES, TOOL_CRATES};
use crate::links;
use crate::step::{note, step};
use crate::toolchain::{self, GUEST_TARGET};
use crate::workspace::{Package, Workspace};

const DENY_WARNINGS: [&str; 3] = ["--", "-D", "warnings"];

/// The checks that need nothing to be built, so that they fail at once.
pub fn before_building(workspace: &Workspace) -> Result<(), Failure> {
    toolchain::ensure_component(workspace, "fmt", "rustfmt")?;
    toolchain::ensure_component(workspace, "clippy", "clippy")?;
    step("checking the format (`cargo fmt` repairs it)", || {
        workspace.cargo().args(["fmt", "--all", "--check"]).run()
    })?;
    step("checking the links in the documents", || links::check(&workspace.root))?;
    step("checking licences, sources and advisories of the dependencies", || deny(workspace))
}

fn deny(workspace: &Workspace) -> Result<(), Failure> {
    if !workspace.cargo().args(["deny", "--version"]).works() {
        note("skipped: cargo-deny is not installed (`cargo install cargo-deny --locked`)");
        return Ok(());
    }
    let check = || workspace.cargo().args(["deny", "check", "--hide-inclusion-graph"]);
    check().args(["licenses", "bans", "sources"]).run()?;
    // The list of advisories is fetched from elsewhere than the crates are, and may be out of
    // reach where these are not.
    if !workspace.cargo().args(["deny", "fetch", "db"]).works() {
        note("skipped: the list of advisories could not be fetched (`cargo deny fetch db`)");
        return Ok(());
    }
    check().arg("advisories").run()
}

/// Clippy, for everything; the host embeds the tools, which have to be built before.
pub fn lints(workspace: &Workspace) -> Result<(), Failure> {
    let tools = workspace.packages_below(TOOL_CRATES);
    let test_components = workspace.packages_below(TEST_CRATES);
    step("checking the host, its tests and xtask with clippy", || {
        let clippy = workspace.cargo_with_tools().args(["clippy", "--all-targets"]);
        clippy.args(["--package", "xzatoma", "--package", "xtask"]).args(DENY_WARNINGS).run()
    })?;
    step("checking the tools and the test components with clippy", || {
        let clippy = workspace.cargo().args(["clippy", "--target", GUEST_TARGET]);
        let clippy = with_packages(clippy, tools.iter().chain(&test_components));
        clippy.args(DENY_WARNINGS).run()
    })?;
    step("checking the tests of the tools, which run on this machine, with clippy", || {
        let clippy = workspace.cargo().args(["clippy", "--tests"]);
        let tested = tools.iter().filter(|package| package.has_tests);
        with_packages(clippy, tested).args(DENY_WARNINGS).run()
    })
}

fn with_packages<'a>(cargo: Program, packages: impl Iterator<Item = &'a &'a Package>) -> Program {
    packages.fold(cargo, |cargo, package| cargo.args(["--package", &package.name]))
}
