//! What earlier cycles learnt of the nodes, for the next pod that asks the same.
//!
//! Most pods are copies: those of a Deployment or a Job ask the very same of a node. A node's verdict
//! on a [`Question`] stays true until the node, its pods, or the holders of devices in its reach
//! change, so that a pod costs what changed since the last one of its kind, and not a look at every
//! node.

use std::sync::Arc;

use crate::model::changes::has_same_devices;
use crate::model::pod::PreferredTerm;
use crate::model::{
    ClaimSpec, HostPort, Labels, NodeName, NodeSelector, Pod, ResourceAmounts, ResourceClaim, Snapshot,
    Toleration,
};

use super::plugins::NodeSet;
use super::query::PodQuery;
use super::verdicts::Verdicts;

/// Most questions that are remembered.
const QUESTIONS: usize = 8;

/// Everything about a pod that a node's verdict depends on.
#[derive(Debug, PartialEq, Eq)]
struct Question {
    node_name: Option<NodeName>,
    node_selector: Labels,
    required_affinity: Option<NodeSelector>,
    preferred_affinity: Box<[PreferredTerm]>,
    tolerations: Box<[Toleration]>,
    requests: ResourceAmounts,
    scored_requests: ResourceAmounts,
    host_ports: Box<[HostPort]>,
    node_set: NodeSet,
    specs: Vec<Arc<ClaimSpec>>,
}

impl Question {
    /// What the pod asks, if it is remembered: not with claims that hold devices, whose verdict hangs
    /// on the claims and the time, nor with extended resources that classes serve.
    fn new(query: &PodQuery, pending: &[Arc<ResourceClaim>]) -> Option<Self> {
        let PodQuery { pod, requests, scored_requests, host_ports, node_set, claims, extended } = query;
        if extended.is_some() || claims.iter().any(|claim| claim.allocation().is_some()) {
            return None;
        }
        // Each field of a pod is either in the question or named here.
        let Pod {
            node_name,
            node_selector,
            required_affinity,
            preferred_affinity,
            tolerations,
            // In the question as what follows from them.
            containers: _,
            init_containers: _,
            overhead: _,
            pod_requests: _,
            claims: _,
            claim_statuses: _,
            // No node asks for these.
            key: _,
            uid: _,
            resource_version: _,
            created: _,
            labels: _,
            deleting: _,
            scheduler_name: _,
            priority: _,
            nominated_node_name: _,
            phase: _,
            scheduling_gates: _,
            extended_resource_claim: _,
            unserved: _,
            host_network: _,
            // Matters of a pod that is on a node.
            resize: _,
        } = &**pod;
        Some(Self {
            node_name: node_name.clone(),
            node_selector: node_selector.clone(),
            required_affinity: required_affinity.clone(),
            preferred_affinity: preferred_affinity.clone(),
            tolerations: tolerations.clone(),
            requests: requests.clone(),
            scored_requests: scored_requests.clone(),
            host_ports: host_ports.clone(),
            node_set: node_set.clone(),
            specs: pending.iter().map(|claim| Arc::clone(&claim.spec)).collect(),
        })
    }
}

/// The questions asked last.
#[derive(Debug, Default)]
pub(super) struct Recall {
    /// The one asked last stands last.
    known: Vec<(Question, Verdicts)>,
    /// Of a pod whose question is not remembered.
    passing: Verdicts,
}

impl Recall {
    /// What is known for the pod. To be brought up to date before it is used.
    pub fn verdicts(
        &mut self,
        snapshot: &Snapshot,
        query: &PodQuery,
        pending: &[Arc<ResourceClaim>],
    ) -> &mut Verdicts {
        let Self { known, passing } = self;
        // What no longer can be true should not be kept alive either.
        known.retain(|(_, verdicts)| verdicts.snapshot().is_some_and(|of| has_same_devices(of, snapshot)));
        *passing = Verdicts::default();
        let Some(question) = Question::new(query, pending) else { return passing };
        let found = known.iter().position(|(known, _)| *known == question);
        let entry = match found {
            Some(at) => known.remove(at),
            None => (question, Verdicts::default()),
        };
        if known.len() >= QUESTIONS {
            known.remove(0);
        }
        known.push(entry);
        match known.last_mut() {
            Some((_, verdicts)) => verdicts,
            None => passing,
        }
    }
}
