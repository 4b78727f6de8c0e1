//! `test`: builds what the tests need, and runs all of them.

use crate::checks;
use crate::command::Program;
use crate::failure::Failure;
use crate::guests::{self, TOOL_CRATES};
use crate::options::{GuestOptions, Profile, TestOptions};
use crate::step::step;
use crate::workspace::Workspace;

pub fn run(workspace: &Workspace, options: &TestOptions) -> Result<(), Failure> {
    if options.ci {
        checks::before_building(workspace)?;
    }
    guests::prepare(workspace, GuestOptions { profile: Profile::Dev, test_components: true })?;
    if options.ci {
        checks::lints(workspace)?;
    }
    let tests = |cargo: Program, packages: &[&str]| {
        let mut cargo = cargo.arg("test");
        for package in packages {
            cargo = cargo.args(["--package", package]);
        }
        if !options.passed_on.is_empty() {
            cargo = cargo.arg("--").args(&options.passed_on);
        }
        cargo.run()
    };
    step("testing the host and, through it, the tools and the hostile components", || {
        tests(workspace.cargo_with_tools(), &["xzatoma"])
    })?;
    // Apart from the host: together, Cargo would unify the features of what they share and build
    // the engine a second time.
    step("testing the parts of the tools that need no sandbox", || {
        let with_tests = workspace.packages_below(TOOL_CRATES).into_iter();
        let with_tests = with_tests.filter(|package| package.has_tests);
        let names: Vec<&str> = with_tests.map(|package| package.name.as_str()).collect();
        if names.is_empty() { Ok(()) } else { tests(workspace.cargo(), &names) }
    })?;
    step("testing xtask", || tests(workspace.cargo(), &["xtask"]))?;
    eprintln!("\nAll tests passed.");
    Ok(())
}
