//! The plainest possible search: every device for every place, in upstream's order, each partial
//! answer judged from scratch. For tiny worlds only; it shares no code with the allocator.
//!
//! What it leaves out, tiny worlds do not have: the limit of 32 devices, selectors that fail, configuration,
//! derived attributes, fractional amounts.

use stowplan::model::{
    AllocationMode, ConstraintKind, Device, DeviceId, DeviceRequirement, FeatureGate, Name, Node, Quantity,
    RequestKind, ResourceClaim, ResourceSlice, Snapshot, ValidAmounts,
};

use super::meaning::{amount, requested, scalars, selects};
use super::pools::{Pool, PoolState, pools};

/// What the search finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The first solution: for each claim, requests and devices in order.
    Given(Assignment),
    /// There is none.
    Nothing,
    /// There is none, and some pool of the node is invalid.
    InvalidPools,
    /// The attempt ends: all devices are wanted of a pool that is in flux, or all devices of a request
    /// cannot satisfy a constraint.
    Fatal,
}

/// Requests and devices in the order in which they are given, for each claim.
pub type Assignment = Vec<Vec<(Name, DeviceId)>>;

/// Searches the world.
pub fn solve(snapshot: &Snapshot, node: &Node, claims: &[ResourceClaim]) -> Answer {
    search(snapshot, node, claims, None)
}

/// Whether an assignment solves the world, be it the first solution or another one.
pub fn accepts(snapshot: &Snapshot, node: &Node, claims: &[ResourceClaim], assignment: &Assignment) -> bool {
    search(snapshot, node, claims, Some(assignment)) == Answer::Given(assignment.clone())
}

fn search(snapshot: &Snapshot, node: &Node, claims: &[ResourceClaim], script: Option<&Assignment>) -> Answer {
    let script = script.map(|script| script.concat());
    let mut oracle =
        Oracle { snapshot, node, claims, pools: pools(snapshot, node), script, chosen: Vec::new() };
    if oracle.wants_all_of_unclear_pool() {
        return Answer::Fatal;
    }
    let start = Place { claim: 0, request: 0, alternative: None, nth: 0, from: 0 };
    match oracle.step(start) {
        Ok(true) => Answer::Given(oracle.answer()),
        Ok(false) if oracle.pools.iter().any(|pool| matches!(pool.state, PoolState::Invalid)) => {
            Answer::InvalidPools
        }
        Ok(false) => Answer::Nothing,
        Err(Fatal) => Answer::Fatal,
    }
}

struct Fatal;

/// What is to be filled next.
#[derive(Clone, Copy)]
struct Place {
    claim: usize,
    request: usize,
    alternative: Option<usize>,
    /// How many devices the request has already.
    nth: usize,
    /// The first candidate to be tried.
    from: usize,
}

/// A device for a place.
#[derive(Clone)]
struct Choice<'a> {
    claim: usize,
    request: Name,
    parent: Name,
    requirement: &'a DeviceRequirement,
    pool: usize,
    slice: &'a ResourceSlice,
    device: &'a Device,
}

impl Choice<'_> {
    fn id(&self) -> DeviceId {
        self.slice.pool.device(self.device.name.clone())
    }
}

struct Oracle<'a> {
    snapshot: &'a Snapshot,
    node: &'a Node,
    claims: &'a [ResourceClaim],
    pools: Vec<Pool<'a>>,
    /// The only choices allowed, in any order within a request.
    script: Option<Vec<(Name, DeviceId)>>,
    chosen: Vec<Choice<'a>>,
}

impl<'a> Oracle<'a> {
    fn has(&self, gate: FeatureGate) -> bool {
        self.snapshot.features().has(gate)
    }

    fn answer(&self) -> Assignment {
        let of = |claim: usize| self.chosen.iter().filter(move |choice| choice.claim == claim);
        (0..self.claims.len())
            .map(|claim| of(claim).map(|choice| (choice.request.clone(), choice.id())).collect())
            .collect()
    }

    fn wants_all_of_unclear_pool(&self) -> bool {
        let all = |requirement: &DeviceRequirement| requirement.mode == AllocationMode::All;
        self.pools.iter().any(|pool| !matches!(pool.state, PoolState::Fine))
            && self.claims.iter().flat_map(|claim| &claim.spec.requests).any(|request| match &request.kind {
                RequestKind::Exactly(requirement) => all(requirement),
                RequestKind::FirstAvailable(list) => list.iter().any(|sub| all(&sub.requirement)),
                RequestKind::Unknown => false,
            })
    }

    fn step(&mut self, place: Place) -> Result<bool, Fatal> {
        let claims = self.claims;
        let Some(claim) = claims.get(place.claim) else { return Ok(true) };
        let Some(request) = claim.spec.requests.get(place.request) else {
            return self.step(Place {
                claim: place.claim + 1,
                request: 0,
                alternative: None,
                nth: 0,
                from: 0,
            });
        };
        let (requirement, name) = match (&request.kind, place.alternative) {
            (RequestKind::Exactly(requirement), _) => (requirement, request.name.clone()),
            (RequestKind::FirstAvailable(list), None) => {
                for alternative in 0..list.len() {
                    if self.step(Place { alternative: Some(alternative), ..place })? {
                        return Ok(true);
                    }
                }
                return Ok(false);
            }
            (RequestKind::FirstAvailable(list), Some(index)) => {
                let sub = &list[index];
                (&sub.requirement, Name::from(format!("{}/{}", request.name, sub.name)))
            }
            (RequestKind::Unknown, _) => return Err(Fatal),
        };
        let candidates: Vec<Choice<'a>> = self.candidates(place.claim, &request.name, &name, requirement);
        let all = requirement.mode == AllocationMode::All;
        let wanted = match requirement.mode {
            AllocationMode::ExactCount(count) => usize::try_from(count).map_err(|_| Fatal)?,
            _ if candidates.is_empty() => return Ok(false),
            _ => candidates.len(),
        };
        if place.nth >= wanted {
            let next = place.request + 1;
            return self.step(Place { request: next, alternative: None, nth: 0, from: 0, ..place });
        }
        let end = if all { place.from + 1 } else { candidates.len() };
        for (index, candidate) in candidates.into_iter().enumerate().take(end).skip(place.from) {
            if !self.is_in_script(&candidate) {
                continue;
            }
            match self.fits(&candidate) {
                Fit::Yes => {}
                Fit::Constraint if all => return Err(Fatal),
                Fit::No | Fit::Constraint => continue,
            }
            self.chosen.push(candidate);
            let from = if self.script.is_some() && !all { 0 } else { index + 1 };
            if self.step(Place { nth: place.nth + 1, from, ..place })? {
                return Ok(true);
            }
            self.chosen.pop();
        }
        Ok(false)
    }

    fn is_in_script(&self, new: &Choice<'a>) -> bool {
        self.script.as_ref().is_none_or(|script| {
            script.get(self.chosen.len()).is_some_and(|(name, id)| *name == new.request && *id == new.id())
        })
    }

    /// All devices that the request selects, in order; for all devices, only those that would
    /// suffice if nobody used them.
    fn candidates(
        &self,
        claim: usize,
        parent: &Name,
        name: &Name,
        requirement: &'a DeviceRequirement,
    ) -> Vec<Choice<'a>> {
        let mut found = Vec::new();
        for (index, pool) in self.pools.iter().enumerate() {
            for (slice, device) in &pool.devices {
                let class = self.snapshot.classes().get(&requirement.class);
                let selectors = class.map(|class| &*class.selectors).unwrap_or_default();
                let selected =
                    selectors.iter().chain(&requirement.selectors).all(|it| selects(it, slice, device));
                let waits = device.waits_for_conditions() && !self.snapshot.features().binding_conditions();
                let reached = slice.per_device_node_selection != Some(true)
                    || super::pools::reaches(self.node, &device.placement);
                let suffices =
                    requirement.mode != AllocationMode::All || self.suffices(requirement, device, 0);
                if selected && !waits && reached && suffices {
                    found.push(Choice {
                        claim,
                        request: name.clone(),
                        parent: parent.clone(),
                        requirement,
                        pool: index,
                        slice,
                        device,
                    });
                }
            }
        }
        found
    }

    fn fits(&self, new: &Choice<'a>) -> Fit {
        let taints = self.has(FeatureGate::DRADeviceTaints)
            && new
                .device
                .taints
                .iter()
                .any(|taint| !new.requirement.tolerations.iter().any(|t| t.tolerates(taint)));
        if self.is_in_use(new) || !self.counters_suffice(new) || !self.groups_agree(new) || taints {
            return Fit::No;
        }
        if !self.constraints_hold(new) {
            return Fit::Constraint;
        }
        let used = self.used_capacity(new);
        if self.suffices(new.requirement, new.device, used) { Fit::Yes } else { Fit::No }
    }

    fn is_multi(&self, device: &Device) -> bool {
        self.has(FeatureGate::DRAConsumableCapacity) && device.content.allow_multiple_allocations
    }

    fn is_in_use(&self, new: &Choice<'a>) -> bool {
        let admin = new.requirement.admin_access == Some(true);
        let held = self.snapshot.usage().device(&new.id()).is_some_and(|it| !it.dedicated.is_empty());
        let taken = self.chosen.iter().any(|other| {
            other.id() == new.id() && !self.is_multi(new.device) && (!admin || other.claim == new.claim)
        });
        held && !admin || taken
    }

    /// Shares after the first consume no counters.
    fn consumes_counters(&self, new: &Choice<'a>, before: &[Choice<'a>]) -> bool {
        let shared = self.snapshot.usage().device(&new.id());
        let shared = shared.is_some_and(|it| !it.shares.is_empty() || !it.consumed.is_empty())
            || before.iter().any(|other| other.id() == new.id());
        let free = self.is_multi(new.device) && shared;
        !free && !new.device.consumes_counters.is_empty()
    }

    fn counters_suffice(&self, new: &Choice<'a>) -> bool {
        if new.device.consumes_counters.is_empty() {
            return true;
        }
        if !self.has(FeatureGate::DRAPartitionableDevices) {
            return false;
        }
        if !self.consumes_counters(new, &self.chosen) {
            return true;
        }
        let pool = &self.pools[new.pool];
        let held = pool.everywhere.iter().copied().filter(|device| self.is_held(new, device));
        let chosen = self.chosen.iter().enumerate().filter(|(index, other)| {
            other.pool == new.pool && self.consumes_counters(other, &self.chosen[..*index])
        });
        let users: Vec<&Device> =
            held.chain(chosen.map(|(_, other)| other.device)).chain([new.device]).collect();
        pool.counter_sets.iter().all(|set| {
            set.counters.iter().all(|(counter, value)| {
                let consumptions = users.iter().flat_map(|device| &device.consumes_counters);
                let of_set = consumptions.filter(|consumption| consumption.counter_set == set.name);
                let amounts = of_set.flat_map(|consumption| &consumption.counters);
                let sum: i64 = amounts.filter(|(name, _)| name == counter).map(|(_, it)| it.value()).sum();
                sum <= value.value()
            })
        })
    }

    fn is_held(&self, new: &Choice<'a>, device: &Device) -> bool {
        self.snapshot.usage().device(&new.slice.pool.device(device.name.clone())).is_some()
    }

    /// All users of a counter set have one group in common, or none has any.
    fn groups_agree(&self, new: &Choice<'a>) -> bool {
        if !self.has(FeatureGate::DRADeviceCompatibilityGroups) || !self.consumes_counters(new, &self.chosen)
        {
            return true;
        }
        let pool = &self.pools[new.pool];
        let held = pool.everywhere.iter().copied().filter(|device| self.is_held(new, device));
        let chosen = self.chosen.iter().filter(|other| other.pool == new.pool).map(|other| other.device);
        let users: Vec<&Device> = held.chain(chosen).collect();
        new.device.consumes_counters.iter().all(|own| {
            let mut peers = users.iter().flat_map(|device| &device.consumes_counters);
            let mut peers = peers.by_ref().filter(|peer| peer.counter_set == own.counter_set);
            let Some(first) = peers.next() else { return true };
            if first.compatibility_groups.is_empty() {
                return own.compatibility_groups.is_empty();
            }
            let grouped: Vec<_> = peers.filter(|peer| !peer.compatibility_groups.is_empty()).collect();
            own.compatibility_groups.iter().any(|group| {
                first.compatibility_groups.contains(group)
                    && grouped.iter().all(|peer| peer.compatibility_groups.contains(group))
            })
        })
    }

    fn constraints_hold(&self, new: &Choice<'a>) -> bool {
        let lists = self.has(FeatureGate::DRAListTypeAttributes);
        self.claims[new.claim].spec.constraints.iter().all(|constraint| {
            let concerned = |choice: &&Choice<'_>| {
                choice.claim == new.claim
                    && (constraint.requests.is_empty()
                        || constraint.requests.contains(&choice.parent)
                        || constraint.requests.contains(&choice.request))
            };
            if !concerned(&new) {
                return true;
            }
            let (ConstraintKind::MatchAttribute(name) | ConstraintKind::DistinctAttribute(name)) =
                &constraint.kind
            else {
                return false;
            };
            let others = self.chosen.iter().filter(concerned);
            let others: Vec<_> = others.filter_map(|choice| choice.device.content.attribute(name)).collect();
            let Some(own) = new.device.content.attribute(name) else { return false };
            let distinct = matches!(constraint.kind, ConstraintKind::DistinctAttribute(_));
            match (lists, distinct) {
                (true, true) => others.iter().all(|it| !scalars(own).iter().any(|x| scalars(it).contains(x))),
                (true, false) => scalars(own).iter().any(|x| others.iter().all(|it| scalars(it).contains(x))),
                (false, _) if others.is_empty() => true,
                (false, _) if scalars(own) != [own.clone()] => false,
                (false, true) => !others.contains(&own),
                (false, false) => others.iter().all(|other| *other == own),
            }
        })
    }

    /// How much of the device's memory is consumed, by earlier claims and by those before.
    fn used_capacity(&self, new: &Choice<'a>) -> i64 {
        let usage = self.snapshot.usage().device(&new.id());
        let old = usage.and_then(|usage| usage.consumed.get("memory")).map_or(0, Quantity::value);
        let others = self.chosen.iter().filter(|other| other.id() == new.id() && self.is_multi(other.device));
        let amounts = others.filter_map(|other| {
            let capacity = other.device.content.capacity("memory")?;
            Some(amount(requested(other.requirement), capacity))
        });
        old + amounts.sum::<i64>()
    }

    fn suffices(&self, requirement: &DeviceRequirement, device: &Device, used: i64) -> bool {
        if !self.has(FeatureGate::DRAConsumableCapacity) {
            return true;
        }
        let Some(capacity) = device.content.capacity("memory") else {
            return requested(requirement).is_none();
        };
        let amount = amount(requested(requirement), capacity);
        let allowed = match capacity.policy.as_ref().map(|policy| &policy.valid) {
            Some(ValidAmounts::Values(values)) => values.iter().any(|value| value.value() == amount),
            Some(ValidAmounts::Range { max: Some(max), .. }) => amount <= max.value(),
            _ => true,
        };
        allowed && used + amount <= capacity.value.value()
    }
}

enum Fit {
    Yes,
    No,
    /// A constraint is in the way, and nothing that is looked at before it.
    Constraint,
}
