//! Proofs that a branch of the search is dead. They never cut a branch with an answer, so the first
//! answer stays what it was.
//!
//! - `matching`: devices are given out once (Hall, all-different);
//! - `demand`: what is still needed, and for each value of a matched attribute whether it is there;
//! - `counters`: the cheapest devices take more than is left;
//! - `shares`: the capacity of shareable devices is not enough for so many requests;
//! - `classes`: devices that are alike fail alike, and so do states that differ by alike devices.

mod classes;
mod counters;
mod demand;
mod matching;
mod shares;

use rustc_hash::FxHashSet;

use super::bits::Bits;
use super::book::{AttributeId, Book};
use super::constraint::{Attribute, by_element};
use super::ledger::Ledger;
use super::request::{Claim, DeviceOption, Wanted};
use super::search::{Position, Problem};
use classes::{Classes, Key};
use counters::Counters;
use shares::Shares;

/// The values of one attribute on all devices.
#[derive(Debug)]
struct Values {
    attribute: AttributeId,
    by_device: Vec<Attribute>,
    /// For each element the devices that have it.
    elements: Vec<(usize, Bits)>,
}

/// What is known about all devices before anything is chosen.
#[derive(Debug)]
struct Facts {
    /// For each option the devices that it could have if it came first.
    candidates: Vec<Bits>,
    shareable: Bits,
    /// The empty set of devices.
    nothing: Bits,
    values: Vec<Values>,
    counters: Counters,
    shares: Shares,
}

impl Facts {
    /// None if the walk could come to an error, or an order-dependent comparison.
    fn new(problem: &Problem<'_>, book: &mut Book) -> Option<Self> {
        let devices = problem.stock.pools.devices.len();
        let mut shareable = Bits::new(devices);
        for device in (0..devices).filter(|device| problem.stock.is_shareable(*device)) {
            shareable.insert(device);
        }
        let mut values: Vec<Values> = Vec::new();
        let mut candidates = Vec::new();
        let ledger = Ledger::new(problem.stock, problem.query, problem.held);
        for (number, option) in problem.query.options.iter().enumerate() {
            for applies in &option.constraints {
                if !values.iter().any(|known| known.attribute == applies.attribute) {
                    values.push(Values::new(problem, book, applies.attribute));
                }
            }
            candidates.push(candidates_of(problem, book, &ledger, &values, number, option)?);
        }
        let mut any = Bits::new(devices);
        for own in &candidates {
            any.add_all(own);
        }
        let counters = Counters::new(problem, &any);
        let dear = counters.too_dear(&ledger, &shareable, devices);
        for own in &mut candidates {
            own.drop_all(&dear);
        }
        let shares = Shares::new(problem, book, &shareable);
        Some(Self { candidates, shareable, nothing: Bits::new(devices), values, counters, shares })
    }

    fn values(&self, attribute: AttributeId) -> Option<&Values> {
        self.values.iter().find(|known| known.attribute == attribute)
    }
}

impl Values {
    fn new(problem: &Problem<'_>, book: &mut Book, attribute: AttributeId) -> Self {
        let devices = &problem.stock.pools.devices;
        let by_device: Vec<_> = devices.iter().map(|d| book.value(attribute, d.content).clone()).collect();
        let elements = by_element(by_device.iter().cloned().enumerate(), devices.len());
        Self { attribute, by_device, elements }
    }

    /// The devices that have one of these elements.
    fn with(&self, elements: &[usize], into: &mut Bits) {
        for element in elements {
            if let Ok(at) = self.elements.binary_search_by_key(element, |(element, _)| *element) {
                into.add_all(&self.elements[at].1);
            }
        }
    }
}

fn candidates_of(
    problem: &Problem<'_>,
    book: &mut Book,
    ledger: &Ledger<'_>,
    values: &[Values],
    number: usize,
    option: &DeviceOption,
) -> Option<Bits> {
    let stock = problem.stock;
    let mut candidates = Bits::new(stock.pools.devices.len());
    for device in 0..stock.pools.devices.len() {
        if ledger.is_in_use(option, device) {
            continue;
        }
        let is_candidate = match option.wanted {
            Wanted::All => problem.lists[number].contains(&device),
            Wanted::Count(_) => stock.judge(book, option, device).ok()?.is_none(),
        };
        if !is_candidate
            || stock.needs_node_operations(device)
            || stock.needs_partitions(device)
            || stock.is_tainted(option, device)
            || !ledger.has_capacity(book, option, device)
        {
            continue;
        }
        let mut is_comparable = true;
        for applies in &option.constraints {
            let known = values.iter().find(|known| known.attribute == applies.attribute)?;
            match known.by_device[device] {
                Attribute::Elements(_) => {}
                Attribute::Absent => is_comparable = false,
                Attribute::Unsupported if stock.rules.lists => is_comparable = false,
                Attribute::Unsupported | Attribute::Broken(_) | Attribute::Failed(_) => return None,
            }
        }
        if is_comparable {
            candidates.insert(device);
        }
    }
    Some(candidates)
}

fn least_after(problem: &Problem<'_>) -> Vec<Vec<usize>> {
    let of_claim = |claim: &Claim| {
        let mut sum: usize = 0;
        let mut after: Vec<usize> = Vec::new();
        for request in claim.requests.iter().rev() {
            after.push(sum);
            let least = request.options.clone().map(|option| problem.count(option)).min();
            sum = sum.saturating_add(least.unwrap_or(0));
        }
        after.reverse();
        after
    };
    problem.query.claims.iter().map(of_claim).collect()
}

/// Most dead ends that one search remembers.
const DEAD_ENDS: usize = 1 << 14;

/// A state that turned out to be dead.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Dead(Key);

/// Proofs for one search.
#[derive(Debug)]
pub(super) struct Pruner {
    facts: Facts,
    classes: Classes,
    dead: FxHashSet<Dead>,
    /// For each claim and request the least number of devices of the requests after it.
    least_after: Vec<Vec<usize>>,
}

impl Pruner {
    /// None where pruning could hide an error that upstream's walk would come to: a device on which
    /// an expression or amount fails, or a constraint that mode `All` may violate.
    pub fn new(problem: &Problem<'_>, book: &mut Book) -> Option<Self> {
        if problem.all_is_constrained() {
            return None;
        }
        let facts = Facts::new(problem, book)?;
        let classes = Classes::new(problem, &facts);
        Some(Self { facts, classes, dead: FxHashSet::default(), least_after: least_after(problem) })
    }

    /// The least number of devices that the later requests of the claim need.
    pub fn least_after(&self, claim: usize, request: usize) -> usize {
        self.least_after[claim][request]
    }

    /// Looks at the state before devices are tried at a position. The error means that it is dead.
    pub fn look(
        &mut self,
        problem: &Problem<'_>,
        book: &mut Book,
        ledger: &Ledger<'_>,
        at: &Position,
    ) -> Result<Dead, ()> {
        let state = Dead(self.classes.key(problem, &self.facts, ledger, at));
        if self.dead.contains(&state) {
            return Err(());
        }
        if demand::is_hopeless(problem, book, &self.facts, ledger, at) {
            return Err(());
        }
        Ok(state)
    }

    /// Whether the option could have the device if it came first.
    pub fn may_serve(&self, option: usize, device: usize) -> bool {
        self.facts.candidates[option].has(device)
    }

    /// Whether a device that failed here is like this one.
    pub fn equals_failed(&self, device: usize, failed: &[usize], ledger: &Ledger<'_>) -> bool {
        !failed.is_empty() && self.classes.is_like(device, failed, ledger)
    }

    /// Remembers that a state is dead.
    pub fn remember(&mut self, state: Dead) {
        if self.dead.len() < DEAD_ENDS {
            self.dead.insert(state);
        }
    }
}
