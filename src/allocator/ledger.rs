//! What an attempt has chosen so far: devices, counters and capacity in flight, and what the
//! constraints have seen. Every change is on a trail; rolling back to a mark undoes it exactly.

use crate::model::Quantity;

use super::bits::Bits;
use super::book::Book;
use super::candidate::Stock;
use super::capacity::{Amounts, exceeded};
use super::constraint::{Attribute, Constraint};
use super::errors::{Failure, FatalReason, RequestFault};
use super::held::{Held, Left, Members, amounts};
use super::request::{DeviceOption, Query};

/// A device chosen for an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    pub option: usize,
    pub device: usize,
    /// What it consumes, if the device is shareable.
    pub share: Option<Amounts>,
}

#[derive(Debug)]
enum Undo {
    Counter { pool: usize, counter: usize, before: Quantity },
    Members { pool: usize, set: usize, before: Members },
    Constraint { claim: usize, constraint: usize },
    InFlight { device: usize },
    Placed,
}

/// A point that the ledger can be rolled back to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark(usize);

/// The state of one attempt.
///
/// Invariants: `in_flight` has the devices of `placed` that are not shareable; `left` is what is
/// held from the start minus what `placed` consumes; a constraint has seen those of `placed` that it
/// applies to; `results` counts `placed` by claim.
pub(super) struct Ledger<'a> {
    stock: Stock<'a>,
    query: &'a Query,
    held: &'a Held,
    pub in_flight: Bits,
    pub left: Vec<Option<Left>>,
    pub constraints: Vec<Vec<Constraint>>,
    pub placed: Vec<Placed>,
    pub results: Vec<usize>,
    trail: Vec<Undo>,
}

impl<'a> Ledger<'a> {
    pub fn new(stock: Stock<'a>, query: &'a Query, held: &'a Held) -> Self {
        let constraints = query.claims.iter().map(|claim| {
            claim.constraints.iter().map(|(rule, _)| Constraint::new(*rule, stock.rules.lists)).collect()
        });
        Self {
            stock,
            query,
            held,
            in_flight: Bits::new(stock.pools.devices.len()),
            left: held.left.clone(),
            constraints: constraints.collect(),
            placed: Vec::new(),
            results: vec![0; query.claims.len()],
            trail: Vec::new(),
        }
    }

    /// Whether the option cannot have the device because of who holds it now.
    pub fn is_in_use(&self, option: &DeviceOption, device: usize) -> bool {
        if option.admin {
            return self.in_flight.has(device) && self.holds(option.claim, device);
        }
        self.held.dedicated.has(device) || self.in_flight.has(device)
    }

    /// Whether a device that is not shareable was chosen for that claim.
    fn holds(&self, claim: usize, device: usize) -> bool {
        let of_claim = |placed: &Placed| self.query.options[placed.option].claim == claim;
        self.placed.iter().any(|placed| placed.device == device && placed.share.is_none() && of_claim(placed))
    }

    /// What attempts before consume of a device, one entry for each share.
    fn shares(&self, device: usize) -> impl Iterator<Item = &Amounts> {
        let of_device = move |placed: &&Placed| placed.device == device;
        self.placed.iter().filter(of_device).filter_map(|placed| placed.share.as_ref())
    }

    /// Whether the device's capacity suffices beside all of its shares.
    pub fn has_capacity(&self, book: &mut Book, option: &DeviceOption, device: usize) -> bool {
        if !self.stock.rules.consumable {
            return true;
        }
        let held = self.held.shares(device);
        if held.is_none() && self.shares(device).next().is_none() {
            return true;
        }
        let wanted = self.stock.amounts(book, option, device);
        let content = &self.stock.pools.device(device).2.content;
        let used = |name: &crate::model::Name| {
            let held = held.into_iter().flatten().find(|(key, _)| key == name).map(|(_, sum)| sum.clone());
            let in_flight = self
                .shares(device)
                .filter_map(|share| share.iter().find(|(key, _)| key == name).map(|(_, amount)| amount));
            in_flight
                .fold(held, |sum, amount| Some(sum.map_or_else(|| amount.clone(), |sum| sum.add(amount))))
        };
        exceeded(&wanted, content, used).is_none()
    }

    /// The point to roll back to.
    pub fn mark(&self) -> Mark {
        Mark(self.trail.len())
    }

    /// Undoes everything since the mark, in reverse.
    pub fn rollback(&mut self, mark: Mark) {
        while self.trail.len() > mark.0 {
            match self.trail.pop() {
                Some(Undo::Counter { pool, counter, before }) => {
                    if let Some(left) = &mut self.left[pool] {
                        left.counters[counter] = before;
                    }
                }
                Some(Undo::Members { pool, set, before }) => {
                    if let Some(left) = &mut self.left[pool] {
                        left.members[set] = before;
                    }
                }
                Some(Undo::Constraint { claim, constraint }) => self.constraints[claim][constraint].remove(),
                Some(Undo::InFlight { device }) => self.in_flight.remove(device),
                Some(Undo::Placed) => {
                    if let Some(placed) = self.placed.pop() {
                        self.results[self.query.options[placed.option].claim] -= 1;
                    }
                }
                None => return,
            }
        }
    }

    /// Gives a candidate to an option if nothing that was chosen before is against it.
    /// With `must` a constraint that is against it is an error. A refusal changes nothing.
    ///
    /// # Errors
    /// See [`FatalReason`]; the ledger is as before.
    pub fn place(
        &mut self,
        book: &mut Book,
        option: usize,
        device: usize,
        must: bool,
    ) -> Result<bool, Failure> {
        let mark = self.mark();
        let placed = self.try_place(book, option, device, must);
        if !matches!(placed, Ok(true)) {
            self.rollback(mark);
        }
        placed
    }

    fn try_place(
        &mut self,
        book: &mut Book,
        number: usize,
        device: usize,
        must: bool,
    ) -> Result<bool, Failure> {
        let option = &self.query.options[number];
        let shareable = self.stock.is_shareable(device);
        let checks_use = !(option.admin && shareable);
        if checks_use && self.is_in_use(option, device)
            || self.stock.needs_node_operations(device)
            || self.stock.needs_partitions(device)
        {
            return Ok(false);
        }
        let pays = !(shareable && self.is_shared(device));
        if pays && !self.charge(device) || self.stock.is_tainted(option, device) {
            return Ok(false);
        }
        if !self.satisfies(book, option, device, must)? {
            return Ok(false);
        }
        if !shareable && !self.in_flight.has(device) {
            self.in_flight.insert(device);
            self.trail.push(Undo::InFlight { device });
        }
        if !self.has_capacity(book, option, device) {
            return Ok(false);
        }
        let share = shareable.then(|| self.stock.amounts(book, option, device));
        self.placed.push(Placed { option: number, device, share });
        self.results[option.claim] += 1;
        self.trail.push(Undo::Placed);
        Ok(true)
    }

    /// Whether somebody has paid for the counters of a shareable device already.
    pub fn is_shared(&self, device: usize) -> bool {
        self.held.shares(device).is_some() || self.shares(device).next().is_some()
    }

    /// Takes the device's counters and joins its counter sets; false if it cannot.
    fn charge(&mut self, number: usize) -> bool {
        let pools = self.stock.pools;
        let (pool, _, device) = pools.device(number);
        if device.consumes_counters.is_empty() {
            return true;
        }
        let at = pools.devices[number].pool;
        let Some(counters) = &pool.counters else { return true };
        let Some(Some(left)) = self.left.get_mut(at) else { return true };
        if self.stock.rules.groups {
            for consumption in &device.consumes_counters {
                let Some(set) = counters.set(&consumption.counter_set) else { continue };
                let Some(members) = left.members[set].with(&consumption.compatibility_groups) else {
                    return false;
                };
                let before = std::mem::replace(&mut left.members[set], members);
                self.trail.push(Undo::Members { pool: at, set, before });
            }
        }
        if left.is_overdrawn {
            return false;
        }
        for consumption in &device.consumes_counters {
            for (counter, amount) in amounts(counters, consumption) {
                let rest = left.counters[counter].sub(amount);
                let is_overdrawn = rest.is_negative();
                let before = std::mem::replace(&mut left.counters[counter], rest);
                self.trail.push(Undo::Counter { pool: at, counter, before });
                if is_overdrawn {
                    return false;
                }
            }
        }
        true
    }

    fn satisfies(
        &mut self,
        book: &mut Book,
        option: &DeviceOption,
        number: usize,
        must: bool,
    ) -> Result<bool, Failure> {
        let content = self.stock.pools.devices[number].content;
        for applies in &option.constraints {
            let value = book.value(applies.attribute, content);
            if let Some(reason) = self.attribute_failure(option, applies.constraint, number, value) {
                return Err(Failure::of_claim(option.claim, reason));
            }
            if self.constraints[option.claim][applies.constraint].add(value) {
                let (claim, constraint) = (option.claim, applies.constraint);
                self.trail.push(Undo::Constraint { claim, constraint });
                continue;
            }
            if must {
                let (pool, _, device) = self.stock.pools.device(number);
                let device = pool.id.device(device.name.clone());
                let fault = RequestFault::ConstraintInAllMode { device };
                return Err(Failure::of_request(option.claim, &option.bare, fault));
            }
            return Ok(false);
        }
        Ok(true)
    }

    fn attribute_failure(
        &self,
        option: &DeviceOption,
        constraint: usize,
        number: usize,
        value: &Attribute,
    ) -> Option<FatalReason> {
        let attribute = || self.query.claims[option.claim].constraints[constraint].1.clone();
        match value {
            Attribute::Broken(error) => {
                Some(FatalReason::DerivedCompile { attribute: attribute(), error: error.clone() })
            }
            Attribute::Failed(error) => {
                let (pool, _, device) = self.stock.pools.device(number);
                let device = pool.id.device(device.name.clone());
                Some(FatalReason::DerivedRuntime { attribute: attribute(), device, error: error.clone() })
            }
            _ => None,
        }
    }
}
