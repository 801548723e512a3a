//! One pod's cycle: prefilter, filter, score, reserve.

use std::sync::Arc;

use crate::model::{Features, Pod, Snapshot};

use super::decision::{Cause, Decision, Diagnosis};
use super::options::Options;
use super::query::PodQuery;

/// What is kept between cycles to make them fast. It never changes an answer.
#[derive(Debug)]
pub struct Memo {}

impl Memo {
    /// Nothing remembered yet.
    pub fn new(_features: &Features) -> Self {
        Self {}
    }
}

/// Finds a node and devices for a pod.
///
/// Every node is looked at, in the order of names. An error on one node ends the attempt, even if
/// others fit, as upstream.
pub fn schedule(snapshot: &Snapshot, pod: &Arc<Pod>, memo: &mut Memo, options: &Options) -> Decision {
    let _ = memo;
    let unschedulable = |cause| {
        Decision::Unschedulable(Diagnosis {
            pod: Arc::clone(pod),
            nodes: snapshot.nodes().len(),
            cause,
            post_filter: None,
        })
    };
    match PodQuery::new(snapshot, pod, options) {
        Ok(_) => unschedulable(Cause::NoNodes),
        Err(error) => unschedulable(Cause::Query(error)),
    }
}
