//! Can these claims be met on this node, and with which devices? Pure.
//!
//! The answer is that of Kubernetes 1.37's structured allocator (KEP-4381 and its followers), device
//! by device: the same order of trying, the same first answer, the same errors. See README.md for
//! the problem, the order, the invariants, and what is done differently.

mod bits;
mod book;
mod candidate;
mod capacity;
pub mod check;
mod conflict;
mod constraint;
mod errors;
pub mod funnel;
mod held;
mod ledger;
mod memo;
mod pool;
mod projection;
mod prune;
mod request;
mod result;
mod rules;
mod search;
mod selector;
mod shape;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use imbl::OrdMap;
use rustc_hash::FxHashMap;

use crate::model::{Allocation, ClaimKey, ClaimSpec, ClassName, DeviceClass, Features, Node, Snapshot, Uid};

use book::Book;
use candidate::Stock;
use errors::Failure;
use memo::{Answer, Inventory, Memo, QueryId};
use request::Query;
use rules::Rules;
use search::{End, Problem, Search};

pub use errors::{
    AllocateError, CapacityFault, FatalError, FatalReason, NodeError, RequestFault, SelectorOwner,
};
pub use funnel::{
    Competition, Conflict, DeviceObstacle, FunnelStep, RequestFunnel, UnusablePool, WantedDevices,
};
pub use memo::State as NodeKind;
pub use pool::{InvalidReason, PoolStatus};

/// A claim of the pod that has no devices yet.
#[derive(Clone, Copy, Debug)]
pub struct ClaimToAllocate<'a> {
    /// Namespace and name.
    pub key: &'a ClaimKey,
    /// The identity.
    pub uid: &'a Uid,
    /// What is asked.
    pub spec: &'a Arc<ClaimSpec>,
}

/// The answer for one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// One allocation for each claim, in order; none if they do not fit.
    pub result: Result<Option<Arc<[Allocation]>>, AllocateError>,
    /// What the search cost, whenever it ran: positions entered and proofs attempted.
    pub steps: u64,
}

/// Most steps of a search, unless set otherwise. Upstream stops after 10 seconds instead.
pub const DEFAULT_STEP_BUDGET: u64 = 200_000;

/// Most contents kept for a small cluster before the memo starts anew.
const CONTENTS: usize = 1 << 16;

/// The allocator, with all that it has learnt about devices, nodes and claims.
///
/// What it has learnt is a memo only: a new allocator gives the same answers.
pub struct Allocator {
    rules: Rules,
    budget: u64,
    book: Book,
    memo: Memo,
    queries: Queries,
}

/// How the search for the claims ended on the node of that number.
struct Found {
    number: usize,
    query: Arc<Query>,
    answer: Arc<Answer>,
}

/// Lists of claims, by content.
#[derive(Default)]
struct Queries {
    classes: OrdMap<ClassName, Arc<DeviceClass>>,
    by_specs: FxHashMap<Vec<Arc<ClaimSpec>>, (QueryId, Arc<Query>)>,
    last: Option<(Vec<Arc<ClaimSpec>>, QueryId, Arc<Query>)>,
    next: QueryId,
}

impl Allocator {
    /// An allocator that knows nothing yet.
    pub fn new(features: &Features) -> Self {
        let rules = Rules::new(features);
        let book = Book::new(&rules);
        Self { rules, budget: DEFAULT_STEP_BUDGET, book, memo: Memo::default(), queries: Queries::default() }
    }

    /// Sets the most steps that the search on one node may take.
    pub fn set_step_budget(&mut self, steps: u64) {
        if self.budget != steps {
            self.budget = steps;
            self.forget();
        }
    }

    /// Whether the claims can be met on the node, and with which devices.
    pub fn allocate(&mut self, snapshot: &Snapshot, node: &Node, claims: &[ClaimToAllocate<'_>]) -> Outcome {
        let found = match self.answer(snapshot, node, claims) {
            Ok(found) => found,
            Err((failure, steps)) => return Outcome { result: Err(self.error(claims, failure)), steps },
        };
        let steps = found.answer.steps;
        let result = match self.verdict(&found) {
            Ok(true) => self.allocations(&found, node).map_err(|failure| self.error(claims, failure)),
            Ok(false) => Ok(None),
            Err(error) => Err(*error),
        };
        Outcome { result, steps }
    }

    /// Whether the claims can be met on the node: [`allocate`](Self::allocate) without its words.
    ///
    /// # Errors
    /// Those of `allocate`.
    pub fn fits(
        &mut self,
        snapshot: &Snapshot,
        node: &Node,
        claims: &[ClaimToAllocate<'_>],
    ) -> Result<bool, Box<AllocateError>> {
        match self.answer(snapshot, node, claims) {
            Ok(found) => self.verdict(&found),
            Err((failure, _)) => Err(Box::new(self.error(claims, failure))),
        }
    }

    /// The kind of a node: nodes of one kind answer these claims alike, but for names. None if it
    /// shares no state with others.
    pub fn node_kind(
        &mut self,
        snapshot: &Snapshot,
        node: &Node,
        claims: &[ClaimToAllocate<'_>],
    ) -> Option<NodeKind> {
        self.follow(snapshot);
        let Self { rules, book, memo, queries, .. } = self;
        let (_, query) = queries.resolve(rules, book, snapshot, claims);
        let number = memo.locate(rules, book, snapshot, node).ok()?;
        memo.state(book, number, query.projection)
    }

    /// How the search on a node ends, from memory or searched for; or a failure, with the steps it took.
    fn answer(
        &mut self,
        snapshot: &Snapshot,
        node: &Node,
        claims: &[ClaimToAllocate<'_>],
    ) -> Result<Found, (Failure, u64)> {
        self.follow(snapshot);
        let Self { rules, budget, book, memo, queries } = self;
        let (id, query) = queries.resolve(rules, book, snapshot, claims);
        let early = |failure| (failure, 0);
        let number = memo.locate(rules, book, snapshot, node).map_err(early)?;
        if let Some(answer) = memo.inventory(number).map_err(early)?.answer(id).cloned() {
            return Ok(Found { number, query, answer });
        }
        let state = memo.state(book, number, query.projection);
        let known = memo.answer(id, state).cloned();
        let inventory = memo.inventory(number).map_err(early)?;
        let is_known = known.is_some();
        let answer = match known {
            Some(known) => known,
            None => Arc::new(search(rules, book, inventory, &query, *budget).map_err(early)?),
        };
        match &answer.end {
            End::Failed(failure) => return Err((failure.clone(), answer.steps)),
            End::Found(solution) => result::check(stock(rules, inventory), &query, solution)
                .map_err(|failure| (failure, answer.steps))?,
            End::DoesNotFit | End::OutOfSteps => {}
        }
        inventory.keep(id, Arc::clone(&answer));
        if !is_known {
            memo.keep(id, state, Arc::clone(&answer));
        }
        Ok(Found { number, query, answer })
    }

    /// Whether an end of the search is a yes.
    fn verdict(&mut self, found: &Found) -> Result<bool, Box<AllocateError>> {
        match found.answer.end {
            End::Found(_) => Ok(true),
            End::OutOfSteps => Err(Box::new(AllocateError::Budget { steps: found.answer.steps })),
            End::DoesNotFit | End::Failed(_) => {
                let inventory = self.memo.inventory(found.number);
                let has_invalid = inventory.is_ok_and(|inventory| inventory.pools.has_invalid_pool());
                if has_invalid && !self.rules.any_pool_will_do {
                    return Err(Box::new(AllocateError::Node(NodeError::InvalidPools)));
                }
                Ok(false)
            }
        }
    }

    fn allocations(&mut self, found: &Found, node: &Node) -> Result<Option<Arc<[Allocation]>>, Failure> {
        let End::Found(solution) = &found.answer.end else { return Ok(None) };
        let stock = stock(&self.rules, self.memo.inventory(found.number)?);
        result::allocations(stock, &found.query, solution, &node.name).map(|made| Some(made.into()))
    }

    fn error(&self, claims: &[ClaimToAllocate<'_>], failure: Failure) -> AllocateError {
        let claim = failure.claim.and_then(|at| claims.get(at)).map(|claim| claim.key.clone());
        let error = FatalError { claim, reason: failure.reason };
        if self.rules.unusable_pools_are_local && error.is_unusable_pool() {
            return AllocateError::Node(NodeError::UnusablePool(error));
        }
        AllocateError::Fatal(error)
    }

    fn follow(&mut self, snapshot: &Snapshot) {
        if self.memo.is_full(snapshot) || self.queries.by_specs.len() > CONTENTS {
            self.forget();
        }
        if self.book.contents() > CONTENTS {
            let devices: usize = snapshot.slices().all.values().map(|slice| slice.devices.len()).sum();
            if self.book.contents() > CONTENTS + 4 * devices {
                self.forget();
            }
        }
        self.memo.follow(snapshot);
    }

    fn forget(&mut self) {
        self.book = Book::new(&self.rules);
        self.memo = Memo::default();
        self.queries = Queries::default();
    }
}

fn stock<'a>(rules: &'a Rules, inventory: &'a Inventory) -> Stock<'a> {
    Stock { rules, pools: &inventory.pools, node_operations: inventory.node_operations }
}

fn search(
    rules: &Rules,
    book: &mut Book,
    inventory: &Inventory,
    query: &Query,
    budget: u64,
) -> Result<Answer, Failure> {
    let problem = Problem::new(stock(rules, inventory), query, &inventory.held, book)?;
    let (end, steps) = Search::new(&problem, book, budget).run();
    Ok(Answer { end, steps })
}

impl Queries {
    fn resolve(
        &mut self,
        rules: &Rules,
        book: &mut Book,
        snapshot: &Snapshot,
        claims: &[ClaimToAllocate<'_>],
    ) -> (QueryId, Arc<Query>) {
        if !self.classes.ptr_eq(snapshot.classes()) {
            self.classes = snapshot.classes().clone();
            self.by_specs.clear();
            self.last = None;
        }
        if let Some((specs, id, query)) = &self.last
            && specs.len() == claims.len()
            && specs.iter().zip(claims).all(|(spec, claim)| Arc::ptr_eq(spec, claim.spec))
        {
            return (*id, Arc::clone(query));
        }
        let specs: Vec<_> = claims.iter().map(|claim| Arc::clone(claim.spec)).collect();
        let known = self.by_specs.get(&specs).cloned();
        let (id, query) = known.unwrap_or_else(|| {
            let query = Arc::new(Query::new(rules, &self.classes, book, &specs));
            self.next += 1;
            self.by_specs.insert(specs.clone(), (self.next, Arc::clone(&query)));
            (self.next, query)
        });
        self.last = Some((specs, id, Arc::clone(&query)));
        (id, query)
    }
}
