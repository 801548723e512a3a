//! One pod's cycle: prefilter, filter, score, reserve.

use std::sync::Arc;

use crate::allocator::Allocator;
use crate::cel::{Environment, Programs};
use crate::model::{Features, NodeInfo, Pod, Snapshot};

use super::decision::{Cause, CycleError, Decision, Diagnosis, NodeScore, Placement};
use super::faulty_selectors::faulty_selectors;
use super::options::Options;
use super::plugins::device_findings::device_findings;
use super::plugins::dynamic_resources::{Filter, NodeDevices, Refusal};
use super::plugins::{
    self, Plugin, SCORED, default_normalize, node_affinity, node_resources_fit, taint_toleration,
};
use super::query::PodQuery;
use super::query_error::QueryError;
use super::rejection::{DeviceRejection, Rejection, group};
use super::reserve::reserve;
use super::share_id::tie_break;

/// What is kept between cycles to make them fast. It never changes an answer.
pub struct Memo {
    allocator: Allocator,
    /// The selectors of the judge, which shares nothing with the allocator.
    judged: Programs,
}

impl Memo {
    /// Nothing remembered yet.
    pub fn new(features: &Features) -> Self {
        Self { allocator: Allocator::new(features), judged: Programs::new(Environment::new(features)) }
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
    place(snapshot, pod, memo, options).unwrap_or_else(|decision| *decision)
}

/// The placement, or the decision that there is none.
fn place(
    snapshot: &Snapshot,
    pod: &Arc<Pod>,
    memo: &mut Memo,
    options: &Options,
) -> Result<Decision, Box<Decision>> {
    let query = PodQuery::new(snapshot, pod, options).map_err(|error| not_queried(snapshot, pod, error))?;
    let mut filter = Filter::new(snapshot, &query, options);
    let fitting = find_fitting(snapshot, &query, &mut filter, &mut memo.allocator)?;
    let scores = score(&query, &filter, &fitting);
    let best = fitting.get(pick(&scores, pod, options.seed)).ok_or_else(|| no_nodes(snapshot, pod))?;
    let placement =
        reserve(snapshot, &query, filter.pending(), best.info, &best.devices, &mut memo.judged, options)
            .map_err(|error| Box::new(Decision::Error(*error)))?;
    Ok(Decision::Placed(Placement { scores, ..placement }))
}

fn unschedulable(snapshot: &Snapshot, pod: &Arc<Pod>, cause: Cause) -> Box<Decision> {
    Box::new(Decision::Unschedulable(Diagnosis {
        pod: Arc::clone(pod),
        version: snapshot.features().version,
        nodes: snapshot.nodes().len(),
        cause,
        post_filter: None,
    }))
}

fn no_nodes(snapshot: &Snapshot, pod: &Arc<Pod>) -> Box<Decision> {
    unschedulable(snapshot, pod, Cause::NoNodes)
}

/// Without nodes upstream looks no further than at what keeps a pod out of its active queue.
fn not_queried(snapshot: &Snapshot, pod: &Arc<Pod>, error: QueryError) -> Box<Decision> {
    if snapshot.nodes().is_empty() && !error.is_gate() {
        no_nodes(snapshot, pod)
    } else if error.is_error() {
        Box::new(Decision::Error(CycleError::Query { pod: Arc::clone(pod), error }))
    } else {
        unschedulable(snapshot, pod, Cause::Query(error))
    }
}

/// The nodes that fit, at least one, by name.
fn find_fitting<'a>(
    snapshot: &'a Snapshot,
    query: &PodQuery,
    filter: &mut Filter<'_>,
    allocator: &mut Allocator,
) -> Result<Vec<FeasibleNode<'a>>, Box<Decision>> {
    let mut fitting = Vec::new();
    let mut rejections = Vec::new();
    for info in snapshot.nodes().values() {
        let devices = match plugins::filter(query, info) {
            Ok(()) => filter.filter(allocator, info),
            Err(rejection) => Err(Refusal::Node(rejection)),
        };
        match devices {
            Ok(devices) => fitting.push(FeasibleNode { info, devices }),
            Err(Refusal::Node(rejection)) => rejections.push((info, rejection)),
            Err(Refusal::Attempt(error)) => {
                let selectors = faulty_selectors(snapshot, query, &error);
                let error = CycleError::Allocate { node: info.node.name.clone(), error: *error, selectors };
                return Err(Box::new(Decision::Error(error)));
            }
        }
    }
    if !fitting.is_empty() {
        return Ok(fitting);
    }
    if rejections.is_empty() {
        return Err(no_nodes(snapshot, &query.pod));
    }
    Err(diagnose(snapshot, query, filter, allocator, rejections))
}

/// Why no node will do, with what became of the devices where they did not suffice.
fn diagnose(
    snapshot: &Snapshot,
    query: &PodQuery,
    filter: &mut Filter<'_>,
    allocator: &mut Allocator,
    rejections: Vec<(&Arc<NodeInfo>, Rejection)>,
) -> Box<Decision> {
    use DeviceRejection::{CannotAllocate, InvalidPools};
    let lacks_devices =
        |r: &Rejection| matches!(r, Rejection::DynamicResources(CannotAllocate | InvalidPools));
    let lacking: Vec<_> =
        rejections.iter().filter(|(_, rejection)| lacks_devices(rejection)).map(|(info, _)| *info).collect();
    let devices = device_findings(filter, allocator, snapshot, &lacking);
    let named = rejections.into_iter().map(|(info, rejection)| (info.node.name.clone(), rejection));
    Box::new(Decision::Unschedulable(Diagnosis {
        pod: Arc::clone(&query.pod),
        version: snapshot.features().version,
        nodes: snapshot.nodes().len(),
        cause: Cause::Nodes { rejected: group(named), devices },
        post_filter: filter.post_filter(),
    }))
}

/// The scores of nodes, in their order; none for a single node, which needs none.
fn score(query: &PodQuery, filter: &Filter<'_>, nodes: &[FeasibleNode<'_>]) -> Box<[NodeScore]> {
    if nodes.len() < 2 {
        return Box::default();
    }
    let by_plugin = SCORED.map(|plugin| {
        let raw = |node: &FeasibleNode<'_>| match plugin {
            Plugin::TaintToleration => taint_toleration::score(query, node.info),
            Plugin::NodeAffinity => node_affinity::score(query, node.info),
            Plugin::NodeResourcesFit => node_resources_fit::score(query, node.info),
            _ => filter.score(&node.devices),
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
