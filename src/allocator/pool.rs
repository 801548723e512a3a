//! Slices to pools: which devices a node can reach, in the order in which they are tried.
//!
//! Source: `GatherPools` of `k8s.io/dynamic-resource-allocation/structured` 1.37, KEP-4381 (pools),
//! KEP-4815 (counters of a pool).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::selection::SelectorError;
use crate::model::slice::Placement;
use crate::model::snapshot::SliceIndex;
use crate::model::{CounterSet, Device, Name, Node, PoolId, ResourceSlice};

use super::book::{Book, ContentId};
use super::errors::{Failure, FatalReason};
use super::rules::Rules;

/// What is wrong with a pool that contradicts itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum InvalidReason {
    /// Two devices of one name.
    DuplicateDevice {
        /// The name.
        device: Name,
    },
    /// Two counter sets of one name.
    DuplicateCounterSet {
        /// The name.
        counter_set: Name,
    },
    /// A device consumes from a counter set that the pool does not have.
    UnknownCounterSet {
        /// The device.
        device: Name,
        /// The name.
        counter_set: Name,
    },
    /// A device consumes a counter that the set does not have.
    UnknownCounter {
        /// The device.
        device: Name,
        /// The set.
        counter_set: Name,
        /// The counter.
        counter: Name,
    },
}

/// Whether devices of a pool can be given away.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PoolStatus {
    /// Yes.
    Usable,
    /// Not all slices of its generation are there: the driver is updating it.
    Incomplete,
    /// It contradicts itself.
    Invalid(InvalidReason),
}

/// The counters of a pool, each with its number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PoolCounters {
    /// The sets, sorted by name.
    pub sets: Vec<CounterSet>,
    /// The number of each set's first counter.
    firsts: Vec<usize>,
    /// Devices that other nodes reach; allocated, they consume counters, too.
    pub elsewhere: Vec<Arc<ResourceSlice>>,
}

impl PoolCounters {
    fn new(mut sets: Vec<CounterSet>, elsewhere: Vec<Arc<ResourceSlice>>) -> Self {
        sets.sort_by(|a, b| a.name.cmp(&b.name));
        let mut next = 0;
        let firsts = sets
            .iter()
            .map(|set| {
                next += set.counters.len();
                next - set.counters.len()
            })
            .collect();
        Self { sets, firsts, elsewhere }
    }

    /// The number of a set.
    pub fn set(&self, name: &Name) -> Option<usize> {
        self.sets.binary_search_by(|set| set.name.cmp(name)).ok()
    }

    /// The set and the name of a counter.
    pub fn name(&self, number: usize) -> Option<(&Name, &Name)> {
        let at = self.firsts.partition_point(|first| *first <= number).checked_sub(1)?;
        let set = self.sets.get(at)?;
        let (counter, _) = set.counters.get(number - self.firsts[at])?;
        Some((&set.name, counter))
    }

    /// The number of a counter.
    pub fn counter(&self, set: &Name, counter: &Name) -> Option<usize> {
        let set = self.set(set)?;
        let at = self.sets.get(set)?.counters.iter().position(|(name, _)| name == counter)?;
        Some(self.firsts.get(set)? + at)
    }
}

/// A pool as one node sees it.
///
/// Invariant: without devices unless it is usable (or the release gives them away all the same).
#[derive(Clone, Debug)]
pub(super) struct Pool {
    pub id: PoolId,
    pub status: PoolStatus,
    /// The slices whose devices the node reaches, by name.
    pub slices: Vec<Arc<ResourceSlice>>,
    /// Present if partitionable devices are enabled.
    pub counters: Option<PoolCounters>,
}

impl Pool {
    fn without_devices(id: PoolId, status: PoolStatus) -> Self {
        Self { id, status, slices: Vec::new(), counters: None }
    }

    fn has_binding_conditions(&self) -> bool {
        self.slices.iter().flat_map(|slice| &slice.devices).any(|device| device.binding_conditions.is_some())
    }
}

/// Whether the node reaches a device of a slice that leaves that to its devices.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Reach {
    Yes,
    No,
    Unknown(SelectorError),
}

/// Where a device stands: pool, slice and device by position.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Location {
    pub pool: usize,
    pub slice: usize,
    pub index: usize,
    /// The number of its driver and content.
    pub content: ContentId,
    pub reach: Reach,
}

/// All that a node reaches, in the order in which it is tried.
#[derive(Clone, Debug, Default)]
pub(super) struct NodePools {
    /// Pools without binding conditions first, then by driver and name.
    pub pools: Vec<Pool>,
    /// The devices of all pools; the position in this list is a device's number.
    pub devices: Vec<Location>,
    /// Pools of which slices of other nodes were looked at.
    pub consulted: Vec<PoolId>,
    /// Whether labels of the node mattered.
    pub by_labels: bool,
}

impl NodePools {
    /// A device with its slice. Numbers come from `devices`, so they exist.
    pub fn device(&self, number: usize) -> (&Pool, &ResourceSlice, &Device) {
        let at = &self.devices[number];
        let pool = &self.pools[at.pool];
        let slice = &pool.slices[at.slice];
        (pool, slice, &slice.devices[at.index])
    }

    /// Whether some pool contradicts itself.
    pub fn has_invalid_pool(&self) -> bool {
        self.pools.iter().any(|pool| matches!(pool.status, PoolStatus::Invalid(_)))
    }
}

/// Finds the pools that a node reaches.
///
/// # Errors
/// A node selector that cannot be evaluated.
pub(super) fn gather(
    rules: &Rules,
    book: &mut Book,
    slices: &SliceIndex,
    node: &Node,
) -> Result<NodePools, Failure> {
    let mut gathered = NodePools::default();
    let relevant = relevant_slices(rules, slices, node, &mut gathered.by_labels)?;
    let mut last = Vec::new();
    for (id, own) in relevant {
        let (pool, consulted) = complete(rules, slices, &id, own);
        if consulted {
            gathered.consulted.push(id);
        }
        match pool {
            Some(pool) if pool.has_binding_conditions() => last.push(pool),
            Some(pool) => gathered.pools.push(pool),
            None => {}
        }
    }
    gathered.pools.append(&mut last);
    gathered.devices = locate(book, &gathered.pools, node);
    Ok(gathered)
}

/// Slices that reach the node, by pool; only those of the highest generation among them.
fn relevant_slices(
    rules: &Rules,
    slices: &SliceIndex,
    node: &Node,
    by_labels: &mut bool,
) -> Result<BTreeMap<PoolId, Vec<Arc<ResourceSlice>>>, Failure> {
    let mut pools: BTreeMap<PoolId, Vec<Arc<ResourceSlice>>> = BTreeMap::new();
    let own = slices.by_node.get(&node.name).into_iter().flat_map(|own| own.values());
    for slice in own.chain(slices.shared.values()) {
        if !is_known(rules, slice) || !reaches(rules, slice, node, by_labels)? {
            continue;
        }
        let pool = pools.entry(slice.pool.clone()).or_default();
        let generation = pool.first().map_or(slice.generation, |first| first.generation);
        if slice.generation > generation {
            pool.clear();
        }
        if slice.generation >= generation {
            pool.push(Arc::clone(slice));
        }
    }
    Ok(pools)
}

/// Whether the gates allow to look at a slice at all.
fn is_known(rules: &Rules, slice: &ResourceSlice) -> bool {
    let partitions = slice.per_device_node_selection.is_some() || !slice.shared_counters.is_empty();
    (rules.partitionable || !partitions) && !hidden_by_groups(rules, slice)
}

/// Without the gate, slices with compatibility groups are as if they were not there.
fn hidden_by_groups(rules: &Rules, slice: &ResourceSlice) -> bool {
    !rules.groups
        && slice
            .devices
            .iter()
            .flat_map(|device| &device.consumes_counters)
            .any(|consumption| !consumption.compatibility_groups.is_empty())
}

fn reaches(rules: &Rules, slice: &ResourceSlice, node: &Node, by_labels: &mut bool) -> Result<bool, Failure> {
    let failure = |device, error| Failure {
        claim: None,
        reason: FatalReason::NodeSelection { slice: slice.name.clone(), device, error },
    };
    if rules.counters_reach_all && !slice.shared_counters.is_empty() {
        return Ok(true);
    }
    let whole = &slice.placement;
    let named = whole.node_name.as_ref().is_some_and(|name| !name.as_str().is_empty());
    if named || whole.all_nodes || whole.node_selector.is_some() {
        *by_labels |= !named && !whole.all_nodes;
        return matches_node(whole, node).map_err(|error| failure(None, error));
    }
    if slice.per_device_node_selection != Some(true) {
        return Ok(false);
    }
    *by_labels = true;
    for device in &slice.devices {
        if matches_node(&device.placement, node).map_err(|error| failure(Some(device.name.clone()), error))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The first criterion that is set decides.
fn matches_node(placement: &Placement, node: &Node) -> Result<bool, SelectorError> {
    if let Some(name) = placement.node_name.as_ref().filter(|name| !name.as_str().is_empty()) {
        return Ok(*name == node.name);
    }
    if placement.all_nodes {
        return Ok(true);
    }
    placement.node_selector.as_ref().map_or(Ok(false), |s| s.matches_strictly(&node.name, &node.labels))
}

/// The pool of these slices, none if it is obsolete; and whether other slices were looked at.
fn complete(
    rules: &Rules,
    slices: &SliceIndex,
    id: &PoolId,
    own: Vec<Arc<ResourceSlice>>,
) -> (Option<Pool>, bool) {
    let (generation, wanted) = own.first().map_or((0, 0), |first| (first.generation, first.slice_count));
    let is_all = |count: usize| i64::try_from(count) == Ok(wanted);
    if is_all(own.len()) {
        return (Some(build(rules, id, own, Vec::new())), false);
    }
    let everywhere: Vec<_> =
        slices.by_pool.get(id).into_iter().flat_map(|pool| pool.values()).cloned().collect();
    if everywhere.iter().any(|slice| slice.generation > generation) {
        return (None, true);
    }
    let of_generation: Vec<_> = everywhere
        .into_iter()
        .filter(|slice| slice.generation == generation && !hidden_by_groups(rules, slice))
        .collect();
    if is_all(of_generation.len()) {
        let names: BTreeSet<_> = own.iter().map(|slice| slice.name.clone()).collect();
        let others = of_generation.into_iter().filter(|slice| !names.contains(&slice.name)).collect();
        return (Some(build(rules, id, own, others)), true);
    }
    let mut pool = Pool::without_devices(id.clone(), PoolStatus::Incomplete);
    if rules.any_pool_will_do {
        pool.slices = build(rules, id, own, Vec::new()).slices;
    }
    (Some(pool), true)
}

fn build(
    rules: &Rules,
    id: &PoolId,
    mut own: Vec<Arc<ResourceSlice>>,
    others: Vec<Arc<ResourceSlice>>,
) -> Pool {
    own.sort_by(|a, b| a.name.cmp(&b.name));
    let is_counters = |slice: &Arc<ResourceSlice>| rules.partitionable && !slice.shared_counters.is_empty();
    let (mut counter_slices, devices): (Vec<_>, Vec<_>) = own.into_iter().partition(is_counters);
    let (other_counters, elsewhere): (Vec<_>, Vec<_>) = others.into_iter().partition(is_counters);
    counter_slices.extend(other_counters);
    let keep = |reason| {
        let mut pool = Pool::without_devices(id.clone(), PoolStatus::Invalid(reason));
        if rules.any_pool_will_do {
            pool.slices.clone_from(&devices);
        }
        pool
    };
    if let Err(reason) = check_device_names(&devices) {
        return keep(reason);
    }
    if !rules.partitionable {
        return Pool { id: id.clone(), status: PoolStatus::Usable, slices: devices, counters: None };
    }
    let sets = match counter_sets(&counter_slices) {
        Ok(sets) => sets,
        Err(reason) => return keep(reason),
    };
    let counters = PoolCounters::new(sets, elsewhere);
    match devices.iter().chain(&counters.elsewhere).try_for_each(|slice| check_counters(&counters, slice)) {
        Ok(()) => {
            Pool { id: id.clone(), status: PoolStatus::Usable, slices: devices, counters: Some(counters) }
        }
        Err(reason) => keep(reason),
    }
}

fn check_device_names(slices: &[Arc<ResourceSlice>]) -> Result<(), InvalidReason> {
    let mut names = BTreeSet::new();
    for device in slices.iter().flat_map(|slice| &slice.devices) {
        if !names.insert(&device.name) {
            return Err(InvalidReason::DuplicateDevice { device: device.name.clone() });
        }
    }
    Ok(())
}

fn counter_sets(slices: &[Arc<ResourceSlice>]) -> Result<Vec<CounterSet>, InvalidReason> {
    let mut names = BTreeSet::new();
    let mut sets = Vec::new();
    for set in slices.iter().flat_map(|slice| &slice.shared_counters) {
        if !names.insert(&set.name) {
            return Err(InvalidReason::DuplicateCounterSet { counter_set: set.name.clone() });
        }
        sets.push(set.clone());
    }
    Ok(sets)
}

fn check_counters(counters: &PoolCounters, slice: &ResourceSlice) -> Result<(), InvalidReason> {
    for device in &slice.devices {
        for consumption in &device.consumes_counters {
            let (device, counter_set) = (device.name.clone(), consumption.counter_set.clone());
            if counters.set(&counter_set).is_none() {
                return Err(InvalidReason::UnknownCounterSet { device, counter_set });
            }
            let unknown = |(name, _): &&(Name, _)| counters.counter(&consumption.counter_set, name).is_none();
            if let Some((counter, _)) = consumption.counters.iter().find(unknown) {
                let counter = counter.clone();
                return Err(InvalidReason::UnknownCounter { device, counter_set, counter });
            }
        }
    }
    Ok(())
}

fn locate(book: &mut Book, pools: &[Pool], node: &Node) -> Vec<Location> {
    let reach = |slice: &ResourceSlice, device: &Device| {
        if slice.per_device_node_selection != Some(true) {
            return Reach::Yes;
        }
        match matches_node(&device.placement, node) {
            Ok(true) => Reach::Yes,
            Ok(false) => Reach::No,
            Err(error) => Reach::Unknown(error),
        }
    };
    let mut devices = Vec::new();
    for (pool, slices) in pools.iter().enumerate() {
        for (slice, content) in slices.slices.iter().enumerate() {
            devices.extend(content.devices.iter().enumerate().map(|(index, device)| Location {
                pool,
                slice,
                index,
                content: book.content(&content.pool.driver, &device.content),
                reach: reach(content, device),
            }));
        }
    }
    devices
}
