//! What became of the devices for each request that could not be met.

use std::collections::BTreeMap;

use crate::allocator::funnel::{
    Competition, Conflict, DeviceObstacle, FunnelStep, RequestFunnel, UnusablePool, WantedDevices,
};
use crate::allocator::{InvalidReason, PoolStatus};
use crate::model::{ClaimKey, ConstraintKind, Name};
use crate::scheduling::decision::{DeviceFindings, NodeFunnel};
use crate::scheduling::plugins::extended_resources::PLACEHOLDER;

use super::reasons::{join, some_of};

/// Most devices, and most claims, that are named one by one.
const NAMED: usize = 3;

/// The sentences about nodes of one kind.
pub(super) fn sentences(funnel: &NodeFunnel, findings: &DeviceFindings) -> Vec<String> {
    let words = Words { findings };
    let short: Vec<_> = hopeless(&funnel.requests);
    if !short.is_empty() {
        return short.into_iter().map(|request| words.request(request)).collect();
    }
    let conflicts: BTreeMap<_, _> = funnel
        .requests
        .iter()
        .filter_map(|request| request.conflict.as_deref())
        .map(|conflict| (&conflict.requests, conflict))
        .collect();
    if conflicts.is_empty() {
        return vec!["each request alone finds enough devices, all of them together do not.".to_owned()];
    }
    conflicts.into_values().map(|conflict| words.conflict(conflict)).collect()
}

/// The requests that not even alone find enough, with all their alternatives.
fn hopeless(requests: &[RequestFunnel]) -> Vec<&RequestFunnel> {
    let mut able: BTreeMap<(&ClaimKey, &str), bool> = BTreeMap::new();
    for request in requests {
        *able.entry((&request.claim, parent(&request.request))).or_default() |= !request.is_short();
    }
    requests.iter().filter(|request| !able[&(&request.claim, parent(&request.request))]).collect()
}

/// Whether two steps are about counters of one set that the same claims hold.
fn drain_one_set(a: &FunnelStep, b: &FunnelStep) -> bool {
    use DeviceObstacle::Counter;
    match (&a.obstacle, &b.obstacle) {
        (
            Counter { pool, counter_set, claims, .. },
            Counter { pool: other_pool, counter_set: other_set, claims: other_claims, .. },
        ) => pool == other_pool && counter_set == other_set && claims == other_claims,
        _ => false,
    }
}

/// A claim as readers know it. One for extended resources has no name before it is made.
fn named(claim: &ClaimKey) -> String {
    if claim.name.starts_with(PLACEHOLDER) {
        "the claim for extended resources".to_owned()
    } else {
        format!("claim {claim}")
    }
}

/// The request that an alternative belongs to.
fn parent(request: &str) -> &str {
    request.split_once('/').map_or(request, |(parent, _)| parent)
}

struct Words<'a> {
    findings: &'a DeviceFindings,
}

impl Words<'_> {
    fn request(&self, funnel: &RequestFunnel) -> String {
        let RequestFunnel { claim, request, class, in_reach, remaining, .. } = funnel;
        let wanted = match funnel.wanted {
            WantedDevices::Count(1) => "1 device".to_owned(),
            WantedDevices::Count(count) => format!("{count} devices"),
            WantedDevices::All(_) => "all devices".to_owned(),
        };
        let reach = match in_reach {
            0 => "no device is in reach".to_owned(),
            1 => "1 device is in reach".to_owned(),
            count => format!("{count} devices are in reach"),
        };
        let mut told = 0;
        let steps = funnel.steps.chunk_by(drain_one_set).map(|steps| {
            let before = told;
            told += steps.len();
            let empty = funnel.first_empty.is_some_and(|index| (before..told).contains(&index));
            let decides = empty && told < funnel.steps.len();
            self.steps(steps) + if decides { " (too few from here on)" } else { "" }
        });
        let result = (*in_reach > 0).then(|| format!("{remaining} of {in_reach} would do"));
        let pools = funnel.unusable.iter().map(|pool| self.pool(pool));
        let parts =
            std::iter::once(join(std::iter::once(reach).chain(steps), ", ")).chain(result).chain(pools);
        format!(
            "request {request} of {} wants {wanted} of class {class}: {}.",
            named(claim),
            join(parts, "; ")
        )
    }

    /// Steps that are told as one: partitions of one device mostly want different counters of it.
    fn steps(&self, steps: &[FunnelStep]) -> String {
        let [FunnelStep { obstacle: DeviceObstacle::Counter { counter_set, claims, .. }, .. }, _, ..] = steps
        else {
            return join(steps.iter().map(|step| self.step(step)), ", ");
        };
        let count: usize = steps.iter().map(|step| step.devices).sum();
        let counters: Vec<_> = steps
            .iter()
            .filter_map(|step| match &step.obstacle {
                DeviceObstacle::Counter { counter, .. } => Some(counter),
                _ => None,
            })
            .collect();
        let devices: Vec<_> = steps.iter().flat_map(|step| &step.names).collect();
        format!(
            "{count} do not fit what is left of {} counters of {counter_set} ({}): {}{}",
            steps.len(),
            some_of(counters.into_iter(), NAMED),
            some_of(devices.into_iter(), NAMED),
            self.holders("; used by", claims)
        )
    }

    /// So many devices fell to what.
    fn step(&self, step: &FunnelStep) -> String {
        let count = step.devices;
        let (is, has, does) = if count == 1 { ("is", "has", "does") } else { ("are", "have", "do") };
        let devices = match some_of(step.names.iter(), NAMED) {
            names if names.is_empty() => String::new(),
            names => format!(" ({names})"),
        };
        match &step.obstacle {
            DeviceObstacle::ClassSelector { expression, .. } => {
                format!("{count} {does} not match the class's selector `{}`", expression.trim())
            }
            DeviceObstacle::RequestSelector { expression, .. } => {
                format!("{count} {does} not match the request's selector `{}`", expression.trim())
            }
            DeviceObstacle::Failed { error } => format!("{count} cannot be judged{devices}: {error}"),
            DeviceObstacle::OtherNode => format!("{count} {is} on other nodes"),
            DeviceObstacle::Capacity { capacity } => format!("{count} {has} too little {capacity}{devices}"),
            DeviceObstacle::BindingConditions => {
                format!("{count} {has} binding conditions, which are disabled{devices}")
            }
            DeviceObstacle::PartitionsDisabled => {
                format!("{count} {is} partitions, which are disabled{devices}")
            }
            DeviceObstacle::NodeOperations => {
                format!(
                    "{count} {does} without calls to the driver, which needs DRAOptionalNodeOperations{devices}"
                )
            }
            DeviceObstacle::Taint { taint } => {
                let value = if taint.value.is_empty() { String::new() } else { format!("={}", taint.value) };
                let effect = taint.effect.as_str();
                format!(
                    "{count} {has} the taint {}{value}:{effect}, which is not tolerated{devices}",
                    taint.key
                )
            }
            DeviceObstacle::MissingAttribute { attribute } => {
                format!("{count} {has} no attribute {attribute}, which a constraint compares{devices}")
            }
            DeviceObstacle::InUse { claims } => {
                format!("{count} {is} in use{devices}{}", self.holders(" by", claims))
            }
            DeviceObstacle::Counter { counter_set, counter, claims, .. } => format!(
                "{count} {does} not fit what is left of counter {counter_set}/{counter}{devices}{}",
                self.holders(", used by", claims)
            ),
            DeviceObstacle::CompatibilityGroups { counter_set, claims, .. } => format!(
                "{count} {is} not compatible with the users of counter set {counter_set}{devices}{}",
                self.holders(":", claims)
            ),
            DeviceObstacle::CapacityLeft { capacity, claims } => format!(
                "{count} {has} too little {capacity} left{devices}{}",
                self.holders(", used by", claims)
            ),
        }
    }

    /// The claims that hold devices, with the pods that use them.
    fn holders(&self, by: &str, claims: &[ClaimKey]) -> String {
        if claims.is_empty() {
            return String::new();
        }
        let one = |claim: &ClaimKey| match self.findings.users.get(claim).map(|users| &**users) {
            None | Some([]) => named(claim),
            Some([user]) => format!("{} of pod {user}", named(claim)),
            Some(users) => format!("{} of pods {}", named(claim), some_of(users.iter(), NAMED)),
        };
        let more =
            if claims.len() > NAMED { format!(" and {} more", claims.len() - NAMED) } else { String::new() };
        format!("{by} {}{more}", join(claims.iter().take(NAMED).map(one), ", "))
    }

    fn pool(&self, unusable: &UnusablePool) -> String {
        let pool = &unusable.pool;
        match (&unusable.status, self.findings.pools.get(pool)) {
            (PoolStatus::Usable, _) => format!("pool {pool} is usable"),
            (PoolStatus::Incomplete, Some(slices)) => format!(
                "pool {pool} is left out: {} of {} slices of generation {} are published",
                slices.published, slices.expected, slices.generation
            ),
            (PoolStatus::Incomplete, None) => {
                format!("pool {pool} is left out: not all slices are published")
            }
            (PoolStatus::Invalid(reason), _) => format!("pool {pool} is left out: {}", invalid(reason)),
        }
    }

    fn conflict(&self, conflict: &Conflict) -> String {
        let one = |(claim, request): &(ClaimKey, Name)| format!("{request} of {}", named(claim));
        let requests = join(conflict.requests.iter().map(one), ", ");
        let over = match conflict.over {
            Competition::Devices => "devices",
            Competition::Counters => "shared counters",
        };
        let constraint = |(claim, index): &(ClaimKey, usize)| {
            let kind = self.findings.specs.get(claim).and_then(|spec| spec.constraints.get(*index));
            match kind.map(|constraint| &constraint.kind) {
                Some(ConstraintKind::MatchAttribute(name)) => format!("matchAttribute {name}"),
                Some(ConstraintKind::DistinctAttribute(name)) => format!("distinctAttribute {name}"),
                Some(ConstraintKind::Unknown) | None => format!("constraint #{index} of claim {claim}"),
            }
        };
        let constraints = match join(conflict.constraints.iter().map(constraint), ", ") {
            none if none.is_empty() => String::new(),
            some => format!(" under {some}"),
        };
        match &*conflict.requests {
            [_] => format!("request {requests} finds no {over} that go together{constraints}."),
            _ => format!(
                "requests {requests} each find enough devices, but exclude each other in the choice of {over}{constraints}."
            ),
        }
    }
}

fn invalid(reason: &InvalidReason) -> String {
    match reason {
        InvalidReason::DuplicateDevice { device } => format!("it has two devices {device}"),
        InvalidReason::DuplicateCounterSet { counter_set } => {
            format!("it has two counter sets {counter_set}")
        }
        InvalidReason::UnknownCounterSet { device, counter_set } => {
            format!("device {device} consumes counter set {counter_set}, which it does not have")
        }
        InvalidReason::UnknownCounter { device, counter_set, counter } => {
            format!("device {device} consumes counter {counter_set}/{counter}, which it does not have")
        }
    }
}
