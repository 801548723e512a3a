//! Devices that are alike: same candidates' lists, same values under constraints, same counters and
//! capacity. Whatever can be done with one of them can be done with the other.

use rustc_hash::FxHashMap;

use crate::model::{Name, Quantity};

use super::super::book::ContentId;
use super::super::constraint::{Attribute, Constraint};
use super::super::ledger::Ledger;
use super::super::search::{Position, Problem};
use super::Facts;

#[derive(Debug, PartialEq, Eq, Hash)]
struct Shares<'a> {
    content: ContentId,
    consumed: Option<&'a [(Name, Quantity)]>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Signature<'a> {
    options: Vec<usize>,
    values: Vec<&'a Attribute>,
    counters: Vec<(usize, usize, Quantity)>,
    groups: Vec<(usize, &'a Name, &'a [Name])>,
    /// Devices that can be shared differ by content, and by who shares them already.
    shares: Option<Shares<'a>>,
    /// Matters to administrators only.
    is_held: bool,
}

/// The class of every device.
#[derive(Debug, Default)]
pub(super) struct Classes {
    of: Vec<usize>,
    /// For each class the last option that can have its devices.
    last_option: Vec<usize>,
    any_admin: bool,
    /// Whether devices keep others away by more than counters.
    any_groups: bool,
}

/// What decides whether there is an answer below a position: equal keys, equal fate.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    at: [usize; 5],
    /// Class and claim of devices chosen, sorted.
    used: Vec<(usize, usize)>,
    /// Class, whether the present option has it, and the amounts asked for, of devices shared.
    shared: Vec<(usize, bool, Vec<usize>)>,
    constraints: Vec<Vec<Attribute>>,
    counters: Vec<Quantity>,
}

impl Classes {
    pub fn new(problem: &Problem<'_>, facts: &Facts) -> Self {
        let any_admin = problem.query.options.iter().any(|option| option.admin);
        let any_groups = problem.stock.rules.groups && !facts.counters.is_empty();
        let mut classes = Self { any_admin, any_groups, ..Self::default() };
        let mut numbers: FxHashMap<Signature<'_>, usize> = FxHashMap::default();
        for device in 0..problem.stock.pools.devices.len() {
            let signature = signature(problem, facts, device, &classes);
            let last = signature.options.last().copied().unwrap_or(0);
            let next = numbers.len();
            let class = *numbers.entry(signature).or_insert(next);
            classes.of.push(class);
            if class == next {
                classes.last_option.push(last);
            }
        }
        classes
    }

    /// Whether one of the devices that failed is like this one, and neither is used at all.
    pub fn is_like(&self, device: usize, failed: &[usize], ledger: &Ledger<'_>) -> bool {
        let class = self.of[device];
        let is_fresh = |device: usize| ledger.placed.iter().all(|placed| placed.device != device);
        failed.iter().any(|failed| self.of[*failed] == class && is_fresh(*failed)) && is_fresh(device)
    }

    /// The key of a position.
    ///
    /// Which devices of a class are used does not matter, and neither does from which device on the
    /// present option continues: sets with earlier devices have been tried before.
    pub fn key(&self, problem: &Problem<'_>, facts: &Facts, ledger: &Ledger<'_>, at: &Position) -> Key {
        let option = at.option.unwrap_or(0);
        let first = problem.query.claims[at.claim].requests[at.request].options.start;
        let matters = |class: usize| self.any_groups || self.last_option[class] >= first;
        let mut used = Vec::new();
        let mut shares: Vec<(usize, usize, bool, usize)> = Vec::new();
        for placed in &ledger.placed {
            let class = self.of[placed.device];
            let by = &problem.query.options[placed.option];
            if placed.share.is_some() {
                shares.push((placed.device, class, placed.option == option, by.ask));
            } else if matters(class) {
                used.push((class, if self.any_admin { by.claim } else { 0 }));
            }
        }
        used.sort_unstable();
        let constraints = ledger.constraints.get(at.claim).into_iter().flatten();
        Key {
            at: [at.claim, at.request, option, at.nth, ledger.results[at.claim]],
            used,
            shared: by_device(shares),
            constraints: constraints.map(Constraint::summary).collect(),
            counters: facts.counters.state(ledger),
        }
    }
}

fn by_device(mut shares: Vec<(usize, usize, bool, usize)>) -> Vec<(usize, bool, Vec<usize>)> {
    shares.sort_unstable();
    let same_device = |a: &(usize, usize, bool, usize), b: &(usize, usize, bool, usize)| a.0 == b.0;
    let mut devices: Vec<_> = shares
        .chunk_by(same_device)
        .map(|device| {
            let mut asks: Vec<usize> = device.iter().map(|(_, _, _, ask)| *ask).collect();
            asks.sort_unstable();
            (device[0].1, device.iter().any(|(_, _, present, _)| *present), asks)
        })
        .collect();
    devices.sort_unstable();
    devices
}

fn signature<'a>(problem: &Problem<'a>, facts: &'a Facts, number: usize, classes: &Classes) -> Signature<'a> {
    let pools = problem.stock.pools;
    let (_, _, device) = pools.device(number);
    let options = facts.candidates.iter().enumerate().filter(|(_, devices)| devices.has(number));
    let groups = device.consumes_counters.iter().filter(|_| classes.any_groups);
    let content = pools.devices[number].content;
    Signature {
        options: options.map(|(option, _)| option).collect(),
        values: facts.values.iter().map(|table| &table.by_device[number]).collect(),
        counters: facts.counters.signature(number),
        groups: groups
            .map(|c| (pools.devices[number].pool, &c.counter_set, &c.compatibility_groups[..]))
            .collect(),
        shares: facts
            .shareable
            .has(number)
            .then(|| Shares { content, consumed: problem.held.shares(number) }),
        is_held: classes.any_admin && problem.held.dedicated.has(number),
    }
}
