//! Makes worlds of recipes.

use std::sync::Arc;

use stowplan::model::quantity::Format;
use stowplan::model::selection::{Requirement, SelectorOperator};
use stowplan::model::{
    Allocation, AllocationMode, AttributeValue, Capacity, ClaimKey, ClaimSpec, ConstraintKind,
    CounterConsumption, CounterSet, Device, DeviceClass, DeviceConstraint, DeviceContent, DeviceId,
    DeviceRequest, DeviceRequirement, DeviceResult, DeviceSelector, FeatureGate, Features, Labels, Name,
    Node, NodeName, NodeSelector, NodeSelectorTerm, Placement, PoolId, Quantity, RequestKind, RequestPolicy,
    ResourceClaim, ResourceSlice, ShareId, Snapshot, Subrequest, Taint, TaintEffect, Toleration,
    TolerationOperator, Uid, ValidAmounts,
};

use super::recipe::{
    ClaimRecipe, Color, ConstraintRecipe, DeviceRecipe, Flaw, Policy, PoolRecipe, Reach, Recipe,
    RequestRecipe, RequirementRecipe,
};

/// A selector, and what it means.
pub type Meaning = (&'static str, fn(&str, &DeviceContent) -> bool);

/// Selectors that never fail.
pub const SELECTORS: &[Meaning] = &[
    ("device.driver == \"driver-0\"", |driver, _| driver == "driver-0"),
    ("device.driver == \"driver-1\"", |driver, _| driver == "driver-1"),
    ("device.attributes[\"example.com\"].?numa.orValue(-1) == 0", |_, content| {
        content.attribute("example.com/numa") == Some(&AttributeValue::Int(0))
    }),
    ("\"numa\" in device.attributes[\"example.com\"]", |_, content| {
        content.attribute("example.com/numa").is_some()
    }),
    ("device.allowMultipleAllocations == false", |_, content| !content.allow_multiple_allocations),
    (
        "device.capacity[device.driver].?memory.orValue(quantity(\"0\")).compareTo(quantity(\"3\")) >= 0",
        |_, content| content.capacity("memory").is_some_and(|capacity| capacity.value.value() >= 3),
    ),
];

/// A world and what is asked of it.
#[derive(Clone)]
pub struct World {
    pub snapshot: Snapshot,
    pub nodes: Vec<Node>,
    pub claims: Vec<ResourceClaim>,
}

/// How pools, slices and devices are ordered: as in the recipe, or shuffled by a seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Given,
    Shuffled(u64),
}

impl Order {
    /// Where the thing of that number comes, as text that sorts so.
    fn rank(self, number: usize) -> String {
        let place = match self {
            Self::Given => number as u64,
            Self::Shuffled(seed) => {
                (seed ^ number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(17) % 89
            }
        };
        format!("{place:02}-{number}")
    }
}

pub fn build(recipe: &Recipe) -> World {
    build_ordered(recipe, Order::Given)
}

pub fn build_ordered(recipe: &Recipe, order: Order) -> World {
    let mut snapshot = Snapshot::new(features(recipe));
    let nodes: Vec<Node> = (0..recipe.nodes).map(node).collect();
    for node in &nodes {
        snapshot.set_node(node.clone());
    }
    (0..3).for_each(|index| snapshot.set_class(class(index)));
    let mut next = 0;
    for (index, pool) in recipe.pools.iter().enumerate() {
        for slice in slices(index, pool, &mut next, order) {
            snapshot.set_slice(slice);
        }
    }
    for (index, holder) in recipe.holders.iter().enumerate() {
        if let Some(id) = device_id(recipe, holder.device, order) {
            snapshot.set_claim(Arc::new(holding_claim(index, id, holder.share)));
        }
    }
    let claims: Vec<_> =
        recipe.claims.iter().enumerate().map(|(index, one)| claim(recipe, index, one)).collect();
    for claim in &claims {
        snapshot.set_claim(Arc::new(claim.clone()));
    }
    World { snapshot, nodes, claims }
}

fn features(recipe: &Recipe) -> Features {
    let gates = recipe.gates;
    Features::default()
        .with(FeatureGate::DRAPartitionableDevices, gates.partitionable)
        .with(FeatureGate::DRADeviceTaints, gates.taints)
        .with(FeatureGate::DRAConsumableCapacity, gates.capacity)
        .with(FeatureGate::DRAListTypeAttributes, gates.lists)
        .with(FeatureGate::DRADeviceCompatibilityGroups, gates.groups)
        .with(FeatureGate::DRADeviceBindingConditions, gates.binding)
}

fn node(index: usize) -> Node {
    let parity = if index.is_multiple_of(2) { "even" } else { "odd" };
    Node {
        name: node_name(index),
        labels: [(Name::from("parity"), Name::from(parity))].into_iter().collect::<Labels>(),
        ..Node::default()
    }
}

fn node_name(index: usize) -> NodeName {
    NodeName::from(format!("node-{index}"))
}

/// Two classes for one driver each, and one for every device.
pub fn class(index: usize) -> DeviceClass {
    let selectors = SELECTORS[..2].get(index).map(|(text, _)| selector(text));
    DeviceClass { selectors: selectors.into_iter().collect(), ..DeviceClass::new(format!("class-{index}")) }
}

fn selector(text: &str) -> DeviceSelector {
    DeviceSelector { expression: Some(Arc::from(text)) }
}

fn pool_id(index: usize, pool: &PoolRecipe, order: Order) -> PoolId {
    PoolId::new(format!("driver-{}", pool.driver), format!("pool-{}", order.rank(index)))
}

/// The device of that number, counted through the recipe.
fn device_id(recipe: &Recipe, number: usize, order: Order) -> Option<DeviceId> {
    let pools = recipe.pools.iter().enumerate();
    let owners = pools
        .flat_map(|(index, pool)| pool.slices.iter().flatten().map(move |_| pool_id(index, pool, order)));
    owners.enumerate().nth(number).map(|(number, pool)| pool.device(device_name(number)))
}

fn device_name(number: usize) -> Name {
    Name::from(format!("device-{number}"))
}

fn slices(index: usize, pool: &PoolRecipe, next: &mut usize, order: Order) -> Vec<ResourceSlice> {
    let id = pool_id(index, pool, order);
    let mut slices: Vec<ResourceSlice> = Vec::new();
    for devices in &pool.slices {
        let mut numbered: Vec<_> = devices.iter().zip(*next..).collect();
        *next += numbered.len();
        numbered.sort_by_key(|(_, number)| order.rank(*number));
        let devices = numbered.into_iter().map(|(recipe, number)| device(number, recipe, pool));
        slices.push(ResourceSlice { devices: devices.collect(), ..empty_slice(&id, pool.reach) });
    }
    if pool.flaw == Flaw::DuplicateDevice
        && let Some(twin) = slices.iter().flat_map(|slice| &slice.devices).next().cloned()
    {
        slices.push(ResourceSlice { devices: Box::new([twin]), ..empty_slice(&id, pool.reach) });
    }
    if let Some(counters) = pool.counters {
        let sets = counters.iter().enumerate().map(|(set, value)| counter_set(set, *value));
        slices.push(ResourceSlice { shared_counters: sets.collect(), ..empty_slice(&id, pool.reach) });
    }
    let count = slices.len() + usize::from(pool.flaw == Flaw::SliceMissing);
    match pool.flaw {
        Flaw::NewerElsewhere => {
            slices.push(ResourceSlice { generation: 2, ..empty_slice(&id, Reach::Node(8)) });
            // The newer slice is looked for only when those for the node are not all there are.
            slices.push(ResourceSlice { generation: 1, ..empty_slice(&id, Reach::Node(9)) });
        }
        Flaw::OlderBeside => slices.push(ResourceSlice { generation: 0, ..empty_slice(&id, pool.reach) }),
        _ => {}
    }
    for (place, slice) in slices.iter_mut().enumerate() {
        slice.name = format!("slice-{index}-{}", order.rank(place)).into();
        let elsewhere = usize::from(pool.flaw == Flaw::NewerElsewhere && slice.generation == 1);
        slice.slice_count = i64::try_from(count + elsewhere).expect("a small number");
    }
    slices
}

fn empty_slice(id: &PoolId, reach: Reach) -> ResourceSlice {
    ResourceSlice {
        placement: placement(reach),
        per_device_node_selection: matches!(reach, Reach::PerDevice).then_some(true),
        ..ResourceSlice::new(Name::default(), id.clone())
    }
}

fn placement(reach: Reach) -> Placement {
    let even = || NodeSelector {
        terms: Box::new([NodeSelectorTerm {
            match_expressions: Box::new([Requirement {
                key: Name::from("parity"),
                operator: SelectorOperator::In,
                values: Box::new([Name::from("even")]),
            }]),
            match_fields: Box::default(),
        }]),
    };
    match reach {
        Reach::Node(index) => Placement { node_name: Some(node_name(index)), ..Placement::default() },
        Reach::EvenNodes => Placement { node_selector: Some(even()), ..Placement::default() },
        Reach::AllNodes => Placement { all_nodes: true, ..Placement::default() },
        Reach::PerDevice => Placement::default(),
    }
}

fn counter_set(set: usize, value: u8) -> CounterSet {
    CounterSet {
        name: format!("set-{set}").into(),
        counters: Box::new([(Name::from("slots"), quantity(value))]),
    }
}

fn quantity(value: u8) -> Quantity {
    Quantity::from_i64(i64::from(value), Format::DecimalSI)
}

fn device(number: usize, recipe: &DeviceRecipe, pool: &PoolRecipe) -> Device {
    let text = |color: u8| Name::from(format!("color-{color}"));
    let color = recipe.color.as_ref().map(|color| match color {
        Color::Text(color) => AttributeValue::String(text(*color)),
        Color::Number(number) => AttributeValue::Int(i64::from(*number)),
        Color::List(colors) => AttributeValue::Strings(colors.iter().map(|color| text(*color)).collect()),
    });
    let numa = recipe.numa.map(|numa| AttributeValue::Int(i64::from(numa)));
    let attributes = [("example.com/color", color), ("example.com/numa", numa)];
    let attributes = attributes.into_iter().filter_map(|(name, value)| Some((Name::from(name), value?)));
    let content = DeviceContent {
        attributes: attributes.collect(),
        capacity: recipe.capacity.iter().map(|(value, policy)| capacity(*value, *policy)).collect(),
        allow_multiple_allocations: recipe.multi,
    };
    let per_device = matches!(pool.reach, Reach::PerDevice);
    let conditions = || recipe.waits.then(|| Box::from([Name::from("Ready")]));
    Device {
        consumes_counters: consumption(recipe, pool),
        placement: if per_device { placement(recipe.reach) } else { Placement::default() },
        taints: recipe.taint.iter().map(|taint| self::taint(*taint)).collect(),
        binding_conditions: conditions(),
        binding_failure_conditions: conditions(),
        ..Device::plain(device_name(number), Arc::new(content))
    }
}

fn consumption(recipe: &DeviceRecipe, pool: &PoolRecipe) -> Box<[CounterConsumption]> {
    if pool.counters.is_none() && pool.flaw != Flaw::UnknownCounterSet {
        return Box::default();
    }
    let groups = |bits: u8| (0..2u8).filter(move |bit| bits & (1 << bit) != 0);
    let uses = recipe.uses.iter().map(|(set, amount, bits)| CounterConsumption {
        counter_set: format!("set-{set}").into(),
        counters: Box::new([(Name::from("slots"), quantity(*amount))]),
        compatibility_groups: groups(*bits).map(|group| format!("group-{group}").into()).collect(),
    });
    uses.collect()
}

/// A capacity of the kind that the API server admits: a policy only offers what there is.
fn capacity(value: u8, policy: Policy) -> (Name, Capacity) {
    let policy = match policy {
        Policy::Values if value >= 3 => Some(RequestPolicy {
            default: Some(quantity(1)),
            valid: ValidAmounts::Values(Box::new([quantity(1), quantity(3)])),
        }),
        Policy::Range if value >= 4 => Some(RequestPolicy {
            default: Some(quantity(2)),
            valid: ValidAmounts::Range {
                min: Some(quantity(2)),
                max: Some(quantity(4)),
                step: Some(quantity(2)),
            },
        }),
        _ => None,
    };
    (Name::from("memory"), Capacity { value: quantity(value), policy })
}

fn taint(kind: u8) -> Taint {
    let effect = if kind == 0 { TaintEffect::NoSchedule } else { TaintEffect::NoExecute };
    Taint { key: format!("taint-{kind}").into(), value: Name::default(), effect, time_added: None }
}

fn claim(recipe: &Recipe, index: usize, one: &ClaimRecipe) -> ResourceClaim {
    let requests = one.requests.iter().enumerate().map(|(index, request)| DeviceRequest {
        name: request_name(index),
        kind: request_kind(recipe, request),
    });
    let spec = ClaimSpec {
        requests: requests.collect(),
        constraints: one.constraints.iter().map(|it| constraint(it, one.requests.len())).collect(),
        config: Box::default(),
    };
    empty_claim(&format!("claim-{index}"), spec, None)
}

fn request_name(index: usize) -> Name {
    Name::from(format!("req-{index}"))
}

fn request_kind(recipe: &Recipe, request: &RequestRecipe) -> RequestKind {
    match request {
        RequestRecipe::Exactly(one) => RequestKind::Exactly(requirement(recipe, one, true)),
        RequestRecipe::FirstAvailable(list) => {
            let alternatives = list.iter().enumerate().map(|(index, one)| Subrequest {
                name: format!("sub-{index}").into(),
                requirement: requirement(recipe, one, false),
            });
            RequestKind::FirstAvailable(alternatives.collect())
        }
    }
}

fn requirement(recipe: &Recipe, one: &RequirementRecipe, may_be_admin: bool) -> DeviceRequirement {
    let toleration = |kind: u8| Toleration {
        key: format!("taint-{kind}").into(),
        operator: TolerationOperator::Exists,
        operator_given: true,
        value: Name::default(),
        effect: None,
        toleration_seconds: None,
    };
    let capacity = one.capacity.filter(|_| recipe.gates.capacity);
    DeviceRequirement {
        selectors: one.selector.iter().map(|index| selector(SELECTORS[*index].0)).collect(),
        admin_access: (one.admin && may_be_admin).then_some(true),
        tolerations: one.tolerates.iter().map(|kind| toleration(*kind)).collect(),
        capacity: capacity.map(|amount| Box::from([(Name::from("memory"), quantity(amount))])),
        ..DeviceRequirement::of_class(
            format!("class-{}", one.class),
            one.count.map_or(AllocationMode::All, |count| AllocationMode::ExactCount(i64::from(count))),
        )
    }
}

fn constraint(one: &ConstraintRecipe, requests: usize) -> DeviceConstraint {
    let attribute = Name::from(if one.on_color { "example.com/color" } else { "example.com/numa" });
    let kept = (0..requests).filter(|index| one.without.is_some_and(|without| without != *index));
    DeviceConstraint {
        requests: kept.map(request_name).collect(),
        kind: if one.distinct {
            ConstraintKind::DistinctAttribute(attribute)
        } else {
            ConstraintKind::MatchAttribute(attribute)
        },
    }
}

/// A claim that holds a device, or a share of it.
pub fn holding_claim(index: usize, device: DeviceId, share: Option<u8>) -> ResourceClaim {
    let result = DeviceResult {
        share_id: share.map(|_| ShareId::from(format!("share-{index}"))),
        consumed_capacity: share.map(|amount| Box::from([(Name::from("memory"), quantity(amount))])),
        ..DeviceResult::plain("held", device)
    };
    let allocation = Allocation { results: Box::new([result]), ..Allocation::default() };
    empty_claim(&format!("holder-{index}"), ClaimSpec::default(), Some(Arc::new(allocation)))
}

fn empty_claim(name: &str, spec: ClaimSpec, allocation: Option<Arc<Allocation>>) -> ResourceClaim {
    ResourceClaim {
        resource_version: Name::from("1"),
        allocation,
        ..ResourceClaim::new(ClaimKey::new("default", name), Uid::from(name), Arc::new(spec))
    }
}
