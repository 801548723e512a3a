//! What of a node's devices is held already, and what that leaves of counters and capacity.

use crate::model::{CounterConsumption, Device, Name, PoolUse, Quantity};

use super::bits::Bits;
use super::pool::{NodePools, Pool, PoolCounters};

/// Who consumes from a counter set, as far as compatibility goes (KEP-5963).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Members {
    /// Nobody yet.
    #[default]
    None,
    /// Only devices without groups.
    Ungrouped,
    /// Devices that all have these groups, sorted.
    Sharing(Vec<Name>),
}

impl Members {
    /// The members with one more; none if it cannot be among them.
    pub fn with(&self, groups: &[Name]) -> Option<Self> {
        match (self, groups) {
            (Self::None | Self::Ungrouped, []) => Some(Self::Ungrouped),
            (Self::None, groups) => {
                let mut groups = groups.to_vec();
                groups.sort();
                groups.dedup();
                Some(Self::Sharing(groups))
            }
            (Self::Sharing(_), []) | (Self::Ungrouped, _) => None,
            (Self::Sharing(common), groups) => {
                let common: Vec<_> = common.iter().filter(|group| groups.contains(group)).cloned().collect();
                (!common.is_empty()).then_some(Self::Sharing(common))
            }
        }
    }

    /// The members with one more that holds its device already, compatible or not.
    fn with_holder(self, groups: &[Name]) -> Self {
        match (&self, groups) {
            (Self::Sharing(common), [_, ..]) => {
                Self::Sharing(common.iter().filter(|group| groups.contains(group)).cloned().collect())
            }
            _ => self.with(groups).unwrap_or(self),
        }
    }
}

/// What is left of a pool's counters.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Left {
    /// By counter number; below zero if more is held than there is.
    pub counters: Vec<Quantity>,
    /// Whether some counter is below zero. Then no device of the pool that consumes any can be had.
    pub is_overdrawn: bool,
    /// By counter set number.
    pub members: Vec<Members>,
}

/// The holders of a node's devices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Held {
    /// Devices that somebody holds alone.
    pub dedicated: Bits,
    /// Devices of which somebody holds a share, ascending, with what the shares consume.
    pub shared: Vec<(usize, Vec<(Name, Quantity)>)>,
    /// For each pool with counters what is left of them; empty if no pool has any.
    pub left: Vec<Option<Left>>,
}

impl Held {
    /// Looks up who holds what; `usage` knows the pools by their position.
    pub fn new<'a>(pools: &NodePools, usage: impl Fn(usize) -> Option<&'a PoolUse>) -> Self {
        let mut held = Self { dedicated: Bits::new(pools.devices.len()), ..Self::default() };
        let uses: Vec<_> = (0..pools.pools.len()).map(usage).collect();
        for (number, location) in pools.devices.iter().enumerate() {
            let Some(of_pool) = uses[location.pool] else { continue };
            let (_, _, device) = pools.device(number);
            let Some(device) = of_pool.devices.get(&device.name) else { continue };
            if !device.dedicated.is_empty() {
                held.dedicated.insert(number);
            }
            if !device.shares.is_empty() || !device.consumed.is_empty() {
                let consumed = device.consumed.iter().map(|(name, sum)| (name.clone(), sum.clone()));
                held.shared.push((number, consumed.collect()));
            }
        }
        if pools.pools.iter().any(|pool| pool.counters.as_ref().is_some_and(|c| !c.sets.is_empty())) {
            held.left = pools.pools.iter().zip(uses).map(|(pool, used)| left(pool, used)).collect();
        }
        held
    }

    /// What the shares of a device consume; none if there are no shares.
    pub fn shares(&self, device: usize) -> Option<&[(Name, Quantity)]> {
        let at = self.shared.binary_search_by_key(&device, |(device, _)| *device).ok()?;
        Some(&self.shared[at].1)
    }
}

fn left(pool: &Pool, used: Option<&PoolUse>) -> Option<Left> {
    let counters = pool.counters.as_ref().filter(|counters| !counters.sets.is_empty())?;
    let values = counters.sets.iter().flat_map(|set| &set.counters).map(|(_, value)| value.clone());
    let members = vec![Members::None; counters.sets.len()];
    let mut left = Left { counters: values.collect(), is_overdrawn: false, members };
    if let Some(used) = used {
        let devices = pool.slices.iter().chain(&counters.elsewhere).flat_map(|slice| &slice.devices);
        for device in devices.filter(|device| used.devices.contains_key(&device.name)) {
            charge(counters, &mut left, device);
        }
    }
    left.is_overdrawn = left.counters.iter().any(Quantity::is_negative);
    Some(left)
}

/// Each device in use consumes once, however many shares it has.
fn charge(counters: &PoolCounters, left: &mut Left, device: &Device) {
    for consumption in &device.consumes_counters {
        for (number, amount) in amounts(counters, consumption) {
            left.counters[number] = left.counters[number].sub(amount);
        }
        if let Some(set) = counters.set(&consumption.counter_set) {
            let members = std::mem::take(&mut left.members[set]);
            left.members[set] = members.with_holder(&consumption.compatibility_groups);
        }
    }
}

/// What a device takes from one counter set, by counter number.
pub(super) fn amounts<'a>(
    counters: &'a PoolCounters,
    consumption: &'a CounterConsumption,
) -> impl Iterator<Item = (usize, &'a Quantity)> {
    let set = &consumption.counter_set;
    consumption.counters.iter().filter_map(move |(name, amount)| Some((counters.counter(set, name)?, amount)))
}
