//! Searching a tree against ripgrep: same tree, same pattern, both warm.

use std::process::{Command, Stdio};

use super::measure::{Figures, Promise, medians, millis, ratio};
use super::tree;
use super::world::{Scratch, World, runtime};

struct Search {
    name: &'static str,
    pattern: &'static str,
    case_sensitive: bool,
    against_one: f64,
    against_all: Option<f64>,
}

const SEARCHES: [Search; 4] = [
    Search {
        name: "rare literal",
        pattern: tree::RARE,
        case_sensitive: true,
        against_one: 1.5,
        against_all: Some(2.0),
    },
    Search {
        name: "common word",
        pattern: tree::COMMON,
        case_sensitive: true,
        against_one: 1.5,
        against_all: Some(2.0),
    },
    Search {
        name: "alternation",
        pattern: "zymurgy|quixotry|oxyphenbutazone|flapdoodle",
        case_sensitive: true,
        against_one: 3.0,
        against_all: None,
    },
    Search {
        name: "case-insensitive",
        pattern: "ZyMurGy",
        case_sensitive: false,
        against_one: 3.0,
        against_all: None,
    },
];

pub fn run(figures: &mut Figures, tree_mb: usize) {
    if Command::new("rg").arg("--version").stdout(Stdio::null()).status().is_err() {
        figures.add("grep", "not measured", "rg is not installed (Debian: ripgrep)", None, None);
        return;
    }
    let scratch = Scratch::new("grep");
    let files = tree::make(scratch.path(), tree_mb << 20);
    let runtime = runtime();
    let world = runtime.block_on(World::new(scratch.path(), Vec::new()));
    for search in SEARCHES {
        // Count the matches: both read and search everything, and neither is slowed by printing.
        let arguments = serde_json::json!({
            "pattern": search.pattern,
            "case_sensitive": search.case_sensitive,
            "output": "count",
            "max_results": 10_000,
        })
        .to_string();
        let ours = || {
            runtime.block_on(world.call("grep", &arguments));
        };
        let rg = |threads: Option<&str>| {
            let mut command = Command::new("rg");
            command.args(["--count", "--no-messages", "--no-config"]).args(threads);
            if !search.case_sensitive {
                command.arg("--ignore-case");
            }
            command
                .args(["--", search.pattern, "."])
                .current_dir(scratch.path())
                .stdout(Stdio::null());
            command.status().expect("rg runs");
        };
        ours();
        let (our_time, one) = medians(7, ours, || rg(Some("-j1")));
        let (_, all) = medians(7, || {}, || rg(None));
        let name = format!("grep, {}, {files} files, {tree_mb} MB", search.name);
        figures.add(
            &format!("{name}, against rg -j1"),
            millis(our_time),
            millis(one),
            Some(ratio(our_time, one)),
            Some(Promise::AtMost(search.against_one)),
        );
        figures.add(
            &format!("{name}, against rg"),
            millis(our_time),
            millis(all),
            Some(ratio(our_time, all)),
            search.against_all.map(Promise::AtMost),
        );
    }
}
