//! Waiting until devices are ready for their node (KEP-5007): a controller of the driver sets
//! conditions in `status.devices` of the claim.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::api::{RequestError, Server};
use super::untyped::Untyped;
use crate::model::ClaimKey;

/// How often the claims are looked at.
const PERIOD: Duration = Duration::from_secs(5);

/// Why devices did not become ready.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// A claim could not be read.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A failure condition is true.
    #[error("device binding failed: claim={claim}, condition={condition}")]
    Failed {
        /// The claim.
        claim: ClaimKey,
        /// The condition.
        condition: String,
    },
    /// It took too long.
    #[error("device binding timeout: claim={claim}")]
    TimedOut {
        /// The claim.
        claim: ClaimKey,
    },
}

/// Whether the devices of a claim are ready.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Readiness {
    Ready,
    NotReady,
    Failed(String),
}

/// Waits until all devices of the claims are ready, and returns the claims as they are then.
///
/// # Errors
/// A failure condition, the time-out, or a claim that cannot be read.
pub async fn wait(server: &Server, claims: &[ClaimKey], timeout: Duration) -> Result<Vec<Untyped>, Failure> {
    let deadline = Instant::now() + timeout;
    loop {
        let mut ready = Vec::new();
        let mut waits_for = None;
        for key in claims {
            let claim = server.claim(key).await?;
            match readiness(claim.json()) {
                Readiness::Ready => ready.push(claim),
                Readiness::NotReady => waits_for = Some(key),
                Readiness::Failed(condition) => {
                    return Err(Failure::Failed { claim: key.clone(), condition });
                }
            }
        }
        match waits_for {
            None => return Ok(ready),
            Some(claim) if Instant::now() >= deadline => {
                return Err(Failure::TimedOut { claim: claim.clone() });
            }
            Some(_) => sleep(PERIOD).await,
        }
    }
}

/// Results in order, the first verdict wins: a failure condition that is true, or a binding
/// condition that is not true yet.
fn readiness(claim: &Value) -> Readiness {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let Some(results) = claim.pointer("/status/allocation/devices/results") else {
        return Readiness::NotReady;
    };
    let statuses = claim.pointer("/status/devices").map(list).unwrap_or_default();
    for result in list(results) {
        let wanted = list(&result["bindingConditions"]);
        if wanted.is_empty() {
            continue;
        }
        let same = |status: &&Value| ["driver", "pool", "device"].iter().all(|id| status[id] == result[id]);
        let Some(status) = statuses.iter().find(same) else { return Readiness::NotReady };
        let is_true = |condition: &Value| {
            list(&status["conditions"]).iter().any(|one| one["type"] == *condition && one["status"] == "True")
        };
        if let Some(failure) = list(&result["bindingFailureConditions"]).iter().find(|one| is_true(one)) {
            return Readiness::Failed(failure.as_str().unwrap_or_default().to_owned());
        }
        if !wanted.iter().all(is_true) {
            return Readiness::NotReady;
        }
    }
    Readiness::Ready
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn claim(conditions: &Value) -> Value {
        json!({"status": {
            "allocation": {"devices": {"results": [
                {"driver": "d", "pool": "p", "device": "plain"},
                {"driver": "d", "pool": "p", "device": "fabric", "bindingConditions": ["Attached"],
                 "bindingFailureConditions": ["Broken"]},
            ]}},
            "devices": [{"driver": "d", "pool": "p", "device": "fabric", "conditions": conditions}],
        }})
    }

    #[test]
    fn a_device_is_ready_when_all_its_binding_conditions_are_true() {
        let attached = json!([{"type": "Attached", "status": "True"}]);
        assert_eq!(readiness(&claim(&attached)), Readiness::Ready);
        assert_eq!(readiness(&claim(&json!([]))), Readiness::NotReady);
    }

    #[test]
    fn a_failure_condition_wins_over_readiness() {
        let both = json!([{"type": "Attached", "status": "True"}, {"type": "Broken", "status": "True"}]);
        assert_eq!(readiness(&claim(&both)), Readiness::Failed("Broken".into()));
    }

    #[test]
    fn a_claim_without_devices_is_not_ready() {
        assert_eq!(readiness(&json!({"status": {}})), Readiness::NotReady);
    }
}
