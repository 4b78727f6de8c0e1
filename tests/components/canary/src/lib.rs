//! Adds two numbers. That it still does after every hostile call is what the suite checks.

use schemars::JsonSchema;
use serde::Deserialize;
use xzatoma_tool::{Error, Output, Result, tool};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The first number.
    a: i64,
    /// The second number.
    b: i64,
    /// How long to wait first; the benchmarks keep many instances alive that way.
    #[serde(default)]
    sleep_ms: u64,
}

fn call(arguments: Arguments) -> Result {
    if arguments.sleep_ms > 0 {
        std::thread::sleep(std::time::Duration::from_millis(arguments.sleep_ms));
    }
    let sum = arguments.a.checked_add(arguments.b);
    let sum =
        sum.ok_or_else(|| Error::invalid_input("the sum does not fit; take smaller numbers"))?;
    Ok(Output::text(sum.to_string()))
}

tool! {
    name: "canary",
    description: "Adds two numbers.",
    mutates: false,
    capabilities: [],
    call: call,
}
