//! Which devices are held, by whom, and how much of them. Rebuilt from the claims, and kept with
//! them claim by claim.
//!
//! Unlike upstream's sets, holders are counted: when two claims hold one device (after a race or a
//! manual edit), freeing one of them does not make the device look free.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use imbl::OrdMap;

use super::claim::{Allocation, DeviceResult};
use super::features::{FeatureGate, Features};
use super::ids::{ClaimKey, DeviceId, Name, PoolId, ShareId};
use super::quantity::Quantity;

/// The holders of one device. Allocations with admin access are not holders.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct DeviceUse {
    /// Claims that hold the device for themselves.
    pub dedicated: BTreeSet<ClaimKey>,
    /// Claims that hold a share of it.
    pub shares: BTreeMap<ShareId, ClaimKey>,
    /// What the shares consume, summed up by literal capacity key. Without entries when every sum
    /// is zero.
    pub consumed: BTreeMap<Name, Quantity>,
}

impl DeviceUse {
    /// Whether nobody holds it.
    pub fn is_free(&self) -> bool {
        self.dedicated.is_empty() && self.shares.is_empty() && self.consumed.is_empty()
    }

    /// The claims that hold it, each once.
    pub fn holders(&self) -> BTreeSet<&ClaimKey> {
        self.dedicated.iter().chain(self.shares.values()).collect()
    }
}

/// The devices of one pool that are held.
///
/// Invariant: no entry is free.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct PoolUse {
    /// By device name.
    pub devices: BTreeMap<Name, DeviceUse>,
}

/// All devices that are held. Cloning is cheap; a change copies only the pool that it touches.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct DeviceUsage {
    pools: OrdMap<PoolId, Arc<PoolUse>>,
}

impl DeviceUsage {
    /// The devices of a pool that are held, if any.
    pub fn pool(&self, pool: &PoolId) -> Option<&Arc<PoolUse>> {
        self.pools.get(pool)
    }

    /// The use of a device, if anybody holds it.
    pub fn device(&self, device: &DeviceId) -> Option<&DeviceUse> {
        self.pools.get(&device.pool)?.devices.get(&device.device)
    }

    /// The pools with a held device, as the map that snapshots share.
    pub fn by_pool(&self) -> &OrdMap<PoolId, Arc<PoolUse>> {
        &self.pools
    }

    /// Every pool with a held device.
    pub fn pools(&self) -> impl Iterator<Item = (&PoolId, &Arc<PoolUse>)> {
        self.pools.iter()
    }

    /// The same with the devices of an allocation held by `claim`.
    ///
    /// With `DRAConsumableCapacity` off a shared device counts as held alone, as upstream counts it.
    pub fn with(&self, claim: &ClaimKey, allocation: &Allocation, features: &Features) -> Self {
        self.changed(allocation, |device, result| add(device, claim, result, features))
    }

    /// The same without them.
    pub fn without(&self, claim: &ClaimKey, allocation: &Allocation, features: &Features) -> Self {
        self.changed(allocation, |device, result| remove(device, claim, result, features))
    }

    fn changed(&self, allocation: &Allocation, change: impl Fn(&mut DeviceUse, &DeviceResult)) -> Self {
        let mut pools = self.pools.clone();
        for result in allocation.results.iter().filter(|result| !result.admin_access) {
            let mut pool = pools.get(&result.device.pool).map(|p| (**p).clone()).unwrap_or_default();
            let mut device = pool.devices.remove(&result.device.device).unwrap_or_default();
            change(&mut device, result);
            if !device.is_free() {
                pool.devices.insert(result.device.device.clone(), device);
            }
            if pool.devices.is_empty() {
                pools.remove(&result.device.pool);
            } else {
                pools.insert(result.device.pool.clone(), Arc::new(pool));
            }
        }
        Self { pools }
    }
}

fn share<'a>(result: &'a DeviceResult, features: &Features) -> Option<&'a ShareId> {
    result.share_id.as_ref().filter(|_| features.has(FeatureGate::DRAConsumableCapacity))
}

fn add(device: &mut DeviceUse, claim: &ClaimKey, result: &DeviceResult, features: &Features) {
    let Some(share) = share(result, features) else {
        device.dedicated.insert(claim.clone());
        return;
    };
    if device.shares.insert(share.clone(), claim.clone()).is_some() {
        return;
    }
    for (name, amount) in result.consumed_capacity.iter().flatten() {
        let sum = device.consumed.get(name).map_or_else(|| amount.clone(), |sum| sum.add(amount));
        device.consumed.insert(name.clone(), sum);
    }
    drop_zero_sums(device);
}

fn remove(device: &mut DeviceUse, claim: &ClaimKey, result: &DeviceResult, features: &Features) {
    let Some(share) = share(result, features) else {
        device.dedicated.remove(claim);
        return;
    };
    if device.shares.remove(share).is_none() {
        return;
    }
    for (name, amount) in result.consumed_capacity.iter().flatten() {
        let sum = device.consumed.get(name).cloned().unwrap_or_default().sub(amount);
        device.consumed.insert(name.clone(), sum);
    }
    drop_zero_sums(device);
}

/// Upstream drops the entry of a device when all of its sums are zero.
fn drop_zero_sums(device: &mut DeviceUse) {
    if device.consumed.values().all(Quantity::is_zero) {
        device.consumed.clear();
    }
}
