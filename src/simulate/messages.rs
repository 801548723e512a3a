//! What is said of a pod that got no node, beyond the decision itself: which findings of the input
//! are in its way, and what a pod that bypassed the scheduler waits for.

use std::fmt::Write as _;

use super::advice::Advice;
use super::report::PodReport;
use crate::explain;
use crate::k8s::Finding;
use crate::model::{Pod, Snapshot};
use crate::scheduling::decision::{Cause, CycleError};
use crate::scheduling::{Decision, QueryError, Rejection};

/// Most invalid slices that are named one by one.
const SLICES_NAMED: usize = 3;

/// Why the pod waits: the decision in words, then the findings about the objects that it needs, and
/// what was probably meant by names and selectors that lead nowhere.
pub fn pending(decision: &Decision, pod: &Pod, findings: &[Finding], advice: &Advice<'_>) -> String {
    let mut message = explain::text(decision);
    let missing = match decision {
        Decision::Unschedulable(diagnosis) => match &diagnosis.cause {
            Cause::Query(error) => Some(error),
            _ => None,
        },
        Decision::Error(CycleError::Query { error, .. }) => Some(error),
        _ => None,
    };
    if let Some(error) = missing {
        if let Some(object) = object(error) {
            message.push_str(&first_of(findings.iter().filter(|finding| finding.object == object)));
        }
        if let Some(hint) = advice.on_missing(error) {
            let _ = write!(message, "\n  {hint}");
        }
        return message;
    }
    if lacks_devices(decision) {
        message.push_str(&invalid_slices(findings));
        for hint in advice.on_selectors(pod) {
            let _ = write!(message, "\n  {hint}");
        }
    }
    message
}

/// The first of these findings, and how many more there are.
fn first_of<'a>(mut findings: impl Iterator<Item = &'a Finding>) -> String {
    let Some(finding) = findings.next() else { return String::new() };
    match findings.count() {
        0 => format!("\n  {}", sentence(finding)),
        more => format!("\n  {} and {more} more", sentence(finding)),
    }
}

/// The object that is missing, as findings name it.
fn object(error: &QueryError) -> Option<String> {
    match error {
        QueryError::ClaimNotFound { claim, .. } => Some(format!("ResourceClaim/{claim}")),
        QueryError::ClaimNotCreated { template, .. } => Some(format!("ResourceClaimTemplate/{template}")),
        QueryError::ClassNotFound { class, .. } => Some(format!("DeviceClass/{class}")),
        _ => None,
    }
}

fn sentence(finding: &Finding) -> String {
    let Finding { object, file, line, .. } = finding;
    format!("{object} is invalid and takes no part: {} ({file}:{line})", finding_text(finding))
}

/// What is wrong, with the field where the message does not name it.
fn finding_text(Finding { field, message, .. }: &Finding) -> String {
    if message.contains(field.as_str()) { message.clone() } else { format!("{field}: {message}") }
}

/// Whether it is the devices that stand in the way, on one node at least.
fn lacks_devices(decision: &Decision) -> bool {
    let diagnosis = match decision {
        Decision::Unschedulable(diagnosis) => diagnosis,
        Decision::Error(CycleError::Allocate { .. }) => return true,
        _ => return false,
    };
    let Cause::Nodes { rejected, .. } = &diagnosis.cause else { return false };
    rejected.iter().any(|group| matches!(group.rejection, Rejection::DynamicResources(_)))
}

fn invalid_slices(findings: &[Finding]) -> String {
    let mut slices: Vec<&Finding> = Vec::new();
    for finding in findings.iter().filter(|finding| finding.object.starts_with("ResourceSlice/")) {
        if slices.iter().all(|known| known.object != finding.object) {
            slices.push(finding);
        }
    }
    let mut text = String::new();
    for finding in slices.iter().take(SLICES_NAMED) {
        let _ = write!(text, "\n  {}", sentence(finding));
    }
    if slices.len() > SLICES_NAMED {
        let _ = write!(text, "\n  {} more ResourceSlices are invalid", slices.len() - SLICES_NAMED);
    }
    text
}

/// What is to be said of a pod that is not scheduled: it is being deleted, or it has a node although
/// nobody scheduled it, and the kubelet waits for claims that no scheduler will allocate. `None` if
/// its claims are ready.
pub fn left_alone(pod: &Pod, snapshot: &Snapshot) -> Option<String> {
    let Some(node) = &pod.node_name else {
        return Some(format!("skip schedule deleting pod: {}", pod.key));
    };
    let mut missing = Vec::new();
    for entry in &pod.claims {
        let recorded = pod.claim_statuses.iter().find(|status| status.name == entry.name);
        if recorded.is_some_and(|status| status.claim.is_none()) {
            continue;
        }
        let claim = pod.claim_key(entry);
        match claim.as_ref().and_then(|key| snapshot.claims().get(key)) {
            Some(claim) if claim.allocation.is_some() => {}
            Some(claim) => missing.push(format!("claim {} is not allocated", claim.key)),
            None => {
                let name = claim.map_or_else(|| format!("for {:?}", entry.name), |key| key.to_string());
                missing.push(format!("claim {name} is not there, and so not allocated"));
            }
        }
    }
    if missing.is_empty() {
        return None;
    }
    Some(format!(
        "spec.nodeName names {node}, so the pod bypassed the scheduler: {}. The kubelet will not start it; \
         remove spec.nodeName, or select the node by spec.nodeSelector",
        missing.join(", ")
    ))
}

/// Pods that an API server would not take: they wait for being corrected.
///
/// A second pod of a name in `reported` is left to its finding.
pub fn refused_pods(findings: &[Finding], reported: &[PodReport]) -> Vec<PodReport> {
    let mut pods: Vec<PodReport> = Vec::new();
    for finding in findings {
        let Some(name) = finding.object.strip_prefix("Pod/") else { continue };
        if reported.iter().any(|pod| pod.pod == name) {
            continue;
        }
        let sentence = sentence(finding);
        match pods.iter_mut().find(|pod| pod.pod == name) {
            Some(PodReport { message: Some(message), .. }) => {
                let _ = write!(message, "\n  {sentence}");
            }
            _ => pods.push(PodReport {
                pod: name.to_owned(),
                node: None,
                claims: Vec::new(),
                message: Some(sentence),
            }),
        }
    }
    pods
}
