//! Raw arguments, as typed. What they may be is decided in [`crate::config`].

use std::path::PathBuf;

use clap::builder::BoolishValueParser;
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

/// The command line.
#[derive(Clone, Debug, Parser)]
#[command(
    name = "stowplan",
    version,
    about = "A Kubernetes scheduler that knows devices",
    long_about = "A Kubernetes scheduler that knows devices: it serves the pods whose schedulerName names it, \
                  allocates their ResourceClaims (resource.k8s.io/v1) and binds them. The same core answers \
                  offline, from manifests or a cluster dump.",
    propagate_version = true,
    subcommand_required = true,
    arg_required_else_help = true
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Clone, Debug, Subcommand)]
pub enum Command {
    /// Schedule the pending pods of manifests, without a cluster
    Simulate(SimulateArguments),
    /// Schedule the pods of a cluster
    #[cfg(feature = "cluster")]
    Run(RunArguments),
}

/// The release that is emulated, and its gates.
#[derive(Clone, Debug, Args)]
pub struct EmulationArguments {
    /// Feature gates by upstream's names, as Gate=true|false,… (repeatable)
    #[arg(long, value_name = "GATES")]
    pub feature_gates: Vec<String>,
    /// The Kubernetes release whose defaults and rules apply: 1.34, 1.35, 1.36 or 1.37
    #[arg(long, value_name = "VERSION", default_value = "1.37")]
    pub kubernetes_version: String,
    /// Follow a change of kube-scheduler that came after 1.37.2, by the number of its pull request (repeatable);
    /// 141898: an unusable pool keeps mode All from its nodes only
    #[arg(long, value_name = "NUMBER")]
    pub upstream_change: Vec<u32>,
}

/// How much is said beside the answer.
#[derive(Clone, Debug, Args)]
pub struct VerbosityArguments {
    /// Say more; -v=4 says most
    #[arg(short = 'v', long = "v", value_name = "LEVEL", num_args = 0..=1, require_equals = true,
          default_value = "0", default_missing_value = "1")]
    pub verbosity: u8,
}

/// How a report is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// A table for a terminal
    Table,
    /// The table with shares, capacity and tolerations
    Wide,
    /// One JSON object
    Json,
    /// The same as YAML
    Yaml,
}

/// Arguments of `stowplan simulate`.
#[derive(Clone, Debug, Args)]
#[command(after_long_help = EXIT_CODES)]
pub struct SimulateArguments {
    /// Manifests: files, folders, globs, or - for standard input (repeatable)
    #[arg(short = 'f', long = "filename", value_name = "FILE", num_args = 1.., required = true)]
    pub files: Vec<PathBuf>,
    /// The form of the report
    #[arg(short, long, value_enum, default_value_t = OutputFormat::Table)]
    pub output: OutputFormat,
    /// Take only pods of this schedulerName (repeatable; without it every pending pod is taken)
    #[arg(long, value_name = "NAME")]
    pub scheduler_name: Vec<String>,
    /// The release that is emulated.
    #[command(flatten)]
    pub emulation: EmulationArguments,
    /// Decides between nodes of equal score
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,
    /// Print nothing beside the report
    #[arg(short, long, action = ArgAction::SetTrue, conflicts_with = "verbosity")]
    pub quiet: bool,
    /// How much is said beside the answer.
    #[command(flatten)]
    pub verbosity: VerbosityArguments,
}

/// Arguments of `stowplan run`, named as kube-scheduler names them.
#[derive(Clone, Debug, Args)]
pub struct RunArguments {
    /// The kubeconfig file; without it $KUBECONFIG, ~/.kube/config or the pod's service account
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// Serve the pods of this schedulerName (repeatable)
    #[arg(long, value_name = "NAME", default_value = "stowplan")]
    pub scheduler_name: Vec<String>,
    /// Work only while holding the leader lease
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "true",
          default_missing_value = "true", value_parser = BoolishValueParser::new())]
    pub leader_elect: bool,
    /// The release that is emulated.
    #[command(flatten)]
    pub emulation: EmulationArguments,
    /// Decides between nodes of equal score
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,
    /// How much is said beside the answer.
    #[command(flatten)]
    pub verbosity: VerbosityArguments,
}

const EXIT_CODES: &str = "Exit codes:
  0  every pod is placed and nothing is wrong
  1  a pod stays pending, or an object is invalid
  2  bad usage or unreadable input; nothing was done";

#[cfg(test)]
mod tests {
    use super::*;

    fn simulate(arguments: &[&str]) -> SimulateArguments {
        let line = ["stowplan", "simulate"].iter().chain(arguments);
        match Arguments::try_parse_from(line).expect("the line is well formed").command {
            Command::Simulate(arguments) => arguments,
            #[cfg(feature = "cluster")]
            Command::Run(_) => unreachable!("the line says simulate"),
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }

    #[test]
    fn several_files_follow_one_flag() {
        assert_eq!(simulate(&["-f", "a.yaml", "b.yaml", "-f", "-"]).files.len(), 3);
    }

    #[test]
    fn the_verbosity_is_a_flag_with_an_optional_level() {
        for (flag, level) in [("-v", 1), ("-v=4", 4), ("--v=2", 2)] {
            assert_eq!(simulate(&[flag, "-f", "x"]).verbosity.verbosity, level, "{flag}");
        }
    }
}
