//! One pod's cycle: prefilter, filter, score, reserve.

use std::sync::Arc;

use crate::model::{Features, NodeInfo, Pod, Snapshot};

use super::decision::{Cause, CycleError, Decision, Diagnosis, NodeScore, Placement};
use super::options::Options;
use super::plugins::dynamic_resources::{Filter, NodeDevices, Refusal};
use super::plugins::{
    Plugin, SCORED, default_normalize, filter, node_affinity, node_resources_fit, taint_toleration,
};
use super::query::PodQuery;
use super::query_error::QueryError;
use super::rejection::{Rejection, group};
use super::reserve::reserve;
use super::share_id::tie_break;
use super::shim::Allocator;

/// What is kept between cycles to make them fast. It never changes an answer.
#[derive(Debug)]
pub struct Memo {
    allocator: Allocator,
}

impl Memo {
    /// Nothing remembered yet.
    pub fn new(features: &Features) -> Self {
        Self { allocator: Allocator::new(features) }
    }
}

/// A node that fits, with the devices it has for the pod. Only [`find_fitting`] makes one.
struct FeasibleNode<'a> {
    info: &'a Arc<NodeInfo>,
    devices: NodeDevices,
}

/// Finds a node and devices for a pod.
///
/// Every node is looked at, in the order of names. An error on one node ends the attempt, even if
/// others fit, as upstream.
pub fn schedule(snapshot: &Snapshot, pod: &Arc<Pod>, memo: &mut Memo, options: &Options) -> Decision {
    let query = match PodQuery::new(snapshot, pod, options) {
        Ok(query) => query,
        Err(error) => return not_queried(snapshot, pod, error),
    };
    if snapshot.nodes().is_empty() {
        return unschedulable(snapshot, pod, Cause::NoNodes);
    }
    let mut devices = Filter::new(snapshot, &query, options);
    let fitting = match find_fitting(snapshot, &query, &mut devices, &mut memo.allocator) {
        Ok(fitting) => fitting,
        Err(decision) => return decision,
    };
    let scores = if fitting.len() > 1 { score(&query, &devices, &fitting) } else { Box::default() };
    let Some(best) = fitting.get(pick(&scores, pod, options.seed)) else {
        return unschedulable(snapshot, pod, Cause::NoNodes);
    };
    match reserve(snapshot, &query, devices.pending(), best.info, &best.devices, options) {
        Ok(placement) => Decision::Placed(Placement { scores, ..placement }),
        Err(error) => Decision::Error(error),
    }
}

fn unschedulable(snapshot: &Snapshot, pod: &Arc<Pod>, cause: Cause) -> Decision {
    Decision::Unschedulable(Diagnosis {
        pod: Arc::clone(pod),
        version: snapshot.features().version,
        nodes: snapshot.nodes().len(),
        cause,
        post_filter: None,
    })
}

fn not_queried(snapshot: &Snapshot, pod: &Arc<Pod>, error: QueryError) -> Decision {
    if snapshot.nodes().is_empty() && !error.is_gate() {
        return unschedulable(snapshot, pod, Cause::NoNodes);
    }
    if error.is_error() {
        return Decision::Error(CycleError::Query { pod: Arc::clone(pod), error });
    }
    unschedulable(snapshot, pod, Cause::Query(error))
}

/// The nodes that fit, at least one, by name.
fn find_fitting<'a>(
    snapshot: &'a Snapshot,
    query: &PodQuery,
    devices: &mut Filter<'_>,
    allocator: &mut Allocator,
) -> Result<Vec<FeasibleNode<'a>>, Decision> {
    let mut fitting = Vec::new();
    let mut rejections = Vec::new();
    for info in snapshot.nodes().values() {
        let node = &info.node.name;
        let rejection = match filter(query, info) {
            Err(rejection) => rejection,
            Ok(()) => match devices.filter(allocator, info) {
                Ok(devices) => {
                    fitting.push(FeasibleNode { info, devices });
                    continue;
                }
                Err(Refusal::Node(rejection)) => Rejection::DynamicResources(rejection),
                Err(Refusal::Attempt(error)) => {
                    return Err(Decision::Error(CycleError::Allocate { node: node.clone(), error }));
                }
            },
        };
        rejections.push((node.clone(), rejection));
    }
    if !fitting.is_empty() {
        return Ok(fitting);
    }
    Err(Decision::Unschedulable(Diagnosis {
        pod: Arc::clone(&query.pod),
        version: snapshot.features().version,
        nodes: snapshot.nodes().len(),
        cause: Cause::Nodes { rejected: group(rejections) },
        post_filter: devices.post_filter(),
    }))
}

/// The scores of nodes, in their order.
fn score(query: &PodQuery, devices: &Filter<'_>, nodes: &[FeasibleNode<'_>]) -> Box<[NodeScore]> {
    let by_plugin = SCORED.map(|plugin| {
        let raw = |node: &FeasibleNode<'_>| match plugin {
            Plugin::TaintToleration => taint_toleration::score(query, node.info),
            Plugin::NodeAffinity => node_affinity::score(query, node.info),
            Plugin::NodeResourcesFit => node_resources_fit::score(query, node.info),
            _ => devices.score(&node.devices),
        };
        let mut scores: Vec<i64> = nodes.iter().map(raw).collect();
        match plugin {
            Plugin::TaintToleration => taint_toleration::normalize(&mut scores),
            Plugin::NodeAffinity => node_affinity::normalize(&mut scores),
            Plugin::NodeResourcesFit => node_resources_fit::normalize(&mut scores),
            _ => default_normalize(&mut scores, false),
        }
        scores
    });
    let of_node = |(index, node): (usize, &FeasibleNode<'_>)| {
        let scores = by_plugin.each_ref().map(|scores| scores[index]);
        let total = SCORED.iter().zip(scores).map(|(plugin, score)| plugin.weight() * score).sum();
        NodeScore { node: node.info.node.name.clone(), by_plugin: scores, total }
    };
    nodes.iter().enumerate().map(of_node).collect()
}

/// The place of the node with the greatest total. Among equals the first by name, or with a seed
/// the one of the greatest hash. Upstream's choice among equals depends on timing.
fn pick(scores: &[NodeScore], pod: &Pod, seed: u64) -> usize {
    let Some(greatest) = scores.iter().map(|score| score.total).max() else { return 0 };
    let mut equals = (0..scores.len()).filter(|index| scores[*index].total == greatest);
    let hash = |index: &usize| {
        let texts = [pod.key.namespace.as_str(), &pod.key.name, scores[*index].node.as_str()];
        tie_break(seed, &texts)
    };
    if seed == 0 { equals.next() } else { equals.max_by_key(hash) }.unwrap_or(0)
}
