//! `cargo xtask bench`: what the sandbox costs, each figure beside what one would do without it,
//! in one run on one machine.
//!
//! Everything goes through `ToolHost::call` with a real grant, deadline and receipt, as the agent
//! does it. Ratios are what counts; the times are only as good as the machine is quiet.
//!
//! Options: `--json FILE` writes the figures, `--only NAME` runs one group (small, grep, read,
//! fetch, start, memory, timer), `--tree-mb N` sets the size of the tree that grep searches.

#![allow(clippy::print_stdout, clippy::print_stderr, clippy::disallowed_methods)]

mod fetch;
mod files;
mod grep;
mod measure;
mod memory;
mod small;
mod start;
mod timer;
mod tree;
mod world;

mod built_in {
    include!(concat!(env!("XZATOMA_TOOLS_DIR"), "/embedded.rs"));
}

use measure::Figures;

struct Options {
    json: Option<std::path::PathBuf>,
    only: Option<String>,
    tree_mb: usize,
}

fn options() -> Result<Options, String> {
    let mut options = Options { json: None, only: None, tree_mb: 200 };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--json" => options.json = Some(value()?.into()),
            "--only" => options.only = Some(value()?),
            "--tree-mb" => {
                options.tree_mb =
                    value()?.parse().map_err(|_| "--tree-mb needs a number".to_owned())?;
            }
            // What `cargo bench` passes to every benchmark.
            "--bench" => {}
            other => return Err(format!("unknown option {other}")),
        }
    }
    Ok(options)
}

fn main() {
    xzatoma::capability::process::become_helper_if_asked();
    let options = match options() {
        Ok(options) => options,
        Err(message) => {
            eprintln!("bench: {message}");
            std::process::exit(2);
        }
    };
    // As many as the memory of live instances is measured with, and some to spare.
    xzatoma::sandbox::reserve_live_calls(10_100);
    let mut figures = Figures::default();
    type Group<'a> = (&'a str, &'a dyn Fn(&mut Figures));
    let groups: [Group<'_>; 7] = [
        ("small", &small::run),
        ("read", &files::run),
        ("fetch", &fetch::run),
        ("start", &start::run),
        ("grep", &|figures| grep::run(figures, options.tree_mb)),
        ("timer", &|figures| timer::run(figures, options.tree_mb)),
        ("memory", &memory::run),
    ];
    for (name, group) in groups {
        if options.only.as_deref().is_none_or(|only| only == name) {
            eprintln!("measuring: {name}");
            group(&mut figures);
        }
    }
    figures.print();
    if let Some(path) = options.json
        && let Err(error) = std::fs::write(&path, figures.json())
    {
        eprintln!("bench: cannot write {}: {error}", path.display());
        std::process::exit(1);
    }
}
