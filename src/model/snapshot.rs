//! The world at one moment: everything that a decision may look at, and nothing else.
//!
//! A snapshot is a value. Changing it gives another one, and both share what did not change.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};

use super::claim::{DeviceClass, ResourceClaim};
use super::features::{FeatureGate, Features, KubernetesVersion};
use super::ids::{ClaimKey, ClassName, Name, NodeName, PodKey, PoolId, Uid};
use super::node::{Node, NodeInfo};
use super::pod::{Pod, PodPhase};
use super::slice::ResourceSlice;
use super::taint_rule::{DeviceTaintRule, apply_taint_rules};
use super::usage::DeviceUsage;

/// Slices by name.
pub type SlicesByName = OrdMap<Name, Arc<ResourceSlice>>;

/// The published slices with the taints of all rules, indexed by who can reach them.
///
/// Invariant: `by_node`, `shared` and `by_pool` list just the slices of `all`.
#[derive(Clone, Debug, Default)]
pub struct SliceIndex {
    /// Every slice.
    pub all: SlicesByName,
    /// Slices of one node.
    pub by_node: OrdMap<NodeName, SlicesByName>,
    /// Slices that several nodes may reach.
    pub shared: SlicesByName,
    /// Slices by pool, of every generation and node.
    pub by_pool: OrdMap<PoolId, SlicesByName>,
}

impl SliceIndex {
    fn insert(&mut self, slice: &Arc<ResourceSlice>) {
        self.remove(&slice.name);
        let name = slice.name.clone();
        self.all.insert(name.clone(), Arc::clone(slice));
        match slice.placement.node_name.as_ref().filter(|node| !node.as_str().is_empty()) {
            Some(node) => insert_nested(&mut self.by_node, node, slice),
            None => drop(self.shared.insert(name, Arc::clone(slice))),
        }
        insert_nested(&mut self.by_pool, &slice.pool, slice);
    }

    fn remove(&mut self, name: &Name) {
        let Some(old) = self.all.remove(name) else { return };
        match old.placement.node_name.as_ref().filter(|node| !node.as_str().is_empty()) {
            Some(node) => remove_nested(&mut self.by_node, node, name),
            None => drop(self.shared.remove(name)),
        }
        remove_nested(&mut self.by_pool, &old.pool, name);
    }
}

fn insert_nested<K: Ord + Clone>(index: &mut OrdMap<K, SlicesByName>, key: &K, slice: &Arc<ResourceSlice>) {
    let mut slices = index.get(key).cloned().unwrap_or_default();
    slices.insert(slice.name.clone(), Arc::clone(slice));
    index.insert(key.clone(), slices);
}

fn remove_nested<K: Ord + Clone>(index: &mut OrdMap<K, SlicesByName>, key: &K, name: &Name) {
    let Some(mut slices) = index.get(key).cloned() else { return };
    slices.remove(name);
    if slices.is_empty() {
        index.remove(key);
    } else {
        index.insert(key.clone(), slices);
    }
}

/// The world at one moment.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    features: Arc<Features>,
    nodes: OrdMap<NodeName, Arc<NodeInfo>>,
    /// Pods on nodes that are not known (yet).
    homeless: OrdMap<PodKey, Arc<Pod>>,
    classes: OrdMap<ClassName, Arc<DeviceClass>>,
    claims: OrdMap<ClaimKey, Arc<ResourceClaim>>,
    published: SlicesByName,
    rules: OrdMap<Name, Arc<DeviceTaintRule>>,
    slices: SliceIndex,
    usage: DeviceUsage,
    in_flight: OrdSet<Uid>,
}

impl Snapshot {
    /// An empty world under these gates.
    pub fn new(features: Features) -> Self {
        Self { features: Arc::new(features), ..Self::default() }
    }

    /// The gates.
    pub fn features(&self) -> &Features {
        &self.features
    }

    /// Nodes by name, with what runs on them.
    pub fn nodes(&self) -> &OrdMap<NodeName, Arc<NodeInfo>> {
        &self.nodes
    }

    /// Device classes by name.
    pub fn classes(&self) -> &OrdMap<ClassName, Arc<DeviceClass>> {
        &self.classes
    }

    /// Claims by namespace and name, with the allocations assumed so far.
    pub fn claims(&self) -> &OrdMap<ClaimKey, Arc<ResourceClaim>> {
        &self.claims
    }

    /// Slices with the taints of all rules.
    pub fn slices(&self) -> &SliceIndex {
        &self.slices
    }

    /// Devices that are held.
    pub fn usage(&self) -> &DeviceUsage {
        &self.usage
    }

    /// Whether the claim's allocation is assumed, and still on its way to the API server.
    pub fn is_in_flight(&self, claim: &Uid) -> bool {
        self.in_flight.contains(claim)
    }

    /// Adds or changes a node; pods that waited for it move in.
    pub fn set_node(&mut self, node: Node) {
        let name = node.name.clone();
        let node = Arc::new(node);
        let mut info = match self.nodes.get(&name) {
            Some(info) => info.with_node(node),
            None => NodeInfo::new(node),
        };
        let waiting: Vec<_> =
            self.homeless.values().filter(|pod| pod.node_name.as_ref() == Some(&name)).cloned().collect();
        for pod in waiting {
            self.homeless.remove(&pod.key);
            info = info.with_pod(pod);
        }
        self.nodes.insert(name, Arc::new(info));
    }

    /// Removes a node; its pods wait for it to come back.
    pub fn remove_node(&mut self, name: &NodeName) {
        if let Some(info) = self.nodes.remove(name) {
            for pod in info.pods.values() {
                self.homeless.insert(pod.key.clone(), Arc::clone(pod));
            }
        }
    }

    /// Counts a pod on its node. A pod without a node, or one that has ended, is not counted.
    pub fn set_pod(&mut self, pod: &Arc<Pod>, before: Option<&Pod>) {
        if let Some(before) = before {
            self.remove_pod(before);
        }
        let Some(node) = pod.node_name.as_ref().filter(|_| pod.phase != PodPhase::Ended) else { return };
        match self.nodes.get(node) {
            Some(info) => {
                let info = info.with_pod(Arc::clone(pod));
                self.nodes.insert(node.clone(), Arc::new(info));
            }
            None => drop(self.homeless.insert(pod.key.clone(), Arc::clone(pod))),
        }
    }

    /// Takes a pod off its node.
    pub fn remove_pod(&mut self, pod: &Pod) {
        self.homeless.remove(&pod.key);
        let Some(info) = pod.node_name.as_ref().and_then(|node| self.nodes.get(node)) else { return };
        let info = info.without_pod(&pod.key);
        self.nodes.insert(info.node.name.clone(), Arc::new(info));
    }

    /// Adds or changes a class.
    pub fn set_class(&mut self, class: DeviceClass) {
        self.classes.insert(class.name.clone(), Arc::new(class));
    }

    /// Removes a class.
    pub fn remove_class(&mut self, name: &ClassName) {
        self.classes.remove(name);
    }

    /// Adds or changes a claim; the devices that it held and those that it holds are counted.
    pub fn set_claim(&mut self, claim: Arc<ResourceClaim>) {
        self.free(&claim.key);
        if let Some(allocation) = &claim.allocation {
            self.usage = self.usage.with(&claim.key, allocation, &self.features);
        }
        self.claims.insert(claim.key.clone(), claim);
    }

    /// Removes a claim; its devices are free.
    pub fn remove_claim(&mut self, key: &ClaimKey) {
        self.free(key);
        if let Some(claim) = self.claims.remove(key) {
            self.in_flight.remove(&claim.uid);
        }
    }

    fn free(&mut self, key: &ClaimKey) {
        if let Some(old) = self.claims.get(key)
            && let Some(allocation) = &old.allocation
        {
            self.usage = self.usage.without(key, allocation, &self.features);
        }
    }

    /// Marks a claim's assumed allocation as on its way to the API server, or as arrived there.
    pub fn set_in_flight(&mut self, claim: &Uid, in_flight: bool) {
        if in_flight {
            self.in_flight.insert(claim.clone());
        } else {
            self.in_flight.remove(claim);
        }
    }

    /// Adds or changes a slice.
    pub fn set_slice(&mut self, slice: ResourceSlice) {
        let slice = Arc::new(slice);
        self.published.insert(slice.name.clone(), Arc::clone(&slice));
        self.patch(&slice);
    }

    /// Removes a slice.
    pub fn remove_slice(&mut self, name: &Name) {
        self.published.remove(name);
        self.slices.remove(name);
    }

    /// Adds or changes a taint rule.
    pub fn set_taint_rule(&mut self, rule: DeviceTaintRule) {
        self.rules.insert(rule.name.clone(), Arc::new(rule));
        self.patch_all();
    }

    /// Removes a taint rule.
    pub fn remove_taint_rule(&mut self, name: &Name) {
        self.rules.remove(name);
        self.patch_all();
    }

    fn patch_all(&mut self) {
        for slice in self.published.clone().values() {
            self.patch(slice);
        }
    }

    fn patch(&mut self, slice: &Arc<ResourceSlice>) {
        let version = self.features.version;
        // The rules got a gate of their own in 1.35.
        let on = self.features.has(FeatureGate::DRADeviceTaints)
            && (version < KubernetesVersion::V1_35 || self.features.has(FeatureGate::DRADeviceTaintRules));
        let rules = self.rules.values().filter(|_| on).map(|rule| &**rule);
        let patched = apply_taint_rules(slice, rules, version);
        self.slices.insert(&patched);
    }
}
