//! Pods: what they ask of a node and which claims they need (`core/v1 Pod`).

use super::ids::{ClaimKey, Name, NodeName, PodKey, Timestamp, Uid};
use super::node::HostPort;
use super::resources::ResourceList;
use super::selection::{Labels, NodeSelector, NodeSelectorTerm};
use super::taint::Toleration;

/// A container or init container.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Container {
    /// The name.
    pub name: Name,
    /// An init container that runs beside the others (a sidecar).
    pub restarts_always: bool,
    /// `resources.requests`, limits standing in where a request is absent.
    pub requests: ResourceList,
    /// `allocatedResources` of its status: what the kubelet has set aside for it. Empty if that is
    /// not reported, or goes without saying.
    pub allocated: ResourceList,
    /// `resources.requests` of its status: what it runs with. Empty as above.
    pub actual: ResourceList,
    /// The ports of the node that it occupies.
    pub host_ports: Box<[HostPort]>,
    /// Names of the pod's claims that it uses.
    pub claims: Box<[Name]>,
}

/// How a pod names one of its claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimSource {
    /// A claim by name.
    Claim(Name),
    /// A claim to be made from this template.
    Template(Name),
    /// Neither field is set.
    Unknown,
}

/// One entry of `spec.resourceClaims`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodClaim {
    /// The name that containers use.
    pub name: Name,
    /// Where the claim comes from.
    pub source: ClaimSource,
}

/// One entry of `status.resourceClaimStatuses`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodClaimStatus {
    /// The name that containers use.
    pub name: Name,
    /// The claim made; `None` says that no claim was needed.
    pub claim: Option<Name>,
}

/// A node affinity that is wished for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreferredTerm {
    /// What a match is worth.
    pub weight: i32,
    /// What is wished for.
    pub term: NodeSelectorTerm,
}

/// A part of a pod's specification that decides about nodes and that this release does not judge.
/// A pod that has one stays pending and says so: a wrong node is worse than none.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum UnservedFeature {
    /// A volume that needs the volume plugins, by its name in the pod.
    Volume(Name),
    /// Required affinity or anti-affinity to other pods.
    PodAffinity,
    /// A topology spread constraint with `DoNotSchedule`.
    TopologySpread,
}

/// `status.phase`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum PodPhase {
    /// Not yet running, or not reported.
    #[default]
    Pending,
    /// Running.
    Running,
    /// Ended; it uses nothing any more.
    Ended,
}

/// How far a resize in place has come (KEP-1287), of the pod as a whole (KEP-5419).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PodResize {
    /// `status.allocatedResources`; empty if not reported.
    pub allocated: ResourceList,
    /// `status.resources.requests`, if `status.resources` is reported.
    pub actual: Option<ResourceList>,
    /// The node can never give what the specification asks for now.
    pub infeasible: bool,
}

/// A pod.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Pod {
    /// Namespace and name.
    pub key: PodKey,
    /// The identity.
    pub uid: Uid,
    /// The version that a write must name.
    pub resource_version: Name,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// `metadata.labels`.
    pub labels: Labels,
    /// Whether it is being deleted.
    pub deleting: bool,
    /// `spec.schedulerName`.
    pub scheduler_name: Name,
    /// `spec.priority`, 0 if absent.
    pub priority: i32,
    /// The node it is assigned to.
    pub node_name: Option<NodeName>,
    /// The node that it hopes for.
    pub nominated_node_name: Option<NodeName>,
    /// `status.phase`.
    pub phase: PodPhase,
    /// Gates that hold it back.
    pub scheduling_gates: Box<[Name]>,
    /// `spec.nodeSelector`.
    pub node_selector: Labels,
    /// Required node affinity.
    pub required_affinity: Option<NodeSelector>,
    /// Preferred node affinity.
    pub preferred_affinity: Box<[PreferredTerm]>,
    /// `spec.hostNetwork`.
    pub host_network: bool,
    /// Node taints that do not matter.
    pub tolerations: Box<[Toleration]>,
    /// Containers.
    pub containers: Box<[Container]>,
    /// Init containers, sidecars among them, in order.
    pub init_containers: Box<[Container]>,
    /// What running the pod costs by itself.
    pub overhead: ResourceList,
    /// Requests of the pod as a whole (KEP-2837).
    pub pod_requests: Option<ResourceList>,
    /// How far a resize has come; containers say the same of themselves.
    pub resize: PodResize,
    /// Claims.
    pub claims: Box<[PodClaim]>,
    /// Claims made from templates.
    pub claim_statuses: Box<[PodClaimStatus]>,
    /// The claim made for its extended resources.
    pub extended_resource_claim: Option<Name>,
    /// What this release does not judge.
    pub unserved: Box<[UnservedFeature]>,
}

impl Pod {
    /// The claim of that pod-level name, if the pod says so by itself.
    pub fn claim_key(&self, claim: &PodClaim) -> Option<ClaimKey> {
        let name = match &claim.source {
            ClaimSource::Claim(name) => name.clone(),
            ClaimSource::Template(_) => {
                self.claim_statuses.iter().find(|s| s.name == claim.name)?.claim.clone()?
            }
            ClaimSource::Unknown => return None,
        };
        Some(ClaimKey { namespace: self.key.namespace.clone(), name })
    }

    /// The ports of the node that the pod occupies while it runs.
    pub fn host_ports(&self) -> impl Iterator<Item = &HostPort> {
        let sidecars = self.init_containers.iter().filter(|c| c.restarts_always);
        self.containers.iter().chain(sidecars).flat_map(|c| c.host_ports.iter())
    }
}

/// What a container without a CPU request is scored as, in thousandths of a core.
pub const SCORED_MILLI_CPU: i64 = 100;
/// What a container without a memory request is scored as, in bytes.
pub const SCORED_MEMORY: i64 = 200 << 20;
