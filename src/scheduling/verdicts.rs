//! What every node says to a pod, kept up to date from one snapshot to the next.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::changes::changed_nodes;
use crate::model::{NodeInfo, NodeName, Snapshot};

use super::plugins::dynamic_resources::NodeDevices;
use super::rejection::Rejection;
use super::scores::ByPlugin;

/// What one node says.
#[derive(Clone, Debug)]
pub(super) struct Verdict {
    /// The node.
    pub info: Arc<NodeInfo>,
    /// Whether it fits.
    pub answer: Result<Fit, Rejection>,
}

/// A node that fits.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    /// The devices that it has for the pod.
    pub devices: NodeDevices,
    /// Its scores before normalisation.
    pub raw: ByPlugin,
}

/// What every node says, by name.
///
/// Invariant: the verdicts are those that a fresh judgement of all nodes of `of` would give.
#[derive(Debug, Default)]
pub(super) struct Verdicts {
    of: Option<Snapshot>,
    nodes: Vec<Verdict>,
    /// The names of those that fit, as long as they are the same ones.
    fitting: Option<Arc<[NodeName]>>,
}

impl Verdicts {
    /// The snapshot that they are of.
    pub fn snapshot(&self) -> Option<&Snapshot> {
        self.of.as_ref()
    }

    /// Has every node judged of which the snapshot tells something new, by name.
    ///
    /// # Errors
    /// The first error of `judge`. Then nothing is known any more.
    pub fn update<E>(
        &mut self,
        snapshot: &Snapshot,
        judge: impl FnMut(&Arc<NodeInfo>) -> Result<Verdict, E>,
    ) -> Result<(), E> {
        let changed = self.of.take().and_then(|before| changed_nodes(&before, snapshot));
        match changed {
            Some(changed) => self.judge_again(snapshot, &changed, judge)?,
            None => self.judge_all(snapshot, judge)?,
        }
        self.of = Some(snapshot.clone());
        Ok(())
    }

    fn judge_all<E>(
        &mut self,
        snapshot: &Snapshot,
        judge: impl FnMut(&Arc<NodeInfo>) -> Result<Verdict, E>,
    ) -> Result<(), E> {
        self.fitting = None;
        self.nodes.clear();
        self.nodes.reserve_exact(snapshot.nodes().len());
        for verdict in snapshot.nodes().values().map(judge) {
            self.nodes.push(verdict?);
        }
        Ok(())
    }

    fn judge_again<E>(
        &mut self,
        snapshot: &Snapshot,
        changed: &BTreeSet<NodeName>,
        mut judge: impl FnMut(&Arc<NodeInfo>) -> Result<Verdict, E>,
    ) -> Result<(), E> {
        for name in changed {
            let Some(info) = snapshot.nodes().get(name) else { continue };
            let Ok(at) = self.nodes.binary_search_by(|verdict| verdict.info.node.name.cmp(name)) else {
                continue;
            };
            let verdict = judge(info)?;
            if verdict.answer.is_ok() != self.nodes[at].answer.is_ok() {
                self.fitting = None;
            }
            self.nodes[at] = verdict;
        }
        Ok(())
    }

    /// The nodes that fit.
    pub fn fitting(&self) -> impl Iterator<Item = (&Arc<NodeInfo>, &Fit)> {
        self.nodes.iter().filter_map(|verdict| Some((&verdict.info, verdict.answer.as_ref().ok()?)))
    }

    /// Their names.
    pub fn names(&mut self) -> Arc<[NodeName]> {
        if self.fitting.is_none() {
            self.fitting = Some(self.fitting().map(|(info, _)| info.node.name.clone()).collect());
        }
        self.fitting.clone().unwrap_or_default()
    }

    /// The nodes that object, with why.
    pub fn rejections(&self) -> impl Iterator<Item = (&Arc<NodeInfo>, &Rejection)> {
        self.nodes.iter().filter_map(|verdict| Some((&verdict.info, verdict.answer.as_ref().err()?)))
    }
}
