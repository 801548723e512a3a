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
use memo::{Inventory, Memo, QueryId};
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
        self.follow(snapshot);
        let (id, query) = self.queries.resolve(&self.rules, &mut self.book, snapshot, claims);
        let answer = self.answer(snapshot, node, id, &query);
        answer.unwrap_or_else(|(failure, steps)| {
            let claim = failure.claim.and_then(|at| claims.get(at)).map(|claim| claim.key.clone());
            let error = FatalError { claim, reason: failure.reason };
            let is_local = self.rules.unusable_pools_are_local && error.is_unusable_pool();
            let fatal = AllocateError::Fatal;
            let kind = if is_local { |e| AllocateError::Node(NodeError::UnusablePool(e)) } else { fatal };
            Outcome { result: Err(kind(error)), steps }
        })
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
        memo.inventory(rules, book, snapshot, node).ok()?;
        memo.state(book, node, query.projection)
    }

    /// The outcome, from memory or searched for; or a failure, with the steps it took.
    fn answer(
        &mut self,
        snapshot: &Snapshot,
        node: &Node,
        id: QueryId,
        query: &Query,
    ) -> Result<Outcome, (Failure, u64)> {
        let Self { rules, budget, book, memo, .. } = self;
        let inventory = memo.inventory(rules, book, snapshot, node).map_err(|failure| (failure, 0))?;
        if let Some(outcome) = inventory.outcome(id) {
            return Ok(outcome.clone());
        }
        let state = memo.state(book, node, query.projection);
        let known = memo.answer(id, state).cloned();
        let inventory = memo.inventory(rules, book, snapshot, node).map_err(|failure| (failure, 0))?;
        let is_known = known.is_some();
        let answer = match known {
            Some(known) => known,
            None => Arc::new(search(rules, book, inventory, query, *budget).map_err(|failure| (failure, 0))?),
        };
        let (end, steps) = &*answer;
        let outcome = outcome(rules, inventory, query, node, end, *steps).map_err(|f| (f, *steps))?;
        inventory.keep(id, outcome.clone());
        if !is_known && !matches!(end, End::Failed(_)) {
            memo.keep(id, state, answer);
        }
        Ok(outcome)
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
) -> Result<(End, u64), Failure> {
    let problem = Problem::new(stock(rules, inventory), query, &inventory.held, book)?;
    Ok(Search::new(&problem, book, budget).run())
}

fn outcome(
    rules: &Rules,
    inventory: &Inventory,
    query: &Query,
    node: &Node,
    end: &End,
    steps: u64,
) -> Result<Outcome, Failure> {
    let result = match end {
        End::Found(solution) => {
            let allocations = result::allocations(stock(rules, inventory), query, solution, &node.name)?;
            Ok(Some(allocations.into()))
        }
        End::DoesNotFit if inventory.pools.has_invalid_pool() && !rules.any_pool_will_do => {
            Err(AllocateError::Node(NodeError::InvalidPools))
        }
        End::DoesNotFit => Ok(None),
        End::OutOfSteps => Err(AllocateError::Budget { steps }),
        End::Failed(failure) => return Err(failure.clone()),
    };
    Ok(Outcome { result, steps })
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
