//! Schedules the pods of manifests, without a cluster.

pub mod input;
pub mod report;

use crate::config::SimulateSettings;
use input::InputError;

/// Tmp.
///
/// # Errors
/// Tmp.
pub fn run(settings: &SimulateSettings) -> Result<bool, InputError> {
    let manifests = input::gather(&settings.sources, &mut std::io::stdin())?;
    Ok(manifests.is_empty())
}
