//! Decisions as entries of the report.

use std::collections::BTreeMap;

use super::names::suffix;
use super::report::{ClaimReport, DeviceReport, PodReport, TolerationReport};
use crate::model::{Allocation, DeviceResult, Name, Pod, Quantity, Snapshot, Toleration};
use crate::scheduling::Placement;
use crate::scheduling::decision::ExtendedClaim;

/// The entry of a pod that got a node.
pub fn placed(placement: &Placement) -> PodReport {
    let claims = placement.claims.iter().map(|placed| ClaimReport {
        pod_claim: Some(placed.pod_claim.to_string()),
        claim: placed.claim.key.to_string(),
        devices: devices(placed.devices.allocation()),
        extended_resource: None,
    });
    PodReport {
        pod: placement.pod.key.to_string(),
        node: Some(placement.node.to_string()),
        claims: claims
            .chain(placement.extended.iter().map(|claim| extended(&placement.pod, claim)))
            .collect(),
        message: None,
    }
}

/// The entry of a pod that stays where it is: pending, or on a node that nobody chose for it. Its
/// claims are listed with the devices that they hold.
pub fn unplaced(pod: &Pod, snapshot: &Snapshot, message: String) -> PodReport {
    let claims = pod.claims.iter().filter_map(|entry| {
        let key = pod.claim_key(entry)?;
        let claim = snapshot.claims().get(&key)?;
        Some(ClaimReport {
            pod_claim: Some(entry.name.to_string()),
            claim: key.to_string(),
            devices: claim.allocation.as_deref().map(devices).unwrap_or_default(),
            extended_resource: None,
        })
    });
    PodReport {
        pod: pod.key.to_string(),
        node: pod.node_name.as_ref().map(ToString::to_string),
        claims: claims.collect(),
        message: Some(message),
    }
}

/// The claim that is made for extended resources. Its name is drawn by the API server.
fn extended(pod: &Pod, claim: &ExtendedClaim) -> ClaimReport {
    let mut served: BTreeMap<String, Vec<DeviceReport>> = BTreeMap::new();
    for result in &claim.allocation.results {
        if let Some(resource) = claim.resource_of(&result.request) {
            served.entry(resource.to_string()).or_default().push(device(result));
        }
    }
    let name = format!("{}{}", claim.generate_name, suffix(&pod.key.to_string(), 5));
    ClaimReport {
        pod_claim: None,
        claim: format!("{}/{name}", pod.key.namespace),
        devices: devices(&claim.allocation),
        extended_resource: Some(served),
    }
}

fn devices(allocation: &Allocation) -> Vec<DeviceReport> {
    allocation.results.iter().map(device).collect()
}

fn device(result: &DeviceResult) -> DeviceReport {
    let names = |list: &Option<Box<[Name]>>| list.iter().flatten().map(ToString::to_string).collect();
    let amounts = |list: &Option<Box<[(Name, Quantity)]>>| {
        list.iter().flatten().map(|(name, amount)| (name.to_string(), amount.to_string())).collect()
    };
    DeviceReport {
        request: result.request.to_string(),
        driver: result.device.driver().to_string(),
        pool: result.device.pool.pool.to_string(),
        device: result.device.device.to_string(),
        share_id: result.share_id.as_ref().map(ToString::to_string),
        consumed_capacity: amounts(&result.consumed_capacity),
        admin_access: result.admin_access,
        tolerations: result.tolerations.iter().map(toleration).collect(),
        binding_conditions: names(&result.binding_conditions),
        binding_failure_conditions: names(&result.binding_failure_conditions),
    }
}

fn toleration(toleration: &Toleration) -> TolerationReport {
    use crate::model::TolerationOperator;
    let operator = match &toleration.operator {
        TolerationOperator::Equal => "Equal",
        TolerationOperator::Exists => "Exists",
        TolerationOperator::Other(name) => name,
    };
    TolerationReport {
        key: toleration.key.to_string(),
        operator: toleration.operator_given.then(|| operator.to_owned()),
        value: toleration.value.to_string(),
        effect: toleration.effect.as_ref().map(|effect| effect.as_str().to_owned()),
        toleration_seconds: toleration.toleration_seconds,
    }
}
