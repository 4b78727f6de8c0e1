//! `bench`: measures with optimisations on.

use crate::failure::Failure;
use crate::guests;
use crate::options::{BenchOptions, GuestOptions, Profile};
use crate::step::step;
use crate::workspace::Workspace;

pub fn run(workspace: &Workspace, options: &BenchOptions) -> Result<(), Failure> {
    let guests = GuestOptions { profile: Profile::Release, test_components: true };
    guests::prepare(workspace, guests)?;
    let bench = || {
        let cargo = workspace.cargo_with_tools().args(["bench", "--package", "xzatoma"]);
        cargo.args(["--bench", "sandbox"])
    };
    // Built first and apart, so that nothing else is busy when it measures.
    step("building the benchmark with optimisations (the first time: several minutes)", || {
        bench().arg("--no-run").run()
    })?;
    step("measuring", || bench().arg("--").args(&options.passed_on).run())
}
