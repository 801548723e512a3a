//! One pod's cycle: prefilter, filter, score, reserve.

use std::sync::Arc;

use crate::allocator::Allocator;
use crate::cel::{Environment, Programs};
use crate::model::{Features, NodeInfo, Pod, Snapshot};

use super::decision::{Cause, CycleError, Decision, Diagnosis, Placement};
use super::faulty_selectors::faulty_selectors;
use super::options::Options;
use super::plugins;
use super::plugins::device_findings::device_findings;
use super::plugins::dynamic_resources::{Filter, Refusal};
use super::query::PodQuery;
use super::query_error::QueryError;
use super::recall::Recall;
use super::rejection::{DeviceRejection, Rejection, group};
use super::reserve::reserve;
use super::scores::{Scores, raw_scores};
use super::verdicts::{Fit, Verdict, Verdicts};

/// What is kept between cycles to make them fast. It never changes an answer.
pub struct Memo {
    allocator: Allocator,
    /// The selectors of the judge, which shares nothing with the allocator.
    judged: Programs,
    recall: Recall,
}

impl Memo {
    /// Nothing remembered yet.
    pub fn new(features: &Features) -> Self {
        Self {
            allocator: Allocator::new(features),
            judged: Programs::new(Environment::new(features)),
            recall: Recall::default(),
        }
    }
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
    let Memo { allocator, judged, recall } = memo;
    let query = PodQuery::new(snapshot, pod, options).map_err(|error| not_queried(snapshot, pod, error))?;
    let mut filter = Filter::new(snapshot, &query, options);
    let verdicts = recall.verdicts(snapshot, &query, filter.pending());
    verdicts.update(snapshot, |info| ask(snapshot, &query, &mut filter, allocator, info))?;
    let scores = score(verdicts);
    let at = scores.pick(pod, options.seed);
    let Some((info, fit)) = verdicts.fitting().nth(at) else {
        return Err(diagnose(snapshot, &query, &mut filter, allocator, verdicts));
    };
    let devices = filter.choose(allocator, info, &fit.devices);
    let placement = reserve(snapshot, &query, filter.pending(), info, &devices, judged, options)
        .map_err(|error| Box::new(Decision::Error(*error)))?;
    Ok(Decision::Placed(Placement { scores, ..placement }))
}

/// What a node says to the pod.
fn ask(
    snapshot: &Snapshot,
    query: &PodQuery,
    filter: &mut Filter<'_>,
    allocator: &mut Allocator,
    info: &Arc<NodeInfo>,
) -> Result<Verdict, Box<Decision>> {
    let devices = match plugins::filter(query, info) {
        Ok(()) => filter.filter(allocator, info),
        Err(rejection) => Err(Refusal::Node(rejection)),
    };
    let answer = match devices {
        Ok(devices) => {
            let raw = raw_scores(query, info, filter.score(&devices));
            Ok(Fit { devices, raw })
        }
        Err(Refusal::Node(rejection)) => Err(rejection),
        Err(Refusal::Attempt(error)) => {
            let selectors = faulty_selectors(snapshot, query, &error);
            let error = CycleError::Allocate { node: info.node.name.clone(), error: *error, selectors };
            return Err(Box::new(Decision::Error(error)));
        }
    };
    Ok(Verdict { info: Arc::clone(info), answer })
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

/// Why no node will do, with what became of the devices where they did not suffice.
fn diagnose(
    snapshot: &Snapshot,
    query: &PodQuery,
    filter: &mut Filter<'_>,
    allocator: &mut Allocator,
    verdicts: &Verdicts,
) -> Box<Decision> {
    use DeviceRejection::{CannotAllocate, InvalidPools};
    let lacks_devices =
        |r: &Rejection| matches!(r, Rejection::DynamicResources(CannotAllocate | InvalidPools));
    let lacking: Vec<_> = verdicts
        .rejections()
        .filter(|(_, rejection)| lacks_devices(rejection))
        .map(|(info, _)| info)
        .collect();
    let devices = device_findings(filter, allocator, snapshot, &lacking);
    let rejected =
        group(verdicts.rejections().map(|(info, rejection)| (info.node.name.clone(), rejection.clone())));
    if rejected.is_empty() {
        return no_nodes(snapshot, &query.pod);
    }
    Box::new(Decision::Unschedulable(Diagnosis {
        pod: Arc::clone(&query.pod),
        version: snapshot.features().version,
        nodes: snapshot.nodes().len(),
        cause: Cause::Nodes { rejected, devices },
        post_filter: filter.post_filter(),
    }))
}

/// The scores of the nodes that fit; none for a single node, which needs none.
fn score(verdicts: &mut Verdicts) -> Scores {
    let raw: Box<[_]> = verdicts.fitting().map(|(_, fit)| fit.raw).collect();
    if raw.len() < 2 { Scores::default() } else { Scores::new(verdicts.names(), raw) }
}
