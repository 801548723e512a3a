//! Schedules the pods of manifests, without a cluster.
//!
//! [`run`] is the command: [`input`] finds the manifests, [`k8s`](crate::k8s) checks and decodes them,
//! [`World`] adds what controllers would add, [`rounds`] takes one pod after another through
//! [`schedule`](crate::scheduling::schedule) and [`assume`](crate::scheduling::assume), just as a
//! live scheduler does, and [`report`] and [`table`] are what is printed.

// The shell around the pure rooms: it reads files and standard input, and prints.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "reads manifests and prints the report"
)]

mod advice;
pub mod claims;
pub mod input;
mod messages;
mod names;
mod progress;
pub mod report;
pub mod rounds;
pub mod table;
mod view;
pub mod workloads;
pub mod world;

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write};

use crate::config::{OutputFormat, SimulateSettings};

use crate::k8s::{Finding, Objects, ReadError, Reader};
use crate::scheduling::{Decision, Memo, Options};
use advice::Advice;
use input::{InputError, gather};
use progress::Progress;
use report::{InvalidReport, SimulationReport};
use table::Detail;
use world::World;

/// Why nothing was simulated, or the result could not be printed.
#[derive(Debug)]
pub enum SimulateError {
    /// A file cannot be read.
    Input(InputError),
    /// A file is not YAML.
    Syntax(ReadError),
    /// The report cannot be written.
    Output(io::Error),
}

impl fmt::Display for SimulateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) => error.fmt(f),
            Self::Syntax(error) => write!(f, "{error}. Nothing was done"),
            Self::Output(error) => write!(f, "the report cannot be written: {error}"),
        }
    }
}

impl std::error::Error for SimulateError {}

impl From<InputError> for SimulateError {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

/// Reads the manifests, schedules their pods and prints the report. Returns whether every pod is
/// placed and nothing is wrong.
///
/// # Errors
/// The input cannot be read, or is not YAML; nothing is done then. Or the report cannot be written.
pub fn run(settings: &SimulateSettings) -> Result<bool, SimulateError> {
    let mut reader = Reader::new(settings.features.clone());
    let mut files = Vec::new();
    gather(&settings.sources, &mut io::stdin(), |manifest| {
        reader.add(&manifest.file, &manifest.text).map_err(SimulateError::Syntax)?;
        files.push(manifest.file);
        Ok::<_, SimulateError>(())
    })?;
    let mut objects = reader.finish();
    let other_kinds = std::mem::take(&mut objects.other_kinds);
    let report = simulate(objects, settings, &files);
    print(&report, &other_kinds, settings).map_err(SimulateError::Output)?;
    Ok(report.is_clean())
}

/// Schedules the pods of these objects, which came from these files.
pub fn simulate(mut objects: Objects, settings: &SimulateSettings, files: &[String]) -> SimulationReport {
    let findings: Vec<Finding> = std::mem::take(&mut objects.invalid);
    let world = World::new(objects, &findings, settings, files);
    let options = Options {
        seed: settings.seed,
        now: world.now,
        absences: world.absences.into(),
        ..Options::default()
    };
    let mut memo = Memo::new(&settings.features);
    let progress = Progress::new(world.waiting.len(), settings.progress);
    let (last, outcomes) =
        rounds::run(world.snapshot, &world.waiting, &mut memo, &options, &mut |left| progress.show(left));
    progress.end();
    let advice = Advice::new(&last, &world.templates);
    let mut pods = Vec::with_capacity(outcomes.len());
    for outcome in &outcomes {
        pods.push(match &outcome.decision {
            Decision::Placed(placement) => view::placed(placement),
            Decision::Unschedulable(_) | Decision::Error(_) => {
                let message = messages::pending(&outcome.decision, &outcome.pod, &findings, &advice);
                view::unplaced(&outcome.pod, &last, message)
            }
        });
    }
    for pod in &world.left_alone {
        if let Some(warning) = messages::left_alone(pod, &last) {
            pods.push(view::unplaced(pod, &last, warning));
        }
    }
    let refused = messages::refused_pods(&findings, &pods);
    pods.extend(refused);
    SimulationReport::new(pods, findings.into_iter().map(invalid).collect())
}

fn invalid(finding: Finding) -> InvalidReport {
    let Finding { object, field, message, hint, file, line } = finding;
    InvalidReport { object, field, message, hint, file, line }
}

fn print(
    report: &SimulationReport,
    other_kinds: &BTreeMap<String, usize>,
    settings: &SimulateSettings,
) -> io::Result<()> {
    let table = |detail| table::render(report, other_kinds, detail, settings.colour);
    let text = match settings.output {
        OutputFormat::Table => table(Detail::Short),
        OutputFormat::Wide => table(Detail::Wide),
        OutputFormat::Json => serde_json::to_string_pretty(report).map_err(io::Error::other)? + "\n",
        OutputFormat::Yaml => serde_saphyr::to_string(report).map_err(io::Error::other)?,
    };
    let is_data = matches!(settings.output, OutputFormat::Json | OutputFormat::Yaml);
    if is_data && settings.remarks && !other_kinds.is_empty() {
        io::stderr().write_all(table::others(other_kinds).trim_start().as_bytes())?;
    }
    match io::stdout().write_all(text.as_bytes()) {
        // Whoever reads has seen enough, as in `stowplan simulate … | head`.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}
