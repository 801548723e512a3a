//! Which of the nodes that fit is the best one.

use std::sync::Arc;

use crate::model::{NodeInfo, NodeName, Pod};

use super::plugins::{
    Plugin, SCORED, default_normalize, node_affinity, node_resources_fit, taint_toleration,
};
use super::query::PodQuery;
use super::share_id::tie_break;

/// One score of each plugin, in the order of [`SCORED`].
pub type ByPlugin = [i64; SCORED.len()];

/// The normalised scores of nodes, by name.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Scores {
    nodes: Arc<[NodeName]>,
    by_plugin: Box<[ByPlugin]>,
}

/// The scores of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeScore<'a> {
    /// The node.
    pub node: &'a NodeName,
    /// Normalised scores, 0 to 100.
    pub by_plugin: ByPlugin,
}

impl NodeScore<'_> {
    /// Each plugin with its normalised score.
    pub fn plugins(&self) -> impl Iterator<Item = (Plugin, i64)> {
        SCORED.iter().copied().zip(self.by_plugin)
    }

    /// The weighted sum.
    pub fn total(&self) -> i64 {
        total(&self.by_plugin)
    }
}

fn total(scores: &ByPlugin) -> i64 {
    SCORED.iter().zip(scores).map(|(plugin, score)| plugin.weight() * score).sum()
}

/// What the plugins that look at neither claims nor devices give a node, before normalisation; the
/// place of `DynamicResources` is `devices`.
pub(super) fn raw_scores(query: &PodQuery, info: &NodeInfo, devices: i64) -> ByPlugin {
    SCORED.map(|plugin| match plugin {
        Plugin::TaintToleration => taint_toleration::score(query, info),
        Plugin::NodeAffinity => node_affinity::score(query, info),
        Plugin::NodeResourcesFit => node_resources_fit::score(query, info),
        _ => devices,
    })
}

impl Scores {
    /// Normalises what the plugins gave the nodes, `raw` in the order of `nodes`.
    pub(super) fn new(nodes: Arc<[NodeName]>, raw: Box<[ByPlugin]>) -> Self {
        let mut by_plugin = raw;
        for (at, plugin) in SCORED.iter().enumerate() {
            let mut scores: Vec<i64> = by_plugin.iter().map(|scores| scores[at]).collect();
            match plugin {
                Plugin::TaintToleration => taint_toleration::normalize(&mut scores),
                Plugin::NodeAffinity => node_affinity::normalize(&mut scores),
                Plugin::NodeResourcesFit => node_resources_fit::normalize(&mut scores),
                _ => default_normalize(&mut scores, false),
            }
            for (node, score) in by_plugin.iter_mut().zip(scores) {
                node[at] = score;
            }
        }
        Self { nodes, by_plugin }
    }

    /// Each node with its scores, by name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = NodeScore<'_>> {
        self.nodes
            .iter()
            .zip(&self.by_plugin)
            .map(|(node, by_plugin)| NodeScore { node, by_plugin: *by_plugin })
    }

    /// Whether there are none, as for a single node, which needs none.
    pub fn is_empty(&self) -> bool {
        self.by_plugin.is_empty()
    }

    /// The place of the node with the greatest total. Among equals the first by name, or with a seed
    /// the one of the greatest hash. Upstream's choice among equals depends on timing.
    pub(super) fn pick(&self, pod: &Pod, seed: u64) -> usize {
        let totals: Vec<i64> = self.by_plugin.iter().map(total).collect();
        let Some(greatest) = totals.iter().copied().max() else { return 0 };
        let mut equals = (0..totals.len()).filter(|at| totals[*at] == greatest);
        let hash = |at: &usize| {
            let texts = [pod.key.namespace.as_str(), &pod.key.name, self.nodes[*at].as_str()];
            tie_break(seed, &texts)
        };
        if seed == 0 { equals.next() } else { equals.max_by_key(hash) }.unwrap_or(0)
    }
}
