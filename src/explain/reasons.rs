//! The wording of single reasons, as kube-scheduler 1.37 gives them.

use std::borrow::Cow;

use crate::model::pod::UnservedFeature;
use crate::model::{KubernetesVersion, Name, Pod};
use crate::scheduling::rejection::DeviceRejection;
use crate::scheduling::{QueryError, Rejection};

/// Why no node was tried.
pub(super) fn query_error(error: &QueryError, pod: &Pod) -> String {
    let pod = &pod.key;
    match error {
        QueryError::SchedulingGates { gates } => {
            format!("waiting for scheduling gates: [{}]", join(gates.iter(), " "))
        }
        QueryError::Unserved { features } => format!(
            "the pod asks for what this scheduler does not judge: {}",
            join(features.iter().map(unserved), ", ")
        ),
        QueryError::AffinityTermsConflict => "pod affinity terms conflict".to_owned(),
        QueryError::NoClaimSource { pod_claim } => format!(
            "pod \"{pod}\", spec.resourceClaim {:?}: none of the supported fields are set",
            pod_claim.as_str()
        ),
        QueryError::ClaimNotCreated { .. } => format!("pod \"{pod}\": ResourceClaim not created yet"),
        QueryError::ClaimNotFound { claim, .. } => format!("could not find ResourceClaim \"{claim}\""),
        QueryError::ClaimDeleting { claim } => {
            format!("resourceclaim {:?} is being deleted", claim.name.as_str())
        }
        QueryError::NotOwner { claim, .. } => {
            format!("ResourceClaim {claim} was not created for Pod {pod} (Pod is not owner)")
        }
        QueryError::ClaimInUse { .. } => "resourceclaim in use".to_owned(),
        QueryError::ClaimInFlight { claim } => {
            format!("resource claim {claim} is in the process of being allocated")
        }
        QueryError::PrioritizedListDisabled { claim, request } => format!(
            "resource claim {claim}, request {request}: has subrequests, but the DRAPrioritizedList feature is disabled"
        ),
        QueryError::UnknownRequestType { claim, request } => {
            format!("resource claim {claim}, request {request}: unknown request type")
        }
        QueryError::NoClassName { request, .. } => format!("request {request}: unsupported request type"),
        QueryError::ClassNotFound { request, class, .. } => {
            format!("request {request}: device class {class} does not exist")
        }
        QueryError::BadNodeSelector { error, .. } => error.to_string(),
    }
}

fn unserved(feature: &UnservedFeature) -> String {
    match feature {
        UnservedFeature::Volume(name) => format!("volume {:?}", name.as_str()),
        UnservedFeature::PodAffinity => "required affinity or anti-affinity to other pods".to_owned(),
        UnservedFeature::TopologySpread => "a topology spread constraint with DoNotSchedule".to_owned(),
    }
}

/// Why a node objects: one text for each reason that upstream counts by itself.
pub(super) fn rejection(rejection: &Rejection, version: KubernetesVersion) -> Vec<Cow<'static, str>> {
    let one = |text: &'static str| vec![Cow::Borrowed(text)];
    match rejection {
        Rejection::NotSelected { plugins } => {
            let plugins = join(plugins.iter().map(|plugin| plugin.name()), " ");
            vec![format!("node(s) didn't satisfy plugin(s) [{plugins}]").into()]
        }
        Rejection::NodeName { .. } => one("node(s) didn't match the requested node name"),
        Rejection::NodeUnschedulable => one("node(s) were unschedulable"),
        Rejection::TaintToleration { taint } if version == KubernetesVersion::V1_34 => {
            vec![format!("node(s) had untolerated taint {{{}: {}}}", taint.key, taint.value).into()]
        }
        Rejection::TaintToleration { .. } => one("node(s) had untolerated taint(s)"),
        Rejection::NodeAffinity { .. } => one("node(s) didn't match Pod's node affinity/selector"),
        Rejection::NodePorts { .. } => one("node(s) didn't have free ports for the requested pod ports"),
        Rejection::NodeResourcesFit { shortages } => shortages
            .iter()
            .map(|shortage| match &*shortage.resource {
                crate::model::resources::PODS => Cow::Borrowed("Too many pods"),
                resource => Cow::Owned(format!("Insufficient {resource}")),
            })
            .collect(),
        Rejection::DynamicResources(rejection) => vec![device_rejection(rejection)],
    }
}

fn device_rejection(rejection: &DeviceRejection) -> Cow<'static, str> {
    let words = match rejection {
        DeviceRejection::UnusablePool { error } => return Cow::Owned(error.to_string()),
        DeviceRejection::CannotAllocate => "cannot allocate all claims",
        DeviceRejection::InvalidPools => "invalid resource pools were encountered",
        DeviceRejection::ClaimsNotAvailable { .. } => "resourceclaim not available on the node",
        DeviceRejection::LeftOverExtendedClaim { .. } => "cannot schedule extended resource claim",
        DeviceRejection::ResourceNotOffered { .. } => "cannot fit resource",
    };
    Cow::Borrowed(words)
}

/// The texts with a separator between them.
pub(super) fn join<T: std::fmt::Display>(texts: impl IntoIterator<Item = T>, separator: &str) -> String {
    let mut joined = String::new();
    for text in texts {
        if !joined.is_empty() {
            joined.push_str(separator);
        }
        joined.push_str(&text.to_string());
    }
    joined
}

/// The first names of many: `n1, n2, n3, …`.
pub(super) fn some_of<'a>(names: impl ExactSizeIterator<Item = &'a Name>, most: usize) -> String {
    let more = if names.len() > most { ", …" } else { "" };
    join(names.take(most), ", ") + more
}
