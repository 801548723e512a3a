//! The differences between the allocators that are intended. See `docs/compatibility.md`.

use crate::differences::Difference;
use crate::ours::Answer;

/// A world that is answered differently.
pub struct Case {
    /// This project's answers, node by node.
    pub ours: Vec<Answer>,
    /// Upstream's, from one allocator for all nodes, as in a scheduler.
    pub upstream: Vec<Answer>,
    /// Upstream's, from an allocator for each node.
    pub afresh: Vec<Answer>,
    /// Whether upstream's allocator of the stable channel answered.
    pub is_stable: bool,
    /// Whether slices of one generation of a pool contradict each other in how many there should be.
    pub has_contradicting_counts: bool,
}

impl Case {
    /// Whether the answers of every node are equal or fall under the rule.
    fn all(&self, upstream: &[Answer], rule: impl Fn(&Answer, &Answer) -> bool) -> bool {
        let mut pairs = self.ours.iter().zip(upstream);
        self.ours.len() == upstream.len()
            && pairs.all(|(ours, upstream)| ours == upstream || rule(ours, upstream))
    }
}

fn is_cut_off(ours: &Answer, upstream: &Answer) -> bool {
    *ours == Answer::CutOff || *upstream == Answer::CutOff
}

fn by_order(ours: &Answer, upstream: &Answer) -> bool {
    let is_error = |answer: &Answer| matches!(answer, Answer::NodeError(_) | Answer::Fatal(_));
    is_cut_off(ours, upstream) || ours.class() == upstream.class() || is_error(ours) || is_error(upstream)
}

/// What is tolerated, the first that applies.
pub const DIFFERENCES: &[Difference<Case>] = &[
    Difference {
        name: "search limit",
        upstream: "10 s of wall clock per node, then an error",
        here: "a budget of search steps per node, then an error",
        why: "the same input gives the same answer on every machine",
        link: "",
        tolerates: |case| case.all(&case.upstream, is_cut_off),
    },
    Difference {
        name: "nodes that see different generations of one pool with counters",
        upstream: "the second node tried is judged by the counters of the first: they are remembered by the \
                   pool's name as long as the pod is tried",
        here: "each by its own",
        why: "an upstream fault, which can give a partition more than there is",
        link: "",
        tolerates: |case| case.afresh != case.upstream && case.all(&case.afresh, is_cut_off),
    },
    Difference {
        name: "the stable channel: no gate newer than partitions, taints, lists of alternatives and admin access",
        upstream: "pools are visited in the random order of a map, so that devices, and which error is met, \
                   differ from run to run",
        here: "in the order of their names, as in the other channels",
        why: "the same input gives the same answer; what fits is the same",
        link: "",
        tolerates: |case| case.is_stable && case.all(&case.afresh, by_order),
    },
    Difference {
        name: "the stable channel and slices that contradict each other in `resourceSliceCount`",
        upstream: "the first slice that the informer happens to list is believed",
        here: "a slice of the node itself, the first by name, as in the other channels",
        why: "the same input gives the same answer; a driver publishes one count",
        link: "",
        tolerates: |case| case.is_stable && case.has_contradicting_counts,
    },
];
