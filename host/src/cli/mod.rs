//! The command line: the only code that prints, besides `main`.

mod call;
mod explain;
mod failure;
mod options;
mod prompt;
mod session;
mod show;
mod text;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::sandbox::BuiltIn;
pub use failure::{Exit, Failure};
use options::SandboxOptions;

/// An agent that you can hand an untrusted task to: every tool is a sandboxed WebAssembly
/// component that gets exactly the authority you grant.
#[derive(Debug, Parser)]
#[command(name = "xzatoma", version, max_term_width = 100, after_help = EXAMPLES)]
struct Cli {
    /// How log lines on standard error look; RUST_LOG chooses which there are
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,

    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  xzatoma tools list
  xzatoma tools call grep '{\"pattern\":\"TODO\",\"path\":\"src\"}'
  xzatoma tools call terminal '{\"command\":[\"ls\",\"-l\"]}' \\
      --sandbox strict --allow-command ls
  xzatoma sandbox explain --sandbox strict --allow-write out

Exit codes:
  0 done   1 failed   2 usage or invalid input   10 denied   11 a limit
  13 the sandbox is not available here   130 interrupted";

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

#[allow(clippy::large_enum_variant, reason = "one is made, once")]
#[derive(Debug, Subcommand)]
enum Command {
    /// The tools: see what there is, and call one without any model
    #[command(subcommand)]
    Tools(Tools),
    /// What an agent may do
    #[command(subcommand)]
    Sandbox(Explain),
}

#[allow(clippy::large_enum_variant, reason = "one is made, once")]
#[derive(Debug, Subcommand)]
enum Tools {
    /// List the tools
    List {
        #[command(flatten)]
        components: options::ComponentOptions,
        /// One JSON document for programs
        #[arg(long)]
        json: bool,
    },
    /// Show what a tool takes and what it asks for
    Show {
        name: String,
        #[command(flatten)]
        components: options::ComponentOptions,
        /// One JSON document for programs
        #[arg(long)]
        json: bool,
    },
    /// Call a tool under a chosen level, without any model
    #[command(after_help = CALL_EXAMPLES)]
    Call {
        /// The tool's name
        name: String,
        /// Its arguments as JSON; `-` reads them from standard input
        #[arg(default_value = "{}")]
        arguments: String,
        #[command(flatten)]
        sandbox: SandboxOptions,
        /// One JSON document for programs: output or error, and the receipt
        #[arg(long)]
        json: bool,
    },
}

const CALL_EXAMPLES: &str = "\
Examples:
  xzatoma tools call grep '{\"pattern\":\"TODO\",\"path\":\"src\"}'
  xzatoma tools call file_ops_readonly \\
      '{\"operation\":\"read\",\"path\":\"README.md\"}'
  xzatoma tools call file_ops --sandbox strict --allow-write out \\
      '{\"operation\":\"write\",\"path\":\"out/a.txt\",\"content\":\"hi\"}'
  xzatoma tools call fetch --allow-host example.com \\
      '{\"url\":\"https://example.com/\"}'
  echo '{\"pattern\":\"fn main\"}' | xzatoma tools call grep - --json
  xzatoma tools call my_tool '{}' --component my_tool.wasm --timeout 5

Exit codes: 0 output, 2 invalid-input, 10 denied, 11 limit-exceeded, else 1;
13 when the level needs an operating-system sandbox that is not available here.";

#[derive(Debug, Subcommand)]
enum Explain {
    /// Print the effective grant, and where each part of it comes from
    Explain {
        #[command(flatten)]
        sandbox: SandboxOptions,
        /// Only this tool
        #[arg(long, value_name = "NAME")]
        tool: Option<String>,
        /// One JSON document for programs
        #[arg(long)]
        json: bool,
    },
}

/// Parses the command line, does what it says, and answers the exit code.
pub fn main(built_ins: &'static [BuiltIn]) -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are not errors; clap knows which stream each goes to.
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Done };
            if error.print().is_err() {
                return Exit::Failed.into();
            }
            return exit.into();
        }
    };
    start_log(cli.log_format);
    match run(cli.command, built_ins) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            text::error(&failure.message);
            failure.exit.into()
        }
    }
}

fn run(command: Command, built_ins: &'static [BuiltIn]) -> Result<Exit, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::failed(format!("no runtime could be started: {error}")))?;
    let work = async {
        match command {
            Command::Tools(Tools::List { components, json }) => {
                show::list(built_ins, &components, json).await
            }
            Command::Tools(Tools::Show { name, components, json }) => {
                show::show(built_ins, &name, &components, json).await
            }
            Command::Tools(Tools::Call { name, arguments, sandbox, json }) => {
                call::call(built_ins, &name, &arguments, &sandbox, json).await
            }
            Command::Sandbox(Explain::Explain { sandbox, tool, json }) => {
                explain::explain(built_ins, &sandbox, tool.as_deref(), json).await
            }
        }
    };
    let result = runtime.block_on(async {
        tokio::select! {
            result = work => result,
            _ = tokio::signal::ctrl_c() => Ok(Exit::Interrupted),
        }
    });
    // A guest's thread that is stuck in a system call must not keep us.
    runtime.shutdown_background();
    result
}

fn start_log(format: LogFormat) {
    use tracing_subscriber::EnvFilter;
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().init(),
    }
}

/// The child that compiles a component for the cache.
pub fn compile() -> ExitCode {
    match crate::sandbox::compile_main() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            text::error(&message);
            ExitCode::FAILURE
        }
    }
}
