//! What the status line leaves out: which object, which node, which step.

use std::fmt;
use std::sync::Arc;

use crate::allocator::{AllocateError, FatalError, FatalReason};
use crate::model::NodeName;
use crate::scheduling::decision::{Cause, CycleError, Diagnosis};
use crate::scheduling::options::Absence;
use crate::scheduling::rejection::{
    DeviceRejection, RejectedNodes, Shortage, Unavailability, UnavailableClaim,
};
use crate::scheduling::{Decision, QueryError, Rejection};

use super::hints::selector_hint;
use super::reasons::{join, some_of};

/// Most nodes that are named one by one.
const NODES_NAMED: usize = 3;

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
        Cause::Nodes { rejected } => rejected.iter().flat_map(of_nodes).collect(),
    }
}

fn of_error(error: &CycleError) -> Vec<Detail> {
    let texts = match error {
        CycleError::Query { error, .. } => of_query(error).into_iter().collect(),
        CycleError::Allocate { error, selectors, .. } => of_selectors(error, selectors),
        CycleError::NotAllocated { .. } | CycleError::Violation { .. } => Vec::new(),
    };
    texts.into_iter().map(Detail::general).collect()
}

fn of_selectors(error: &AllocateError, selectors: &[Arc<str>]) -> Vec<String> {
    let device = match error {
        AllocateError::Fatal(FatalError { reason: FatalReason::SelectorRuntime { device, .. }, .. }) => {
            Some(device)
        }
        _ => None,
    };
    let hint = |selector: &Arc<str>| selector_hint(selector, device?);
    selectors
        .iter()
        .flat_map(|selector| [Some(format!("The selector is `{}`.", selector.trim())), hint(selector)])
        .flatten()
        .collect()
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

fn of_nodes(group: &RejectedNodes) -> Vec<Detail> {
    let detail = |text: String| vec![Detail { nodes: group.nodes.clone(), text }];
    match &group.rejection {
        Rejection::TaintToleration { taint } => {
            let value = if taint.value.is_empty() { String::new() } else { format!("={}", taint.value) };
            detail(format!("taint {}{value}:{} is not tolerated.", taint.key, taint.effect.as_str()))
        }
        Rejection::NodeAffinity { label: Some((key, value)) } => {
            detail(format!("the pod's node selector wants the label {key}={value}."))
        }
        Rejection::NodePorts { port } => detail(format!("port {}/{} is in use.", port.port, port.protocol)),
        Rejection::NodeResourcesFit { shortages } => {
            let shortage = |s: &Shortage| {
                let unit = if &*s.resource == "cpu" { "m" } else { "" };
                format!(
                    "{}: {}{unit} requested, {}{unit} of {}{unit} in use",
                    s.resource, s.requested, s.used, s.allocatable
                )
            };
            detail(format!("{}.", join(shortages.iter().map(shortage), "; ")))
        }
        Rejection::DynamicResources(rejection) => {
            of_devices(rejection).into_iter().flat_map(detail).collect()
        }
        Rejection::NotSelected { .. }
        | Rejection::NodeName { .. }
        | Rejection::NodeUnschedulable
        | Rejection::NodeAffinity { label: None } => Vec::new(),
    }
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
        DeviceRejection::CannotAllocate | DeviceRejection::InvalidPools => None,
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
