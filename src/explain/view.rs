//! A decision as serialisable data, for `-o json` and `-o yaml`.

use serde::Serialize;

use crate::model::DeviceResult;
use crate::scheduling::Decision;
use crate::scheduling::decision::{Cause, Placement};
use crate::scheduling::rejection::{Code, RejectedNodes};
use crate::scheduling::scores::NodeScore;

use super::details::{Detail, details};
use super::reasons::rejection;
use super::status::status_line;

/// A decision about one pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DecisionView {
    /// `namespace/name`.
    pub pod: String,
    /// What became of it.
    pub outcome: Outcome,
    /// The node, if it has one.
    pub node: Option<String>,
    /// What kube-scheduler would write into the pod's condition, if it has no node.
    pub status: Option<String>,
    /// Its devices.
    pub devices: Vec<DeviceView>,
    /// The scores of all nodes that fit, by name.
    pub scores: Vec<ScoreView>,
    /// The nodes that object, grouped by reason.
    pub rejections: Vec<RejectionView>,
    /// What the status leaves out.
    pub details: Vec<DetailView>,
}

/// What became of a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Outcome {
    /// It has a node.
    Placed,
    /// It waits until something changes.
    Unschedulable,
    /// The attempt failed.
    Error,
}

/// A device given to a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeviceView {
    /// The name in `spec.resourceClaims`; absent for extended resources.
    pub pod_claim: Option<String>,
    /// The extended resource; absent for claims.
    pub extended_resource: Option<String>,
    /// The request, or `request/subrequest`.
    pub request: String,
    /// `driver/pool/device`.
    pub device: String,
    /// Whether the claim held it before.
    pub held: bool,
}

/// The scores of one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ScoreView {
    /// The node.
    pub node: String,
    /// The weighted sum.
    pub total: i64,
    /// Normalised scores by plugin.
    pub plugins: Vec<(&'static str, i64)>,
}

/// Nodes that object for the same reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RejectionView {
    /// The nodes.
    pub nodes: Vec<String>,
    /// The plugin that objects.
    pub plugin: &'static str,
    /// `Unschedulable` or `UnschedulableAndUnresolvable`.
    pub code: &'static str,
    /// Why, as kube-scheduler words it.
    pub reasons: Vec<String>,
}

/// A sentence about some nodes, or about the pod if none is named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DetailView {
    /// The nodes.
    pub nodes: Vec<String>,
    /// The sentence.
    pub text: String,
}

impl DecisionView {
    /// The view of a decision about the pod of that name.
    pub fn new(pod: &crate::model::PodKey, decision: &Decision) -> Self {
        let (outcome, placement, rejections) = match decision {
            Decision::Placed(placement) => (Outcome::Placed, Some(placement), Vec::new()),
            Decision::Unschedulable(diagnosis) => {
                let groups = match &diagnosis.cause {
                    Cause::Nodes { rejected, .. } => &**rejected,
                    Cause::NoNodes | Cause::Query(_) => &[],
                };
                let views = groups.iter().map(|group| RejectionView::new(group, diagnosis.version));
                (Outcome::Unschedulable, None, views.collect())
            }
            Decision::Error(_) => (Outcome::Error, None, Vec::new()),
        };
        Self {
            pod: pod.to_string(),
            outcome,
            node: placement.map(|placement| placement.node.to_string()),
            status: status_line(decision),
            devices: placement.map(devices).unwrap_or_default(),
            scores: placement.map(scores).unwrap_or_default(),
            rejections,
            details: details(decision).into_iter().map(DetailView::from).collect(),
        }
    }
}

fn devices(placement: &Placement) -> Vec<DeviceView> {
    let view = |result: &DeviceResult| DeviceView {
        pod_claim: None,
        extended_resource: None,
        request: result.request.to_string(),
        device: result.device.to_string(),
        held: false,
    };
    let of_claims = placement.claims.iter().flat_map(|placed| {
        let held = placed.claim.allocation.is_some();
        let pod_claim = Some(placed.pod_claim.to_string());
        let results = placed.devices.allocation().results.iter();
        results.map(move |result| DeviceView { pod_claim: pod_claim.clone(), held, ..view(result) })
    });
    let of_extended = placement.extended.iter().flat_map(|extended| {
        extended.allocation.results.iter().map(move |result| DeviceView {
            extended_resource: extended.resource_of(&result.request).map(ToString::to_string),
            ..view(result)
        })
    });
    of_claims.chain(of_extended).collect()
}

fn scores(placement: &Placement) -> Vec<ScoreView> {
    let view = |score: NodeScore<'_>| ScoreView {
        node: score.node.to_string(),
        total: score.total(),
        plugins: score.plugins().map(|(plugin, score)| (plugin.name(), score)).collect(),
    };
    placement.scores.iter().map(view).collect()
}

impl RejectionView {
    fn new(group: &RejectedNodes, version: crate::model::KubernetesVersion) -> Self {
        Self {
            nodes: group.nodes.iter().map(ToString::to_string).collect(),
            plugin: group.rejection.plugin().name(),
            code: match group.rejection.code() {
                Code::Unschedulable => "Unschedulable",
                Code::UnschedulableAndUnresolvable => "UnschedulableAndUnresolvable",
            },
            reasons: rejection(&group.rejection, version).into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Detail> for DetailView {
    fn from(detail: Detail) -> Self {
        Self { nodes: detail.nodes.iter().map(ToString::to_string).collect(), text: detail.text }
    }
}
