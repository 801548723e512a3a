//! A decision as the text that goes into a pod's condition, and as the long text.

use std::collections::BTreeMap;

use crate::model::KubernetesVersion;
use crate::scheduling::decision::{Cause, CycleError, Diagnosis, PostFilter};
use crate::scheduling::{Decision, QueryError, Rejection};

use super::details::details;
use super::reasons::{join, query_error, rejection};

/// What kube-scheduler writes into the condition `PodScheduled` of a pod that got no node; `None`
/// for one that got one.
///
/// Preemption is not tried, so that nothing is said of it.
pub fn status_line(decision: &Decision) -> Option<String> {
    match decision {
        Decision::Placed(_) => None,
        Decision::Unschedulable(diagnosis) => Some(unschedulable(diagnosis)),
        Decision::Error(error) => Some(cycle_error(error)),
    }
}

/// The status line and, after it, what takes part in the decision device by device; one line.
pub fn message(decision: &Decision) -> Option<String> {
    let mut message = status_line(decision)?;
    let details = details(decision);
    if !details.is_empty() && !message.ends_with('.') {
        message.push('.');
    }
    Some(join(std::iter::once(message).chain(details.iter().map(ToString::to_string)), " "))
}

/// The same with a line for each detail; also for a pod that got a node.
pub fn text(decision: &Decision) -> String {
    let status = match decision {
        Decision::Placed(placement) => {
            Some(format!("{} is placed on {}.", placement.pod.key, placement.node))
        }
        _ => status_line(decision),
    };
    let details = details(decision);
    join(status.into_iter().chain(details.iter().map(|detail| format!("  {detail}"))), "\n")
}

fn unschedulable(diagnosis: &Diagnosis) -> String {
    let count = diagnosis.nodes;
    let reasons = match &diagnosis.cause {
        Cause::NoNodes => return "no nodes available to schedule pods".to_owned(),
        Cause::Query(error @ QueryError::SchedulingGates { .. }) => {
            return query_error(error, &diagnosis.pod);
        }
        Cause::Query(error) => query_error(error, &diagnosis.pod),
        Cause::Nodes { rejected, .. } => {
            histogram(rejected.iter().map(|group| (group.nodes.len(), &group.rejection)), diagnosis.version)
        }
    };
    let post_filter = diagnosis.post_filter.as_ref().map_or("", |done| match done {
        PostFilter::Deallocate { .. } => " deallocation of ResourceClaim completed",
        PostFilter::DeleteExtendedClaim { .. } => " deletion of ResourceClaim completed",
    });
    format!("0/{count} nodes are available: {reasons}.{post_filter}")
}

/// How many nodes have which reason, sorted as texts.
fn histogram<'a>(groups: impl Iterator<Item = (usize, &'a Rejection)>, version: KubernetesVersion) -> String {
    let mut counts = BTreeMap::new();
    for (nodes, reason) in groups {
        for text in rejection(reason, version) {
            *counts.entry(text).or_insert(0) += nodes;
        }
    }
    let mut entries: Vec<String> = counts.iter().map(|(text, count)| format!("{count} {text}")).collect();
    entries.sort();
    entries.join(", ")
}

fn cycle_error(error: &CycleError) -> String {
    match error {
        CycleError::Query { pod, error } => {
            format!("running PreFilter plugin \"DynamicResources\": {}", query_error(error, pod))
        }
        CycleError::Allocate { error, .. } => {
            format!("running \"DynamicResources\" filter plugin: {error}")
        }
        CycleError::NotAllocated { claim, .. } => format!(
            "running Reserve plugin \"DynamicResources\": claim allocation not found for node: {claim}"
        ),
        CycleError::Violation { node, violation } => format!(
            "running Reserve plugin \"DynamicResources\": the devices chosen on node {node} break a rule, and nothing was written: {violation}"
        ),
    }
}
