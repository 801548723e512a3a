//! What is still needed at a position, and whether it can be there at all.

use super::super::bits::Bits;
use super::super::book::Book;
use super::super::constraint::{Attribute, Rule};
use super::super::ledger::Ledger;
use super::super::request::{Request, Wanted};
use super::super::search::{Position, Problem};
use super::Facts;
use super::matching::{Need, can_meet, joined};

/// Most combinations of values that one look tries before it leaves the question open.
const COMBINATIONS: usize = 512;

/// An option and the devices that it can still have.
#[derive(Clone, Debug)]
struct Way {
    option: usize,
    devices: Bits,
}

/// A request that is not done yet.
#[derive(Clone, Debug)]
struct Demand {
    /// The least number of devices.
    count: usize,
    /// One way, or the alternatives while none is chosen.
    ways: Vec<Way>,
    is_admin: bool,
}

impl Demand {
    fn devices(&self) -> Bits {
        let mut union = self.ways[0].devices.clone();
        self.ways[1..].iter().for_each(|way| union.add_all(&way.devices));
        union
    }
}

/// A constraint of which all devices have some element in common, which is not fixed yet.
struct Open {
    claim: usize,
    constraint: usize,
    elements: Vec<usize>,
}

/// What one look works with.
struct Look<'a> {
    problem: &'a Problem<'a>,
    facts: &'a Facts,
    ledger: &'a Ledger<'a>,
    open: Vec<Open>,
    fuel: usize,
}

/// Whether there is provably no answer from this position on.
pub(super) fn is_hopeless(
    problem: &Problem<'_>,
    book: &mut Book,
    facts: &Facts,
    ledger: &Ledger<'_>,
    at: &Position,
) -> bool {
    let mut look = Look { problem, facts, ledger, open: Vec::new(), fuel: COMBINATIONS };
    let Some(demands) = look.demands(book, at) else { return true };
    if !look.is_possible(&demands) {
        return true;
    }
    look.open = look.open_constraints(&demands);
    !look.has_values(&demands, 0)
}

impl Look<'_> {
    /// The requests that are not done; none if one of them cannot be met.
    fn demands(&self, book: &mut Book, at: &Position) -> Option<Vec<Demand>> {
        let devices = self.problem.stock.pools.devices.len();
        let dear = self.facts.counters.too_dear(self.ledger, &self.facts.shareable, devices);
        let mut demands = Vec::new();
        for (claim, requests) in self.problem.query.claims.iter().enumerate().skip(at.claim) {
            let first = if claim == at.claim { at.request } else { 0 };
            for (number, request) in requests.requests.iter().enumerate().skip(first) {
                let here = (claim, number) == (at.claim, at.request);
                let present = at.option.filter(|_| here);
                let demand = self.demand(book, request, present.map(|option| (option, at)), &dear)?;
                if demand.count > 0 {
                    demands.push(demand);
                }
            }
        }
        Some(demands)
    }

    fn demand(
        &self,
        book: &mut Book,
        request: &Request,
        present: Option<(usize, &Position)>,
        dear: &Bits,
    ) -> Option<Demand> {
        let options = match present {
            Some((option, _)) => option..option + 1,
            None => request.options.clone(),
        };
        let done = present.map_or(0, |(_, at)| at.nth);
        let mut demand = Demand { count: usize::MAX, ways: Vec::new(), is_admin: false };
        for option in options {
            let (asked, list) = (&self.problem.query.options[option], &self.problem.lists[option]);
            let mut devices = self.left_for(book, option, dear);
            let count = self.problem.count(option).saturating_sub(done);
            match asked.wanted {
                Wanted::All => {
                    if list.is_empty() || list.iter().skip(done).any(|device| !devices.has(*device)) {
                        continue;
                    }
                    list.iter().take(done).for_each(|device| devices.remove(*device));
                }
                Wanted::Count(_) => {
                    (0..present.map_or(0, |(_, at)| at.start)).for_each(|device| devices.remove(device));
                    if devices.count() < count {
                        continue;
                    }
                }
            }
            demand.is_admin = asked.admin;
            demand.count = demand.count.min(count);
            demand.ways.push(Way { option, devices });
        }
        (!demand.ways.is_empty()).then_some(demand)
    }

    /// The candidates of an option that nothing chosen so far is against.
    fn left_for(&self, book: &mut Book, number: usize, dear: &Bits) -> Bits {
        let option = &self.problem.query.options[number];
        let mut devices = self.facts.candidates[number].clone();
        devices.drop_all(dear);
        if option.admin {
            for device in self.ledger.in_flight.iter() {
                if self.ledger.is_in_use(option, device) {
                    devices.remove(device);
                }
            }
        } else {
            devices.drop_all(&self.ledger.in_flight);
        }
        for placed in self.ledger.placed.iter().filter(|placed| placed.share.is_some()) {
            if devices.has(placed.device) && !self.ledger.has_capacity(book, option, placed.device) {
                devices.remove(placed.device);
            }
        }
        for applies in &option.constraints {
            let constraint = &self.ledger.constraints[option.claim][applies.constraint];
            let Some(values) = self.facts.values(applies.attribute) else { continue };
            let mut fitting = Bits::new(self.problem.stock.pools.devices.len());
            match (constraint.rule, constraint.seen().last()) {
                (_, None) => {}
                (Rule::Match, Some(Attribute::Elements(common))) => {
                    values.with(common, &mut fitting);
                    devices.keep(&fitting);
                }
                (Rule::Match, Some(_)) => devices = fitting,
                (Rule::Distinct, Some(_)) => {
                    for seen in constraint.seen() {
                        if let Attribute::Elements(taken) = seen {
                            values.with(taken, &mut fitting);
                        }
                    }
                    devices.drop_all(&fitting);
                }
            }
        }
        devices
    }

    /// Whether the needs can be met as far as matching and counters tell.
    fn is_possible(&self, demands: &[Demand]) -> bool {
        let shareable = &self.facts.shareable;
        if demands.iter().any(|demand| demand.devices().count() < demand.count)
            || !can_meet(&joined(self.needs(demands)))
        {
            return false;
        }
        if !self.facts.counters.is_empty() {
            let alone = demands.iter().filter(|d| !d.is_admin && !d.devices().meets(shareable));
            let needs = joined(alone.map(|demand| Need { count: demand.count, from: demand.devices() }));
            if self.facts.counters.cannot_pay(self.ledger, &needs) {
                return false;
            }
        }
        self.has_distinct_values(demands)
    }

    /// What the demands need of devices, a shareable device counted once for each share that it can
    /// still give. Administrators need nothing that others could miss.
    fn needs(&self, demands: &[Demand]) -> Vec<Need> {
        let shareable = &self.facts.shareable;
        let mut needs: Vec<Need> = demands
            .iter()
            .filter(|demand| !demand.is_admin)
            .map(|demand| Need { count: demand.count, from: demand.devices() })
            .collect();
        let mut shared = self.facts.nothing.clone();
        for need in &needs {
            shared.add_all(&need.from.and(shareable));
        }
        let devices = self.problem.stock.pools.devices.len();
        let mut copies = Vec::new();
        for device in shared.iter() {
            let way =
                |demand: &Demand| demand.ways.iter().find(|way| way.devices.has(device)).map(|w| w.option);
            let options: Vec<usize> =
                demands.iter().filter(|demand| !demand.is_admin).filter_map(way).collect();
            // Alternatives may take less than the one looked at; then no bound is known.
            let is_open = demands.iter().any(|demand| demand.ways.len() > 1 && demand.devices().has(device));
            let most =
                if is_open { options.len() } else { self.facts.shares.most(self.ledger, device, &options) };
            copies.extend(std::iter::repeat_n(device, most));
        }
        if copies.is_empty() {
            for need in &mut needs {
                need.from.drop_all(shareable);
            }
            return needs;
        }
        for need in &mut needs {
            let mut from = Bits::new(devices + copies.len());
            for device in need.from.iter().filter(|device| !shareable.has(*device)) {
                from.insert(device);
            }
            for (at, _) in copies.iter().enumerate().filter(|(_, device)| need.from.has(**device)) {
                from.insert(devices + at);
            }
            need.from = from;
        }
        needs
    }

    /// Whether there are as many values as devices that must differ.
    fn has_distinct_values(&self, demands: &[Demand]) -> bool {
        self.constraints(Rule::Distinct).all(|(claim, constraint)| {
            let under = demands.iter().filter_map(|demand| {
                let (way, attribute) = self.under(demand, claim, constraint)?;
                Some((demand.count, way, self.facts.values(attribute)?))
            });
            let under: Vec<_> = under.collect();
            // Derived attributes may stand in for the named one; each is judged alone.
            let Some(first) = under.first().map(|(_, _, values)| values.attribute) else { return true };
            let own = under.into_iter().filter(|(_, _, values)| values.attribute == first);
            can_meet(&joined(own.map(|(count, way, values)| {
                let mut from = Bits::new(values.elements.len());
                for (at, (_, devices)) in values.elements.iter().enumerate() {
                    if devices.meets(&way.devices) {
                        from.insert(at);
                    }
                }
                Need { count, from }
            })))
        })
    }

    /// The constraints of a kind, by claim and position.
    fn constraints(&self, rule: Rule) -> impl Iterator<Item = (usize, usize)> + '_ {
        let of_claims = self.ledger.constraints.iter().enumerate();
        of_claims.flat_map(move |(claim, constraints)| {
            let of_rule = constraints.iter().enumerate().filter(move |(_, c)| c.rule == rule);
            of_rule.map(move |(at, _)| (claim, at))
        })
    }

    /// The only way of a demand and the attribute that a constraint looks at, if it applies.
    fn under<'d>(&self, demand: &'d Demand, claim: usize, constraint: usize) -> Option<(&'d Way, usize)> {
        let [way] = &demand.ways[..] else { return None };
        let option = &self.problem.query.options[way.option];
        if option.claim != claim {
            return None;
        }
        let applies = option.constraints.iter().find(|applies| applies.constraint == constraint)?;
        Some((way, applies.attribute))
    }

    /// Match constraints whose common element is still to be chosen, those with few first.
    fn open_constraints(&self, demands: &[Demand]) -> Vec<Open> {
        let mut open = Vec::new();
        for (claim, constraint) in self.constraints(Rule::Match) {
            let under: Vec<_> = demands
                .iter()
                .filter_map(|demand| Some((demand, self.under(demand, claim, constraint)?)))
                .collect();
            let fewest = under.iter().min_by_key(|(_, (way, _))| way.devices.count());
            let Some((_, (way, attribute))) = fewest else { continue };
            let seen = self.ledger.constraints[claim][constraint].seen().last();
            let elements: Vec<usize> = match seen {
                Some(Attribute::Elements(common)) if common.len() > 1 => common.to_vec(),
                Some(_) => continue,
                None if under.iter().map(|(demand, _)| demand.count).sum::<usize>() < 2 => continue,
                None => {
                    let Some(values) = self.facts.values(*attribute) else { continue };
                    let there = values.elements.iter().filter(|(_, devices)| devices.meets(&way.devices));
                    there.map(|(element, _)| *element).collect()
                }
            };
            open.push(Open { claim, constraint, elements });
        }
        open.sort_by_key(|open| open.elements.len());
        open
    }

    /// Whether some choice of common elements leaves enough for everybody.
    fn has_values(&mut self, demands: &[Demand], from: usize) -> bool {
        let Some(open) = self.open.get(from) else { return true };
        let (claim, constraint, elements) = (open.claim, open.constraint, open.elements.clone());
        for element in elements {
            if !self.has_enough(demands, claim, constraint, element) {
                continue;
            }
            if self.fuel == 0 {
                return true;
            }
            self.fuel -= 1;
            let narrowed = self.narrowed(demands, claim, constraint, element);
            if self.is_possible(&narrowed) && self.has_values(&narrowed, from + 1) {
                return true;
            }
        }
        false
    }

    /// The devices that have the element, if the constraint applies to the option.
    fn having(&self, option: usize, claim: usize, constraint: usize, element: usize) -> Option<&Bits> {
        let option = &self.problem.query.options[option];
        let applies = option.constraints.iter().find(|applies| applies.constraint == constraint);
        let applies = applies.filter(|_| option.claim == claim)?;
        let elements = &self.facts.values(applies.attribute)?.elements;
        let at = elements.binary_search_by_key(&element, |(element, _)| *element).ok();
        Some(at.map_or(&self.facts.nothing, |at| &elements[at].1))
    }

    /// Whether every request finds enough devices that have the element, counted one by one.
    fn has_enough(&self, demands: &[Demand], claim: usize, constraint: usize, element: usize) -> bool {
        demands.iter().all(|demand| {
            demand.ways.iter().any(|way| match self.having(way.option, claim, constraint, element) {
                Some(having) => way.devices.shared_with(having) >= demand.count,
                None => true,
            })
        })
    }

    /// The demands with only devices that have the element.
    fn narrowed(&self, demands: &[Demand], claim: usize, constraint: usize, element: usize) -> Vec<Demand> {
        let mut narrowed = demands.to_vec();
        for way in narrowed.iter_mut().flat_map(|demand| &mut demand.ways) {
            if let Some(having) = self.having(way.option, claim, constraint, element) {
                way.devices.keep(having);
            }
        }
        narrowed
    }
}
