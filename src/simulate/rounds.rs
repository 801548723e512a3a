//! One scheduling cycle after another, on the snapshot that each leaves behind, until nothing
//! changes any more.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::pod::ClaimSource;
use crate::model::{ClaimKey, Pod, Snapshot};
use crate::scheduling::assume::{Commit, assume, post_filter};
use crate::scheduling::decision::ClaimDevices;
use crate::scheduling::scores::Scores;
use crate::scheduling::{Decision, Memo, Options, Placement, schedule};

/// Most rounds over the pods that wait. Each round but the last frees a claim or allocates one
/// that a waiting pod shares, so that a few are enough; the bound is for inputs made to have many.
const MOST_ROUNDS: usize = 64;

/// What became of one pod in the end.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The pod.
    pub pod: Arc<Pod>,
    /// Its last decision, without the scores of nodes: a line per node and pod would be most of the
    /// memory of a large simulation.
    pub decision: Decision,
}

/// Schedules the pods in the order given, then those that wait as long as that may help them.
/// `on_attempt` is told after every attempt how many pods are left in the round.
///
/// The outcomes stand in the order of the pods.
pub fn run(
    mut snapshot: Snapshot,
    pods: &[Arc<Pod>],
    memo: &mut Memo,
    options: &Options,
    on_attempt: &mut dyn FnMut(usize),
) -> (Snapshot, Vec<Outcome>) {
    let mut outcomes: Vec<Option<Outcome>> = vec![None; pods.len()];
    let mut round: Vec<usize> = (0..pods.len()).collect();
    for _ in 0..MOST_ROUNDS {
        let mut change = Change::default();
        let mut waiting = Vec::new();
        for (done, &at) in round.iter().enumerate() {
            let mut decision = schedule(&snapshot, &pods[at], memo, options);
            match &mut decision {
                Decision::Placed(placement) => {
                    snapshot = assume(&snapshot, placement, Commit::Done);
                    change.allocated.extend(chosen(placement));
                    placement.scores = Scores::default();
                }
                Decision::Unschedulable(diagnosis) => {
                    waiting.push(at);
                    if let Some(action) = &diagnosis.post_filter {
                        snapshot = post_filter(&snapshot, action);
                        change.freed = true;
                    }
                }
                Decision::Error(_) => waiting.push(at),
            }
            outcomes[at] = Some(Outcome { pod: Arc::clone(&pods[at]), decision });
            on_attempt(round.len() - done - 1);
        }
        waiting.retain(|&at| change.may_help(&pods[at]));
        if waiting.is_empty() {
            break;
        }
        round = waiting;
    }
    (snapshot, outcomes.into_iter().flatten().collect())
}

/// What a round changed that can help a pod which waits. A placement as such only takes away.
#[derive(Default)]
struct Change {
    /// A claim lost its devices.
    freed: bool,
    /// Claims that got devices.
    allocated: BTreeSet<ClaimKey>,
}

impl Change {
    fn may_help(&self, pod: &Pod) -> bool {
        self.freed
            || pod.claims.iter().filter_map(|c| pod.claim_key(c)).any(|key| self.allocated.contains(&key))
    }
}

/// The claims that a placement allocates and that other pods may share.
fn chosen(placement: &Placement) -> impl Iterator<Item = ClaimKey> {
    let shared = |pod_claim: &str| {
        let claim = placement.pod.claims.iter().find(|claim| *claim.name == *pod_claim);
        claim.is_some_and(|claim| matches!(claim.source, ClaimSource::Claim(_)))
    };
    placement
        .claims
        .iter()
        .filter(move |placed| matches!(placed.devices, ClaimDevices::Chosen(_)) && shared(&placed.pod_claim))
        .map(|placed| placed.claim.key.clone())
}
