//! What the status line leaves out: which object, which node, which step.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::model::resources::CPU;
use crate::model::{Name, NodeName};
use crate::scheduling::decision::{Cause, CycleError, DeviceFindings, Diagnosis, NodeFunnel};
use crate::scheduling::options::Absence;
use crate::scheduling::rejection::{
    DeviceRejection, RejectedNodes, Shortage, Unavailability, UnavailableClaim,
};
use crate::scheduling::{Decision, QueryError, Rejection};

use super::devices;
use super::reasons::{join, some_of};

/// Most nodes that are named one by one.
const NODES_NAMED: usize = 3;

/// Most sentences about nodes.
const DETAILS_MOST: usize = 12;

/// One sentence, with the nodes that it is about, if it is about some.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Detail {
    pub nodes: Vec<NodeName>,
    pub text: String,
}

impl Detail {
    fn general(text: impl Into<String>) -> Self {
        Self { nodes: Vec::new(), text: text.into() }
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = some_of(self.nodes.iter().map(|node| &node.0), NODES_NAMED);
        match self.nodes.len() {
            0 => f.write_str(&self.text),
            1 => write!(f, "On node {names}: {}", self.text),
            count => write!(f, "On {count} nodes ({names}): {}", self.text),
        }
    }
}

/// All that is known beyond the status line.
pub(super) fn details(decision: &Decision) -> Vec<Detail> {
    match decision {
        Decision::Placed(_) => Vec::new(),
        Decision::Unschedulable(diagnosis) => of_diagnosis(diagnosis),
        Decision::Error(error) => of_error(error),
    }
}

fn of_diagnosis(diagnosis: &Diagnosis) -> Vec<Detail> {
    match &diagnosis.cause {
        Cause::NoNodes => Vec::new(),
        Cause::Query(error) => of_query(error).into_iter().map(Detail::general).collect(),
        Cause::Nodes { rejected, devices } => {
            let mut details = of_funnels(devices);
            details.extend(rejected.iter().filter_map(of_nodes));
            details.extend(shortages(rejected));
            few(details)
        }
    }
}

fn of_error(error: &CycleError) -> Vec<Detail> {
    let texts = match error {
        CycleError::Query { error, .. } => of_query(error).into_iter().collect(),
        CycleError::Allocate { selectors, .. } => of_selectors(selectors),
        CycleError::NotAllocated { .. } | CycleError::Violation { .. } => Vec::new(),
    };
    texts.into_iter().map(Detail::general).collect()
}

fn of_selectors(selectors: &[Arc<str>]) -> Vec<String> {
    selectors.iter().map(|selector| format!("The selector is `{}`.", selector.trim())).collect()
}

/// What more there is to say of a pod that no node was tried for.
fn of_query(error: &QueryError) -> Option<String> {
    match error {
        QueryError::ClaimNotCreated { pod_claim, template, absence } => Some(format!(
            "Claim {:?} is to be made from ResourceClaimTemplate {template}{}.",
            pod_claim.as_str(),
            absence.map_or("", why_absent)
        )),
        QueryError::ClaimNotFound { pod_claim, claim, absence: Some(absence) } => {
            Some(format!("Claim {:?} is ResourceClaim {claim}{}.", pod_claim.as_str(), why_absent(*absence)))
        }
        QueryError::ClassNotFound { claim, class, absence: Some(absence), .. } => {
            Some(format!("ResourceClaim {claim} asks for DeviceClass {class}{}.", why_absent(*absence)))
        }
        QueryError::ClassNotFound { claim, class, .. } => {
            Some(format!("ResourceClaim {claim} asks for DeviceClass {class}."))
        }
        QueryError::NotOwner { owner: Some(owner), .. } => {
            Some(format!("It belongs to {} {} (uid {}).", owner.kind, owner.name, owner.uid))
        }
        QueryError::NotOwner { owner: None, .. } => Some("It belongs to nobody.".to_owned()),
        QueryError::ClaimInUse { claim, users } => {
            Some(format!("ResourceClaim {claim} has {users} users, and no claim can have more."))
        }
        QueryError::NoClassName { claim, .. } => Some(format!("The request is in ResourceClaim {claim}.")),
        QueryError::BadNodeSelector { claim, .. } => {
            Some(format!("The node selector is that of the allocation of ResourceClaim {claim}."))
        }
        _ => None,
    }
}

fn why_absent(absence: Absence) -> &'static str {
    match absence {
        Absence::NotFound => ", which does not exist",
        Absence::Invalid => ", which is invalid and was left out",
        Absence::AdminAccessForbidden => {
            ", which asks for admin access, and the namespace is not labelled resource.kubernetes.io/admin-access: \"true\""
        }
    }
}

/// What became of the devices on nodes where they did not suffice.
fn of_funnels(findings: &DeviceFindings) -> Vec<Detail> {
    let of_kind = |funnel: &NodeFunnel| {
        let nodes = funnel.nodes.clone();
        let texts = devices::sentences(funnel, findings).into_iter();
        texts.map(move |text| Detail { nodes: nodes.clone(), text })
    };
    let mut details: Vec<Detail> = findings.funnels.iter().flat_map(of_kind).collect();
    if findings.others > 0 {
        let others = findings.others;
        details.push(Detail::general(format!("The devices of {others} more nodes fall short otherwise.")));
    }
    details
}

fn of_nodes(group: &RejectedNodes) -> Option<Detail> {
    let text = match &group.rejection {
        Rejection::TaintToleration { taint } => {
            let value = if taint.value.is_empty() { String::new() } else { format!("={}", taint.value) };
            format!("taint {}{value}:{} is not tolerated.", taint.key, taint.effect.as_str())
        }
        Rejection::NodeAffinity { label: Some((key, value)) } => {
            format!("the pod's node selector wants the label {key}={value}.")
        }
        Rejection::NodePorts { port } => format!("port {}/{} is in use.", port.port, port.protocol),
        Rejection::DynamicResources(rejection) => of_devices(rejection)?,
        Rejection::NotSelected { .. }
        | Rejection::NodeName { .. }
        | Rejection::NodeUnschedulable
        | Rejection::NodeAffinity { label: None }
        | Rejection::NodeResourcesFit { .. } => return None,
    };
    Some(Detail { nodes: group.nodes.clone(), text })
}

/// What nodes have too little of: one sentence for all nodes that are short of the same, with the
/// most that any of them has left.
fn shortages(groups: &[RejectedNodes]) -> Vec<Detail> {
    let mut by_resources: BTreeMap<Vec<&Name>, (Vec<NodeName>, Vec<Shortage>)> = BTreeMap::new();
    for group in groups {
        let Rejection::NodeResourcesFit { shortages } = &group.rejection else { continue };
        let resources = shortages.iter().map(|shortage| &shortage.resource).collect();
        let (nodes, best) = by_resources.entry(resources).or_insert_with(|| (Vec::new(), shortages.to_vec()));
        nodes.extend(group.nodes.iter().cloned());
        for (best, shortage) in best.iter_mut().zip(shortages) {
            if free(shortage) > free(best) {
                *best = shortage.clone();
            }
        }
    }
    let detail = |(mut nodes, shortages): (Vec<NodeName>, Vec<Shortage>)| {
        nodes.sort();
        let at_most = if nodes.len() > 1 { "at most " } else { "" };
        let shortage = |s: &Shortage| {
            let unit = if &*s.resource == CPU { "m" } else { "" };
            let (resource, requested, free, all) = (&s.resource, s.requested, free(s), s.allocatable);
            format!("{resource}: {requested}{unit} requested, {at_most}{free}{unit} of {all}{unit} free")
        };
        Detail { nodes, text: format!("{}.", join(shortages.iter().map(shortage), "; ")) }
    };
    by_resources.into_values().map(detail).collect()
}

fn free(shortage: &Shortage) -> i64 {
    shortage.allocatable.saturating_sub(shortage.used)
}

/// The details with equal texts put together, and those of the most nodes if they are too many.
fn few(details: Vec<Detail>) -> Vec<Detail> {
    let mut merged: Vec<Detail> = Vec::new();
    let mut places = BTreeMap::new();
    for detail in details {
        if let Some(place) = places.get(&detail.text) {
            let known: &mut Detail = &mut merged[*place];
            known.nodes.extend(detail.nodes);
            known.nodes.sort();
        } else {
            places.insert(detail.text.clone(), merged.len());
            merged.push(detail);
        }
    }
    if merged.len() <= DETAILS_MOST {
        return merged;
    }
    merged.sort_by_key(|detail| std::cmp::Reverse(detail.nodes.len()));
    let rest = merged.split_off(DETAILS_MOST);
    let nodes: usize = rest.iter().map(|detail| detail.nodes.len()).sum();
    merged.push(Detail::general(format!("{nodes} more nodes have other reasons.")));
    merged
}

fn of_devices(rejection: &DeviceRejection) -> Option<String> {
    match rejection {
        DeviceRejection::ClaimsNotAvailable { claims } => {
            let claim = |claim: &UnavailableClaim| {
                format!("ResourceClaim {} {}", claim.claim, why_unavailable(claim.why))
            };
            Some(format!("{}.", join(claims.iter().map(claim), "; ")))
        }
        DeviceRejection::LeftOverExtendedClaim { claim } => {
            Some(format!("ResourceClaim {claim} is left over from an attempt that failed."))
        }
        DeviceRejection::ResourceNotOffered { resource } => {
            Some(format!("no device plugin offers {resource}, and no DeviceClass serves it."))
        }
        DeviceRejection::CannotAllocate
        | DeviceRejection::InvalidPools
        | DeviceRejection::UnusablePool { .. } => None,
    }
}

fn why_unavailable(why: Unavailability) -> &'static str {
    match why {
        Unavailability::OutOfReach => "is allocated, and its devices are out of reach from here",
        Unavailability::KubeletTooOld => {
            "is allocated, and its devices need a kubelet that declares DRAOptionalNodeOperations"
        }
        Unavailability::BindingFailed => "is allocated, and preparing its devices failed",
        Unavailability::BindingTimedOut => "is allocated, and its devices were not prepared in time",
    }
}
