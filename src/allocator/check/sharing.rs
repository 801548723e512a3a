//! Whether all that was given can be given at the same time, beside what is in use.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::pool::Pool;
use super::violation::{DeviceFault, PoolFault, Violation};
use super::{Given, World, capacity};
use crate::model::{DeviceId, FeatureGate, Name, PoolId, Quantity, ShareId};

/// Checks what devices given together take from each other, in the order in which they were given.
pub(super) fn check_together(
    world: &World<'_>,
    pools: &BTreeMap<PoolId, Pool<'_>>,
    given: &[Given<'_>],
) -> Result<(), Violation> {
    for (index, one) in given.iter().enumerate() {
        let before = &given[..index];
        check_holders(world, one, before).map_err(|fault| one.violation(fault))?;
        check_share_id(world, one, before).map_err(|fault| one.violation(fault))?;
        check_capacity(world, one, before).map_err(|fault| one.violation(fault))?;
        if world.has(FeatureGate::DRADeviceCompatibilityGroups) && pays_counters(world, one, before) {
            check_groups(world, pools, one, before).map_err(|fault| one.violation(fault))?;
        }
    }
    pools.iter().try_for_each(|(id, pool)| {
        check_counters(world, id, pool, given).map_err(|fault| Violation::Pool { pool: id.clone(), fault })
    })
}

/// A device is held alone, unless it has shares or the access is an administrator's.
fn check_holders(world: &World<'_>, one: &Given<'_>, before: &[Given<'_>]) -> Result<(), DeviceFault> {
    let id = &one.result.device;
    let held = world.snapshot.usage().device(id).is_some_and(|usage| !usage.dedicated.is_empty());
    if held && !one.result.admin_access {
        return Err(DeviceFault::InUse);
    }
    let multi = world.is_multi(one.device);
    let again = before.iter().any(|other| {
        other.result.device == *id
            && if multi {
                other.claim_index == one.claim_index && other.result.request == one.result.request
            } else {
                !one.result.admin_access || other.claim_index == one.claim_index
            }
    });
    if again { Err(DeviceFault::GivenTwice) } else { Ok(()) }
}

fn check_share_id(world: &World<'_>, one: &Given<'_>, before: &[Given<'_>]) -> Result<(), DeviceFault> {
    let Some(share) = &one.result.share_id else { return Ok(()) };
    let same = |other: &ShareId| other == share;
    let in_use = world.snapshot.usage().device(&one.result.device);
    if in_use.is_some_and(|usage| usage.shares.keys().any(same))
        || before.iter().filter_map(|other| other.result.share_id.as_ref()).any(same)
    {
        return Err(DeviceFault::SameShare);
    }
    Ok(())
}

/// For each capacity of the device: what is consumed already, and what is given now, fits.
fn check_capacity(world: &World<'_>, one: &Given<'_>, before: &[Given<'_>]) -> Result<(), DeviceFault> {
    let usage = world.snapshot.usage().device(&one.result.device);
    for (name, amount) in capacity::amounts(world, one.device, one.requirement)? {
        let mut sum = amount;
        if let Some(consumed) = usage.and_then(|usage| usage.consumed.get(name)) {
            sum = sum.add(consumed);
        }
        let records = before.iter().filter(|other| other.result.device == one.result.device);
        let records = records.filter_map(|other| other.result.consumed_capacity.as_deref()).flatten();
        for (_, consumed) in records.filter(|(key, _)| key == name) {
            sum = sum.add(consumed);
        }
        let total = one.device.content.capacity(name).map(|capacity| &capacity.value);
        if total.is_none_or(|total| sum.compare(total) == Ordering::Greater) {
            return Err(DeviceFault::Capacity(name.clone()));
        }
    }
    Ok(())
}

/// A device consumes its counters once, by the first of its shares.
fn pays_counters(world: &World<'_>, one: &Given<'_>, before: &[Given<'_>]) -> bool {
    let id = &one.result.device;
    let shared_already = || {
        let usage = world.snapshot.usage().device(id);
        usage.is_some_and(|usage| !usage.shares.is_empty() || !usage.consumed.is_empty())
            || before.iter().any(|other| other.result.device == *id)
    };
    let free = world.is_multi(one.device) && shared_already();
    !free && !one.device.consumes_counters.is_empty()
}

type Counters<'a> = BTreeMap<(&'a Name, &'a Name), Quantity>;

/// No counter of a pool is taken beyond its value once anything is taken from the pool.
fn check_counters(
    world: &World<'_>,
    id: &PoolId,
    pool: &Pool<'_>,
    given: &[Given<'_>],
) -> Result<(), PoolFault> {
    let mut taken = Counters::new();
    let mut take = |device: &'_ crate::model::Device| {
        for consumption in &device.consumes_counters {
            for (counter, amount) in &consumption.counters {
                let Some(set) = pool.counter_sets.get(&consumption.counter_set) else { continue };
                let Some((counter, _)) = set.counters.iter().find(|(name, _)| name == counter) else {
                    continue;
                };
                let sum = taken.entry((&set.name, counter)).or_default();
                *sum = sum.add(amount);
            }
        }
    };
    let mut pays = false;
    for (index, one) in given.iter().enumerate().filter(|(_, one)| one.result.device.pool == *id) {
        if pays_counters(world, one, &given[..index]) {
            pays = true;
            take(one.device);
        }
    }
    if !pays {
        return Ok(());
    }
    pool.devices_of_all_nodes().filter(|device| is_held(world, id, &device.name)).for_each(take);
    for set in pool.counter_sets.values() {
        for (counter, value) in &set.counters {
            let sum = taken.remove(&(&set.name, counter)).unwrap_or_default();
            if sum.compare(value) == Ordering::Greater {
                return Err(PoolFault::CounterExceeded {
                    counter_set: set.name.clone(),
                    counter: counter.clone(),
                });
            }
        }
    }
    Ok(())
}

fn is_held(world: &World<'_>, pool: &PoolId, device: &Name) -> bool {
    world.snapshot.usage().pool(pool).is_some_and(|usage| usage.devices.contains_key(device))
}

/// All users of a counter set have a compatibility group in common, or none has any (KEP-5963).
fn check_groups(
    world: &World<'_>,
    pools: &BTreeMap<PoolId, Pool<'_>>,
    one: &Given<'_>,
    before: &[Given<'_>],
) -> Result<(), DeviceFault> {
    let id: &DeviceId = &one.result.device;
    let held = pools.get(&id.pool).into_iter().flat_map(Pool::devices_of_all_nodes);
    let held = held.filter(|device| is_held(world, &id.pool, &device.name));
    let new = before.iter().filter(|other| other.result.device.pool == id.pool).map(|other| other.device);
    let peers: Vec<_> = held.chain(new).flat_map(|device| &device.consumes_counters).collect();
    for consumption in &one.device.consumes_counters {
        let peers = peers.iter().filter(|peer| peer.counter_set == consumption.counter_set);
        let groups = peers.map(|peer| &*peer.compatibility_groups).fold(None, |common, peer| match common {
            None => Some(peer.iter().collect::<BTreeSet<_>>()),
            Some(common) if common.is_empty() || peer.is_empty() => Some(common),
            Some(common) => Some(common.into_iter().filter(|group| peer.contains(group)).collect()),
        });
        let own = &consumption.compatibility_groups;
        let fits = groups.is_none_or(|common| {
            if own.is_empty() { common.is_empty() } else { own.iter().any(|group| common.contains(group)) }
        });
        if !fits {
            return Err(DeviceFault::Incompatible { counter_set: consumption.counter_set.clone() });
        }
    }
    Ok(())
}
