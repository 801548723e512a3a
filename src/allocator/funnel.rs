//! Why claims do not fit on a node: for each request what became of the devices in reach, step by
//! step, and if every request alone finds enough, which requests and constraints exclude each other.
//! Data only; `explain` makes text of it.
//!
//! What is named is enough: without any other obstacle the claims still do not fit.

mod steps;

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::taint::first_untolerated;
use crate::model::{ClaimKey, ClassName, DeviceUse, Name, Node, PoolId, Quantity, Snapshot, Taint};

use super::book::Book;
use super::candidate::{Obstacle, Stock};
use super::constraint::Attribute;
use super::errors::Failure;
use super::held::amounts;
use super::memo::Inventory;
use super::pool::PoolStatus;
use super::request::{DeviceOption, Query, Wanted};
use super::{Allocator, ClaimToAllocate, conflict};
use steps::joined;

/// How many devices a request wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WantedDevices {
    /// That many.
    Count(i64),
    /// All that match, of which there are so many; none is too few.
    All(usize),
}

/// What became of the devices for one request, or for one alternative of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RequestFunnel {
    /// The claim.
    pub claim: ClaimKey,
    /// `request`, or `request/subrequest`.
    pub request: Name,
    /// The class.
    pub class: ClassName,
    /// How many are wanted.
    pub wanted: WantedDevices,
    /// Devices of usable pools that the node reaches.
    pub in_reach: usize,
    /// Pools in reach of which no device can be had.
    pub unusable: Vec<UnusablePool>,
    /// What devices fell to. Each device falls once, to the first that applies, in this order.
    pub steps: Vec<FunnelStep>,
    /// Devices that are left when every other request is ignored.
    pub remaining: usize,
    /// The first of `steps` after which fewer remained than wanted.
    pub first_empty: Option<usize>,
    /// What this request is at odds with, if each request alone finds enough.
    pub conflict: Option<Arc<Conflict>>,
}

impl RequestFunnel {
    /// Whether the request cannot be met even alone.
    pub fn is_short(&self) -> bool {
        match self.wanted {
            WantedDevices::Count(count) => i64::try_from(self.remaining).is_ok_and(|left| left < count),
            WantedDevices::All(matching) => matching == 0 || self.remaining < matching,
        }
    }
}

/// A pool of which no device can be had.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct UnusablePool {
    /// The pool.
    pub pool: PoolId,
    /// Why not.
    pub status: PoolStatus,
}

/// So many devices fell to this.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FunnelStep {
    /// What they fell to.
    pub obstacle: DeviceObstacle,
    /// How many.
    pub devices: usize,
    /// The names of the first few.
    pub names: Vec<Name>,
}

/// Why a device cannot serve a request, ordered as the funnel looks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceObstacle {
    /// A selector of the class differs.
    ClassSelector {
        /// Its position.
        index: usize,
        /// The CEL expression.
        expression: Arc<str>,
    },
    /// A selector of the request differs.
    RequestSelector {
        /// Its position.
        index: usize,
        /// The CEL expression.
        expression: Arc<str>,
    },
    /// An expression, node selector or amount cannot be evaluated on it, which ends the attempt.
    Failed {
        /// The evaluator's words.
        error: Name,
    },
    /// The device says itself that it is on other nodes.
    OtherNode,
    /// It does not have the capacity that is asked for, whoever uses it.
    Capacity {
        /// The capacity.
        capacity: Name,
    },
    /// Binding conditions are disabled, and it has some.
    BindingConditions,
    /// Partitionable devices are disabled, and it consumes counters.
    PartitionsDisabled,
    /// Its driver leaves out kubelet calls, which the node or the gates do not allow.
    NodeOperations,
    /// A taint that the request does not tolerate.
    Taint {
        /// The taint.
        taint: Taint,
    },
    /// A constraint looks at an attribute that it does not have.
    MissingAttribute {
        /// The attribute.
        attribute: Name,
    },
    /// Others hold it.
    InUse {
        /// Who.
        claims: Vec<ClaimKey>,
    },
    /// Its pool has too little left of a counter.
    Counter {
        /// The pool.
        pool: PoolId,
        /// The counter set.
        counter_set: Name,
        /// The counter.
        counter: Name,
        /// Who holds the rest.
        claims: Vec<ClaimKey>,
    },
    /// The holders of its counter set have no compatibility group in common with it.
    CompatibilityGroups {
        /// The pool.
        pool: PoolId,
        /// The counter set.
        counter_set: Name,
        /// Who they are.
        claims: Vec<ClaimKey>,
    },
    /// Its shares leave too little of a capacity.
    CapacityLeft {
        /// The capacity.
        capacity: Name,
        /// Who holds them.
        claims: Vec<ClaimKey>,
    },
}

/// Requests and constraints that exclude each other. Without any one of them the others can be met.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Conflict {
    /// The requests.
    pub requests: Vec<(ClaimKey, Name)>,
    /// The constraints, by their positions in their claims.
    pub constraints: Vec<(ClaimKey, usize)>,
    /// What the requests compete for.
    pub over: Competition,
}

/// What requests compete for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Competition {
    /// Devices, or the values that constraints want.
    Devices,
    /// Shared counters: with enough of them the requests could be met.
    Counters,
}

impl Allocator {
    /// Why the claims do not fit on the node; one entry for each request, or for each alternative.
    ///
    /// Empty if the claims or slices are at fault; then [`Allocator::allocate`] says so.
    pub fn funnel(
        &mut self,
        snapshot: &Snapshot,
        node: &Node,
        claims: &[ClaimToAllocate<'_>],
    ) -> Vec<RequestFunnel> {
        self.follow(snapshot);
        let (_, query) = self.queries.resolve(&self.rules, &mut self.book, snapshot, claims);
        let Self { rules, budget, book, memo, .. } = self;
        let located = memo.locate(rules, book, snapshot, node);
        let Ok(inventory) = located.and_then(|number| memo.inventory(number)) else { return Vec::new() };
        let stock = super::stock(rules, inventory);
        let look = Look { stock, query: &query, inventory, snapshot, claims };
        let mut funnels: Vec<_> = query.options.iter().map(|option| look.funnel(book, option)).collect();
        let short = |request: &super::request::Request| {
            funnels[request.options.clone()].iter().all(RequestFunnel::is_short)
        };
        if query.claims.iter().flat_map(|claim| &claim.requests).any(short) {
            return funnels;
        }
        let world = conflict::World { stock, held: &inventory.held, snapshot, claims, budget: *budget };
        if let Some(conflict) = world.conflict(book).map(Arc::new) {
            for funnel in &mut funnels {
                let named = |(claim, request): &(ClaimKey, Name)| {
                    let parent =
                        funnel.request.split_once('/').map_or(&*funnel.request, |(parent, _)| parent);
                    *claim == funnel.claim && *request == *parent
                };
                if conflict.requests.iter().any(named) {
                    funnel.conflict = Some(Arc::clone(&conflict));
                }
            }
        }
        funnels
    }
}

struct Look<'a> {
    stock: Stock<'a>,
    query: &'a Query,
    inventory: &'a Inventory,
    snapshot: &'a Snapshot,
    claims: &'a [ClaimToAllocate<'a>],
}

impl Look<'_> {
    fn funnel(&self, book: &mut Book, option: &DeviceOption) -> RequestFunnel {
        let pools = &self.inventory.pools;
        let unusable = pools.pools.iter().filter(|pool| pool.status != PoolStatus::Usable);
        let fall = |device| Some((self.obstacle(book, option, device)?, device));
        let mut fallen: Vec<(DeviceObstacle, usize)> = (0..pools.devices.len()).filter_map(fall).collect();
        fallen.sort_unstable();
        let in_reach = pools.devices.len();
        let remaining = in_reach - fallen.len();
        let named = fallen.into_iter().map(|(obstacle, device)| (obstacle, &pools.device(device).2.name));
        let steps = joined(named);
        let wanted = match option.wanted {
            Wanted::Count(count) => WantedDevices::Count(count),
            Wanted::All => {
                let drops_exhausted = self.stock.rules.all_drops_exhausted;
                let mismatch = steps.iter().filter(|step| step.obstacle.is_mismatch(drops_exhausted));
                WantedDevices::All(in_reach - mismatch.map(|step| step.devices).sum::<usize>())
            }
        };
        let mut funnel = RequestFunnel {
            claim: self.claims.get(option.claim).map(|claim| claim.key.clone()).unwrap_or_default(),
            request: option.name.clone(),
            class: option.class.name.clone(),
            wanted,
            in_reach,
            unusable: unusable
                .map(|pool| UnusablePool { pool: pool.id.clone(), status: pool.status.clone() })
                .collect(),
            steps,
            remaining,
            first_empty: None,
            conflict: None,
        };
        funnel.first_empty = first_empty(&funnel);
        funnel
    }

    fn obstacle(&self, book: &mut Book, option: &DeviceOption, number: usize) -> Option<DeviceObstacle> {
        let (pool, _, device) = self.stock.pools.device(number);
        match self.stock.judge(book, option, number) {
            Err(failure) => return Some(DeviceObstacle::Failed { error: self.words(failure) }),
            Ok(Some(obstacle)) => return Some(named(option, obstacle)),
            Ok(None) => {}
        }
        if self.stock.needs_partitions(number) {
            return Some(DeviceObstacle::PartitionsDisabled);
        }
        if self.stock.needs_node_operations(number) {
            return Some(DeviceObstacle::NodeOperations);
        }
        let taint = first_untolerated(&device.taints, &option.tolerations);
        if let Some(taint) = taint.filter(|_| self.stock.rules.taints) {
            return Some(DeviceObstacle::Taint { taint: taint.clone() });
        }
        if let Some(obstacle) = self.attribute(book, option, number) {
            return Some(obstacle);
        }
        let used = self.snapshot.usage().device(&pool.id.device(device.name.clone()));
        if !option.admin && self.inventory.held.dedicated.has(number) {
            return Some(DeviceObstacle::InUse { claims: used.map(holders).unwrap_or_default() });
        }
        let is_paid = self.stock.is_shareable(number) && self.inventory.held.shares(number).is_some();
        if let Some(obstacle) = self.counters(number).filter(|_| !is_paid) {
            return Some(obstacle);
        }
        self.capacity_left(book, option, number, used)
    }

    fn words(&self, failure: Failure) -> Name {
        let claim = failure.claim.and_then(|at| self.claims.get(at)).map(|claim| claim.key.clone());
        Name::from(super::FatalError { claim, reason: failure.reason }.to_string())
    }

    fn attribute(&self, book: &mut Book, option: &DeviceOption, number: usize) -> Option<DeviceObstacle> {
        let content = self.stock.pools.devices[number].content;
        option.constraints.iter().find_map(|applies| {
            let name = || self.query.claims[option.claim].constraints[applies.constraint].1.clone();
            match book.value(applies.attribute, content) {
                Attribute::Elements(_) => None,
                Attribute::Unsupported if !self.stock.rules.lists => None,
                Attribute::Absent | Attribute::Unsupported => {
                    Some(DeviceObstacle::MissingAttribute { attribute: name() })
                }
                Attribute::Broken(error) | Attribute::Failed(error) => {
                    Some(DeviceObstacle::Failed { error: error.clone() })
                }
            }
        })
    }

    fn counters(&self, number: usize) -> Option<DeviceObstacle> {
        let (pool, _, device) = self.stock.pools.device(number);
        let at = self.stock.pools.devices[number].pool;
        let counters = pool.counters.as_ref()?;
        let left = self.inventory.held.left.get(at)?.as_ref()?;
        if device.consumes_counters.is_empty() {
            return None;
        }
        for consumption in device.consumes_counters.iter().filter(|_| self.stock.rules.groups) {
            let set = counters.set(&consumption.counter_set)?;
            if left.members[set].with(&consumption.compatibility_groups).is_none() {
                return Some(DeviceObstacle::CompatibilityGroups {
                    pool: pool.id.clone(),
                    counter_set: consumption.counter_set.clone(),
                    claims: self.pool_holders(&pool.id),
                });
            }
        }
        let lacks = |(number, amount): &(usize, &Quantity)| left.counters[*number].compare(amount).is_lt();
        let mut taken = device.consumes_counters.iter().flat_map(|taken| amounts(counters, taken));
        let overdrawn = left.counters.iter().position(Quantity::is_negative);
        let lacking = overdrawn.or_else(|| taken.find(lacks).map(|(number, _)| number))?;
        let (counter_set, counter) = counters.name(lacking)?;
        Some(DeviceObstacle::Counter {
            pool: pool.id.clone(),
            counter_set: counter_set.clone(),
            counter: counter.clone(),
            claims: self.pool_holders(&pool.id),
        })
    }

    fn capacity_left(
        &self,
        book: &mut Book,
        option: &DeviceOption,
        number: usize,
        used: Option<&DeviceUse>,
    ) -> Option<DeviceObstacle> {
        let held = self.inventory.held.shares(number)?;
        let (_, _, device) = self.stock.pools.device(number);
        let wanted = self.stock.amounts(book, option, number);
        let sum = |name: &Name| held.iter().find(|(key, _)| key == name).map(|(_, sum)| sum.clone());
        let capacity = super::capacity::exceeded(&wanted, &device.content, sum)?;
        let claims = used.map(holders).unwrap_or_default();
        Some(DeviceObstacle::CapacityLeft { capacity: capacity.clone(), claims })
    }

    /// Who holds devices of a pool.
    fn pool_holders(&self, pool: &PoolId) -> Vec<ClaimKey> {
        let used = self.snapshot.usage().pool(pool);
        let all = used.iter().flat_map(|used| used.devices.values()).flat_map(DeviceUse::holders);
        all.cloned().collect::<BTreeSet<_>>().into_iter().collect()
    }
}

fn holders(used: &DeviceUse) -> Vec<ClaimKey> {
    used.holders().into_iter().cloned().collect()
}

fn named(option: &DeviceOption, obstacle: Obstacle) -> DeviceObstacle {
    match obstacle {
        Obstacle::BindingConditions => DeviceObstacle::BindingConditions,
        Obstacle::OtherNode => DeviceObstacle::OtherNode,
        Obstacle::Capacity(capacity) => DeviceObstacle::Capacity { capacity },
        Obstacle::Selector(at) => {
            let selector = &option.selectors[at];
            let (index, expression) = (selector.index, Arc::clone(&selector.expression));
            match selector.owner {
                super::SelectorOwner::Class(_) => DeviceObstacle::ClassSelector { index, expression },
                super::SelectorOwner::Claim => DeviceObstacle::RequestSelector { index, expression },
            }
        }
    }
}

impl DeviceObstacle {
    /// Whether mode `All` leaves such a device out, instead of failing.
    fn is_mismatch(&self, drops_exhausted: bool) -> bool {
        use DeviceObstacle as O;
        match self {
            O::ClassSelector { .. }
            | O::RequestSelector { .. }
            | O::OtherNode
            | O::Capacity { .. }
            | O::BindingConditions => true,
            O::CapacityLeft { .. } => drops_exhausted,
            _ => false,
        }
    }
}

fn first_empty(funnel: &RequestFunnel) -> Option<usize> {
    let wanted = match funnel.wanted {
        WantedDevices::Count(count) => usize::try_from(count).unwrap_or(0),
        WantedDevices::All(matching) => matching.max(1),
    };
    let mut left = funnel.in_reach;
    funnel.steps.iter().position(|step| {
        left -= step.devices;
        left < wanted
    })
}
