//! Shared counters: what a device takes, and the least that the devices still needed can take.

use crate::model::Quantity;

use super::super::bits::Bits;
use super::super::held::{Left, amounts};
use super::super::ledger::Ledger;
use super::super::search::Problem;
use super::matching::{Need, assign};

/// A device and what it takes from its pool's counters.
#[derive(Debug)]
struct Consumer {
    device: usize,
    pool: usize,
    amounts: Vec<(usize, Quantity)>,
}

/// A counter that may run out, in whole numbers of some unit.
#[derive(Debug)]
struct Scarce {
    pool: usize,
    counter: usize,
    /// The power of ten of the unit.
    scale: i32,
    /// What each device takes.
    costs: Vec<i128>,
    /// All devices, the cheapest first.
    order: Vec<usize>,
}

/// The counters of a problem.
#[derive(Debug, Default)]
pub(super) struct Counters {
    consumers: Vec<Consumer>,
    scarce: Vec<Scarce>,
    /// Scarce counters that have no unit; no bound is known for them.
    unbounded: Vec<(usize, usize)>,
}

impl Counters {
    /// Looks at what `candidates` take.
    pub fn new(problem: &Problem<'_>, candidates: &Bits) -> Self {
        let pools = problem.stock.pools;
        let mut counters = Self::default();
        for number in candidates.iter() {
            let (pool, _, device) = pools.device(number);
            let Some(known) = pool.counters.as_ref() else { continue };
            let taken: Vec<_> = device
                .consumes_counters
                .iter()
                .flat_map(|consumption| amounts(known, consumption))
                .map(|(counter, amount)| (counter, amount.clone()))
                .collect();
            if !device.consumes_counters.is_empty() {
                let pool = pools.devices[number].pool;
                counters.consumers.push(Consumer { device: number, pool, amounts: taken });
            }
        }
        for (pool, left) in problem.held.left.iter().enumerate() {
            for counter in 0..left.as_ref().map_or(0, |left| left.counters.len()) {
                counters.bound(problem, pool, counter, left.as_ref());
            }
        }
        counters
    }

    fn bound(&mut self, problem: &Problem<'_>, pool: usize, counter: usize, left: Option<&Left>) {
        let taking = || {
            let own = self.consumers.iter().filter(move |consumer| consumer.pool == pool);
            own.flat_map(move |consumer| {
                let of_counter = consumer.amounts.iter().filter(move |(number, _)| *number == counter);
                of_counter.map(|(_, amount)| (consumer.device, amount))
            })
        };
        let Some(left) = left.and_then(|left| left.counters.get(counter)) else { return };
        // With admin access a device can be charged once more for each such claim.
        let options = problem.query.options.iter();
        let mut admins: Vec<usize> = options.filter(|o| o.admin).map(|o| o.claim).collect();
        admins.dedup();
        let once = taking().fold(Quantity::zero(), |sum, (_, amount)| sum.add(amount));
        let most = admins.iter().fold(once.clone(), |sum, _| sum.add(&once));
        if most.compare(left).is_le() {
            return;
        }
        let devices = problem.stock.pools.devices.len();
        let scaled = [0, -3, -9].into_iter().find_map(|scale| {
            left.exact_scaled_value(scale)?;
            let mut costs = vec![0; devices];
            for (device, amount) in taking() {
                costs[device] += i128::from(amount.exact_scaled_value(scale)?);
            }
            Some((scale, costs))
        });
        let Some((scale, costs)) = scaled else {
            self.unbounded.push((pool, counter));
            return;
        };
        let mut order: Vec<usize> = (0..devices).collect();
        order.sort_by_key(|device| costs[*device]);
        self.scarce.push(Scarce { pool, counter, scale, costs, order });
    }

    /// Whether no device takes any.
    pub fn is_empty(&self) -> bool {
        self.consumers.is_empty()
    }

    /// The devices that take more than is left. Shared devices have paid already.
    pub fn too_dear(&self, ledger: &Ledger<'_>, shareable: &Bits, devices: usize) -> Bits {
        let mut dear = Bits::new(devices);
        for consumer in &self.consumers {
            let Some(Some(left)) = ledger.left.get(consumer.pool) else { continue };
            if shareable.has(consumer.device) && ledger.is_shared(consumer.device) {
                continue;
            }
            let exceeds = |(counter, amount): &(usize, Quantity)| {
                left.counters.get(*counter).is_some_and(|left| left.compare(amount).is_lt())
            };
            if left.is_overdrawn || consumer.amounts.iter().any(exceeds) {
                dear.insert(consumer.device);
            }
        }
        dear
    }

    /// Whether even the cheapest devices for these needs take more of some counter than is left.
    pub fn cannot_pay(&self, ledger: &Ledger<'_>, needs: &[Need]) -> bool {
        let total: usize = needs.iter().map(|need| need.count).sum();
        self.scarce.iter().any(|scarce| {
            let left = ledger.left.get(scarce.pool).and_then(Option::as_ref);
            let Some(left) = left.and_then(|left| left.counters.get(scarce.counter)) else { return false };
            // Of an overdrawn counter nothing is left: devices that take none of it still can be had.
            let Some(left) = left.exact_scaled_value(scarce.scale).map(|left| i128::from(left.max(0))) else {
                return false;
            };
            let most = scarce.order.last().map_or(0, |device| scarce.costs[*device]);
            if most.saturating_mul(i128::try_from(total).unwrap_or(i128::MAX)) <= left {
                return false;
            }
            let cost = |devices: Vec<usize>| devices.iter().map(|device| scarce.costs[*device]).sum::<i128>();
            assign(needs, scarce.order.iter().copied()).is_none_or(|devices| cost(devices) > left)
        })
    }

    /// What a device takes of counters that may run out; equal for devices that are alike.
    pub fn signature(&self, device: usize) -> Vec<(usize, usize, Quantity)> {
        let Some(consumer) = self.consumers.iter().find(|consumer| consumer.device == device) else {
            return Vec::new();
        };
        let is_scarce = |counter: usize| {
            self.scarce.iter().any(|scarce| (scarce.pool, scarce.counter) == (consumer.pool, counter))
                || self.unbounded.contains(&(consumer.pool, counter))
        };
        let taken = consumer.amounts.iter().filter(|(counter, _)| is_scarce(*counter));
        taken.map(|(counter, amount)| (consumer.pool, *counter, amount.clone())).collect()
    }

    /// What is left of counters that may run out, for keys.
    pub fn state(&self, ledger: &Ledger<'_>) -> Vec<Quantity> {
        let scarce = self.scarce.iter().map(|scarce| (scarce.pool, scarce.counter));
        let all = scarce.chain(self.unbounded.iter().copied());
        all.filter_map(|(pool, counter)| ledger.left.get(pool)?.as_ref()?.counters.get(counter).cloned())
            .collect()
    }
}
