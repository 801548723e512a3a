//! Stands in for the allocator until it lands.
#![allow(missing_docs)]

use std::sync::Arc;

use crate::model::{
    Allocation, AllocationMode, ClaimKey, ClaimSpec, DeviceResult, Features, Node, NodeSelector, RequestKind,
    Snapshot, Uid,
};

#[derive(Clone, Copy, Debug)]
pub struct ClaimToAllocate<'a> {
    pub key: &'a ClaimKey,
    pub uid: &'a Uid,
    pub spec: &'a Arc<ClaimSpec>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AllocateError {
    Node(NodeError),
    Other(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeError {
    InvalidPools,
}

impl std::fmt::Display for AllocateError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Other(text) => f.write_str(text),
            Self::Node(_) => f.write_str("invalid resource pools were encountered"),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    pub result: Result<Option<Arc<[Allocation]>>, AllocateError>,
    pub steps: u64,
}

#[derive(Debug)]
pub struct Allocator {}

impl Allocator {
    pub fn new(_features: &Features) -> Self {
        Self {}
    }

    pub fn allocate(&mut self, snapshot: &Snapshot, node: &Node, claims: &[ClaimToAllocate<'_>]) -> Outcome {
        let mut devices = snapshot.slices().by_node.get(&node.name).into_iter().flat_map(|slices| {
            slices.values().flat_map(|slice| slice.devices.iter().map(|d| slice.pool.device(d.name.clone())))
        });
        let mut free = || devices.find(|device| snapshot.usage().device(device).is_none());
        let mut all = Vec::new();
        for claim in claims {
            let mut results = Vec::new();
            for request in &claim.spec.requests {
                let (name, mode) = match &request.kind {
                    RequestKind::Exactly(r) => (request.name.clone(), &r.mode),
                    RequestKind::FirstAvailable(subs) => {
                        (format!("{}/{}", request.name, subs[0].name).into(), &subs[0].requirement.mode)
                    }
                    RequestKind::Unknown => return Outcome { result: Ok(None), steps: 0 },
                };
                let count = if let AllocationMode::ExactCount(count) = mode { *count } else { 1 };
                for _ in 0..count {
                    let Some(device) = free() else { return Outcome { result: Ok(None), steps: 0 } };
                    results.push(DeviceResult {
                        request: name.clone(),
                        device,
                        admin_access: false,
                        tolerations: Box::default(),
                        binding_conditions: None,
                        binding_failure_conditions: None,
                        share_id: None,
                        consumed_capacity: None,
                        skip_node_operations: Box::default(),
                    });
                }
            }
            all.push(Allocation {
                results: results.into(),
                node_selector: Some(NodeSelector::of_node(&node.name)),
                ..Allocation::default()
            });
        }
        Outcome { result: Ok(Some(all.into())), steps: 0 }
    }
}

pub struct CheckedClaim<'a> {
    pub key: &'a ClaimKey,
    pub uid: &'a Uid,
    pub spec: &'a ClaimSpec,
    pub allocation: &'a Allocation,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {}

impl std::fmt::Display for Violation {
    fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {}
    }
}

pub fn check(_: &Snapshot, _: &Node, _: &[CheckedClaim<'_>]) -> Result<(), Violation> {
    Ok(())
}
