//! What became of a pod, as a value: it can be printed, carried out, or replayed.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::allocator::AllocateError;
use crate::allocator::check::Violation;
use crate::allocator::funnel::RequestFunnel;
use crate::model::{
    Allocation, ClaimKey, ClaimSpec, KubernetesVersion, Name, NodeName, Pod, PoolId, ResourceClaim, Uid,
};

use super::query_error::QueryError;
use super::rejection::RejectedNodes;
use super::scores::Scores;

/// What became of one pod in one cycle.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    /// It has a node and devices.
    Placed(Placement),
    /// It has none, and waits until something changes.
    Unschedulable(Diagnosis),
    /// The attempt failed; it is repeated after a pause.
    Error(CycleError),
}

/// A node for a pod, and devices for all its claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The pod as it was looked at.
    pub pod: Arc<Pod>,
    /// The node.
    pub node: NodeName,
    /// The pod's claims in the order of `spec.resourceClaims`; entries for which no claim was
    /// needed are left out. A claim named twice stands here twice.
    pub claims: Box<[PlacedClaim]>,
    /// The claim to be made for the pod's extended resources, if DRA serves any on this node.
    pub extended: Option<ExtendedClaim>,
    /// The scores of all nodes that fit; empty if there was only one.
    pub scores: Scores,
}

/// A claim of a placed pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedClaim {
    /// The name in `spec.resourceClaims`.
    pub pod_claim: Name,
    /// The claim as it was looked at.
    pub claim: Arc<ResourceClaim>,
    /// Its devices.
    pub devices: ClaimDevices,
}

/// Where the devices of a claim come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimDevices {
    /// The claim holds them already.
    Held(Arc<Allocation>),
    /// They were chosen now.
    Chosen(Arc<Allocation>),
}

impl ClaimDevices {
    /// The devices.
    pub fn allocation(&self) -> &Arc<Allocation> {
        match self {
            Self::Held(allocation) | Self::Chosen(allocation) => allocation,
        }
    }
}

/// The claim to be made for a pod's extended resources (KEP-5004).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExtendedClaim {
    /// Stands in for the claim until the API server has given it a name; no valid object can have
    /// this one.
    pub placeholder: ClaimKey,
    /// Stands in for the claim's identity.
    pub placeholder_uid: Uid,
    /// `metadata.generateName`.
    pub generate_name: Name,
    /// What it asks.
    pub spec: Arc<ClaimSpec>,
    /// Its devices, chosen now.
    pub allocation: Arc<Allocation>,
    /// Which request serves which container's resource.
    pub mappings: Box<[RequestMapping]>,
}

/// One entry of `status.extendedResourceClaimStatus.requestMappings` of a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestMapping {
    /// The container.
    pub container: Name,
    /// The extended resource.
    pub resource: Name,
    /// The request in the claim.
    pub request: Name,
}

impl ExtendedClaim {
    /// The resource that a request serves, if any.
    pub fn resource_of(&self, request: &str) -> Option<&Name> {
        self.mappings.iter().find(|mapping| &*mapping.request == request).map(|mapping| &mapping.resource)
    }
}

/// Why a pod has no node.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnosis {
    /// The pod as it was looked at.
    pub pod: Arc<Pod>,
    /// The release whose words are used.
    pub version: KubernetesVersion,
    /// How many nodes there are.
    pub nodes: usize,
    /// Why none of them will do.
    pub cause: Cause,
    /// What can be done about it.
    pub post_filter: Option<PostFilter>,
}

/// Why no node will do.
#[derive(Clone, Debug, PartialEq)]
pub enum Cause {
    /// There are no nodes.
    NoNodes,
    /// The pod cannot be looked at for any node.
    Query(QueryError),
    /// Each node objects.
    Nodes {
        /// Every node once, grouped by reason, groups in the order of their first node.
        rejected: Box<[RejectedNodes]>,
        /// What became of the devices, where the claims could not be met.
        devices: DeviceFindings,
    },
}

/// What became of the devices on nodes where the claims could not be met.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct DeviceFindings {
    /// Nodes of one kind each; those of the most nodes, if there are many.
    pub funnels: Box<[NodeFunnel]>,
    /// Nodes that were not looked at in detail.
    pub others: usize,
    /// The users of all claims that the funnels name, as `namespace/name`.
    pub users: BTreeMap<ClaimKey, Box<[Name]>>,
    /// The slices of all pools that the funnels name as incomplete.
    pub pools: BTreeMap<PoolId, PublishedSlices>,
    /// What the claims ask.
    pub specs: BTreeMap<ClaimKey, Arc<ClaimSpec>>,
}

/// Nodes on which the claims fail alike, but for the names of devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeFunnel {
    /// The nodes by name.
    pub nodes: Vec<NodeName>,
    /// The funnels of the first of them, for each request or alternative.
    pub requests: Vec<RequestFunnel>,
}

/// How complete a pool is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedSlices {
    /// The newest generation.
    pub generation: i64,
    /// How many slices of it are there.
    pub published: usize,
    /// How many there should be.
    pub expected: i64,
}

/// What is done for a pod that fits nowhere. At most one thing in a cycle; the change it makes
/// brings the pod back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostFilter {
    /// Take the devices from a claim that nobody else uses: they are out of reach, or not ready.
    Deallocate {
        /// The claim as it was looked at.
        claim: Arc<ResourceClaim>,
    },
    /// Delete the left-over claim for the pod's extended resources.
    DeleteExtendedClaim {
        /// The claim as it was looked at.
        claim: Arc<ResourceClaim>,
    },
}

/// Why an attempt failed.
#[derive(Clone, Debug, PartialEq)]
pub enum CycleError {
    /// The pod or a claim of it is wrong in itself.
    Query {
        /// The pod as it was looked at.
        pod: Arc<Pod>,
        /// What is wrong.
        error: QueryError,
    },
    /// Choosing devices failed on a node in a way that concerns the claims or classes, not the node.
    Allocate {
        /// The node.
        node: NodeName,
        /// Why.
        error: AllocateError,
        /// The selectors that the error is about, if it is about any.
        selectors: Box<[Arc<str>]>,
    },
    /// A claim of the pod got no answer: a fault of this program. Nothing is written.
    NotAllocated {
        /// The node.
        node: NodeName,
        /// The claim.
        claim: ClaimKey,
    },
    /// The devices chosen break a rule: a fault of this program. Nothing is written.
    Violation {
        /// The node.
        node: NodeName,
        /// What the devices break.
        violation: Violation,
    },
}
