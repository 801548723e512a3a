//! Which requests and constraints exclude each other: one after the other is left out, and stays
//! out if the rest still does not fit (a minimal unsatisfiable subset by deletion).

use std::sync::Arc;

use crate::model::{ClaimSpec, DeviceConstraint, DeviceRequest, Snapshot};

use super::ClaimToAllocate;
use super::book::Book;
use super::candidate::Stock;
use super::funnel::{Competition, Conflict};
use super::held::Held;
use super::request::Query;
use super::search::{End, Problem, Search};

/// A node, and claims that do not fit on it.
pub(super) struct World<'a> {
    pub stock: Stock<'a>,
    pub held: &'a Held,
    pub snapshot: &'a Snapshot,
    pub claims: &'a [ClaimToAllocate<'a>],
    pub budget: u64,
}

/// What of a claim is kept: positions of requests and constraints.
#[derive(Clone)]
struct Part {
    requests: Vec<usize>,
    constraints: Vec<usize>,
}

impl World<'_> {
    /// The conflict; none if the claims fit, or nobody can tell.
    pub fn conflict(&self, book: &mut Book) -> Option<Conflict> {
        let mut parts: Vec<Part> = self
            .claims
            .iter()
            .map(|claim| Part {
                requests: (0..claim.spec.requests.len()).collect(),
                constraints: (0..claim.spec.constraints.len()).collect(),
            })
            .collect();
        if !self.fails(book, &parts, self.held) {
            return None;
        }
        for claim in (0..parts.len()).rev() {
            for list in [Part::constraints as fn(&mut Part) -> &mut Vec<usize>, Part::requests] {
                for at in (0..list(&mut parts[claim]).len()).rev() {
                    let mut without = parts.clone();
                    list(&mut without[claim]).remove(at);
                    if self.fails(book, &without, self.held) {
                        parts = without;
                    }
                }
            }
        }
        let plenty = Held { left: Vec::new(), ..self.held.clone() };
        let over = if self.held.left.iter().any(Option::is_some) && !self.fails(book, &parts, &plenty) {
            Competition::Counters
        } else {
            Competition::Devices
        };
        let named = self.claims.iter().zip(&parts);
        let requests = named.clone().flat_map(|(claim, part)| {
            let name = |at: &usize| (claim.key.clone(), claim.spec.requests[*at].name.clone());
            part.requests.iter().map(name)
        });
        let constraints =
            named.flat_map(|(claim, part)| part.constraints.iter().map(|at| (claim.key.clone(), *at)));
        Some(Conflict { requests: requests.collect(), constraints: constraints.collect(), over })
    }

    /// Whether what is kept still does not fit.
    fn fails(&self, book: &mut Book, parts: &[Part], held: &Held) -> bool {
        let specs: Vec<_> = self.claims.iter().zip(parts).map(|(claim, part)| part.of(claim.spec)).collect();
        let query = Query::new(self.stock.rules, self.snapshot.classes(), book, &specs);
        let Ok(problem) = Problem::new(self.stock, &query, held, book) else { return false };
        Search::new(&problem, book, self.budget).run().0 == End::DoesNotFit
    }
}

impl Part {
    fn constraints(&mut self) -> &mut Vec<usize> {
        &mut self.constraints
    }

    fn requests(&mut self) -> &mut Vec<usize> {
        &mut self.requests
    }

    /// The claim with only these requests and constraints. A constraint on requests that are gone
    /// keeps their names, so that it never spreads to others.
    fn of(&self, spec: &ClaimSpec) -> Arc<ClaimSpec> {
        let requests: Box<[DeviceRequest]> =
            self.requests.iter().filter_map(|at| spec.requests.get(*at)).cloned().collect();
        let constraints: Box<[DeviceConstraint]> =
            self.constraints.iter().filter_map(|at| spec.constraints.get(*at)).cloned().collect();
        Arc::new(ClaimSpec { requests, constraints, config: Box::default() })
    }
}
