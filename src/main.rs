//! The `stowplan` command: parses arguments, calls one function, and maps the result to an exit code.

// The one place that prints what went wrong with the command itself.
#![allow(clippy::print_stderr, clippy::disallowed_methods)]

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use stowplan::cli::{Arguments, Command};
#[cfg(feature = "cluster")]
use stowplan::config::RunSettings;
use stowplan::config::{SimulateSettings, Terminal};
use stowplan::simulate;

/// Bad usage or unreadable input; nothing was done.
const UNUSABLE: u8 = 2;

fn main() -> ExitCode {
    let arguments =
        Arguments::from_arg_matches(&command().get_matches()).unwrap_or_else(|error| error.exit());
    match arguments.command {
        Command::Simulate(arguments) => {
            start_logging(arguments.verbosity.verbosity);
            match SimulateSettings::new(arguments, Terminal::detect()) {
                Ok(settings) => outcome(simulate::run(&settings)),
                Err(error) => unusable(&error),
            }
        }
        #[cfg(feature = "cluster")]
        Command::Run(arguments) => {
            start_logging(arguments.verbosity.verbosity.max(1));
            match RunSettings::new(arguments) {
                Ok(settings) => outcome(stowplan::cluster::run(settings).map(|()| true)),
                Err(error) => unusable(&error),
            }
        }
    }
}

/// The command line; called `kubectl stowplan` when kubectl calls it as its plugin.
fn command() -> clap::Command {
    let program = std::env::args_os().next().unwrap_or_default();
    let plugin = std::path::Path::new(&program).file_stem().is_some_and(|name| name == "kubectl-stowplan");
    if plugin { Arguments::command().bin_name("kubectl stowplan") } else { Arguments::command() }
}

fn start_logging(verbosity: u8) {
    let level = match verbosity {
        0 => tracing::Level::WARN,
        1 | 2 => tracing::Level::INFO,
        3 | 4 => tracing::Level::DEBUG,
        _ => tracing::Level::TRACE,
    };
    let terminal = std::io::stderr().is_terminal();
    tracing_subscriber::fmt().with_max_level(level).with_ansi(terminal).with_writer(std::io::stderr).init();
}

/// `Ok(true)`: nothing is left to be said; `Ok(false)`: something stays pending, or a finding.
fn outcome<E: std::fmt::Display>(result: Result<bool, E>) -> ExitCode {
    match result {
        Ok(clean) => ExitCode::from(u8::from(!clean)),
        Err(error) => unusable(&error),
    }
}

fn unusable(error: &impl std::fmt::Display) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::from(UNUSABLE)
}
