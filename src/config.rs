//! Settings: arguments after every check. No later stage checks them again.

#![allow(clippy::disallowed_methods, reason = "looks at the terminal and at NO_COLOR, once")]

use std::fmt;
use std::io::IsTerminal;
use std::path::PathBuf;

pub use crate::cli::OutputFormat;
use crate::cli::{EmulationArguments, RunArguments, SimulateArguments};
use crate::model::features::GateError;
use crate::model::{Features, KubernetesVersion, Name};

/// Where manifests come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    StandardInput,
    /// A file, a folder, or a glob.
    Path(PathBuf),
}

/// Settings of `stowplan simulate`.
#[derive(Clone, Debug)]
pub struct SimulateSettings {
    /// What to read, in order. Standard input at most once.
    pub sources: Vec<Source>,
    /// The form of the report.
    pub output: OutputFormat,
    /// The scheduler names whose pods are taken; none means every pod.
    pub scheduler_names: Vec<Name>,
    /// The release emulated and its gates.
    pub features: Features,
    /// Decides between nodes of equal score.
    pub seed: u64,
    /// Whether the report may use colour.
    pub colour: bool,
    /// Whether remarks beside the report are wanted.
    pub remarks: bool,
    /// Whether progress may be shown.
    pub progress: bool,
}

/// Settings of `stowplan run`.
#[derive(Clone, Debug)]
pub struct RunSettings {
    /// The kubeconfig file, if one was named.
    pub kubeconfig: Option<PathBuf>,
    /// The scheduler names whose pods are served; at least one.
    pub scheduler_names: Vec<Name>,
    /// Whether to work only while holding the leader lease.
    pub leader_elect: bool,
    /// The release emulated and its gates.
    pub features: Features,
    /// Decides between nodes of equal score.
    pub seed: u64,
}

/// Why arguments cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// The release is not one of those known.
    Version {
        /// The text given.
        text: String,
    },
    /// A feature gate cannot be set so.
    Gate(GateError),
    /// A change of upstream's that is not known.
    Change(GateError),
    /// Standard input is named twice.
    StandardInputTwice,
    /// A scheduler name is empty.
    EmptySchedulerName,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version { text } => {
                let known = KubernetesVersion::ALL.map(KubernetesVersion::as_str).join(", ");
                write!(f, "--kubernetes-version {text:?}: not a release known here; name one of {known}")
            }
            Self::Gate(error) => write!(f, "--feature-gates: {error}"),
            Self::Change(error) => write!(f, "--upstream-change: {error}"),
            Self::StandardInputTwice => {
                write!(f, "-f -: standard input can be read once only; name - a single time")
            }
            Self::EmptySchedulerName => {
                write!(f, "--scheduler-name \"\": empty; name a scheduler, or leave the flag out")
            }
        }
    }
}

impl std::error::Error for ConfigError {}

/// What the terminal allows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terminal {
    /// Standard output may be coloured.
    pub colour: bool,
    /// Standard error can show progress.
    pub progress: bool,
}

impl Terminal {
    /// Looks at the streams and at `NO_COLOR` (<https://no-color.org>: set and not empty).
    pub fn detect() -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self { colour: std::io::stdout().is_terminal() && !plain, progress: std::io::stderr().is_terminal() }
    }
}

impl SimulateSettings {
    /// Checks the arguments.
    ///
    /// # Errors
    /// The first argument that cannot be used.
    pub fn new(arguments: SimulateArguments, terminal: Terminal) -> Result<Self, ConfigError> {
        let emulation = &arguments.emulation;
        Ok(Self {
            features: features(emulation)?,
            scheduler_names: scheduler_names(&arguments.scheduler_name)?,
            sources: sources(arguments.files)?,
            output: arguments.output,
            seed: arguments.seed,
            colour: terminal.colour,
            remarks: !arguments.quiet,
            progress: terminal.progress && !arguments.quiet,
        })
    }
}

impl RunSettings {
    /// Checks the arguments.
    ///
    /// # Errors
    /// The first argument that cannot be used.
    pub fn new(arguments: RunArguments) -> Result<Self, ConfigError> {
        let emulation = &arguments.emulation;
        Ok(Self {
            features: features(emulation)?,
            scheduler_names: scheduler_names(&arguments.scheduler_name)?,
            kubeconfig: arguments.kubeconfig,
            leader_elect: arguments.leader_elect,
            seed: arguments.seed,
        })
    }
}

/// The sources of that name; `-` is standard input, at most once.
fn sources(files: Vec<PathBuf>) -> Result<Vec<Source>, ConfigError> {
    let sources: Vec<_> = files
        .into_iter()
        .map(|file| if file.as_os_str() == "-" { Source::StandardInput } else { Source::Path(file) })
        .collect();
    if sources.iter().filter(|source| **source == Source::StandardInput).count() > 1 {
        return Err(ConfigError::StandardInputTwice);
    }
    Ok(sources)
}

/// The scheduler names, none of them empty.
fn scheduler_names(names: &[String]) -> Result<Vec<Name>, ConfigError> {
    if names.iter().any(|name| name.trim().is_empty()) {
        return Err(ConfigError::EmptySchedulerName);
    }
    Ok(names.iter().map(|name| Name::from(name.trim())).collect())
}

/// The gates of a release with some of them set. The version is `1.37`, `v1.37` or a patch release
/// such as `v1.37.2`; each text of gates is `Gate=true|false,…`.
fn features(emulation: &EmulationArguments) -> Result<Features, ConfigError> {
    let version = &emulation.kubernetes_version;
    let bare = version.trim().trim_start_matches('v');
    let known = KubernetesVersion::ALL
        .into_iter()
        .find(|known| {
            bare.strip_prefix(known.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        })
        .ok_or_else(|| ConfigError::Version { text: version.to_owned() })?;
    let mut features = Features::of(known);
    for text in &emulation.feature_gates {
        features.set(text).map_err(ConfigError::Gate)?;
    }
    for number in &emulation.upstream_change {
        features.follow(*number).map_err(ConfigError::Change)?;
    }
    Ok(features)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::FeatureGate;
    use crate::model::features::LaterChange;

    fn emulation(version: &str, gates: &[&str], changes: &[u32]) -> EmulationArguments {
        EmulationArguments {
            feature_gates: gates.iter().map(|text| (*text).to_owned()).collect(),
            kubernetes_version: version.to_owned(),
            upstream_change: changes.to_vec(),
        }
    }

    #[test]
    fn a_patch_release_means_its_minor_release() {
        for text in ["1.35", "v1.35", "v1.35.4"] {
            let features = features(&emulation(text, &[], &[])).expect("a known release");
            assert_eq!(features.version, KubernetesVersion::V1_35, "{text}");
        }
        for text in ["1.3", "1.351", "latest"] {
            assert!(
                matches!(features(&emulation(text, &[], &[])), Err(ConfigError::Version { .. })),
                "{text}"
            );
        }
    }

    #[test]
    fn gates_are_set_over_the_defaults_of_the_release() {
        let features =
            features(&emulation("1.34", &["DRADeviceTaints=true"], &[])).expect("a gate of that release");
        assert!(features.has(FeatureGate::DRADeviceTaints));
        assert!(!features.has(FeatureGate::DRAConsumableCapacity));
        let unknown = super::features(&emulation("1.37", &["No=true"], &[]));
        assert!(matches!(unknown, Err(ConfigError::Gate(_))));
    }

    #[test]
    fn a_later_change_is_followed_by_its_number() {
        let of = |changes: &[u32]| features(&emulation("1.37", &[], changes));
        let follows = |features: &Features| features.follows(LaterChange::UnusablePoolsAreLocal);
        assert!(of(&[141_898]).as_ref().is_ok_and(follows));
        assert!(!of(&[]).as_ref().is_ok_and(follows));
        assert_eq!(
            of(&[1]).expect_err("no such change").to_string(),
            "--upstream-change: no upstream change of number 1; known are: 141898"
        );
    }

    #[test]
    fn standard_input_is_read_once() {
        let twice = vec![PathBuf::from("-"), PathBuf::from("-")];
        assert_eq!(sources(twice), Err(ConfigError::StandardInputTwice));
        assert_eq!(scheduler_names(&[String::new()]), Err(ConfigError::EmptySchedulerName));
    }
}
