//! A case: the world, the claims, and what upstream answers.

use std::sync::Arc;

use stowplan::model::{
    Allocation, AllocationMode, ClaimKey, ClaimSpec, ConstraintKind, DerivedAttribute, DeviceConfig,
    DeviceConstraint, DeviceId, DeviceRequest, DeviceRequirement, DeviceResult, DeviceSelector, Name, Node,
    RequestKind, ResourceClaim, ShareId, Snapshot, Subrequest, TaintEffect, Toleration, TolerationOperator,
    Uid,
};

use super::text::{Block, names_and_rest};
use super::{given, world};

/// A case of upstream's shared test of its allocators.
pub struct Case {
    /// Everything but the node and the claims.
    pub snapshot: Snapshot,
    /// The node.
    pub node: Node,
    /// The claims to allocate.
    pub claims: Vec<ResourceClaim>,
    /// How many steps upstream's search takes, where its test says so.
    pub steps: Option<u64>,
    /// How many steps our search may take, unless it is the default.
    pub budget: Option<u64>,
    /// What upstream answers.
    pub expected: Expected,
}

/// What upstream answers.
#[derive(Debug)]
pub enum Expected {
    /// Nothing fits.
    Nothing,
    /// An error whose text has these parts in this order.
    Error(Vec<String>),
    /// One allocation for each claim.
    Given(Vec<Allocation>),
    /// Allocations that the judge must refuse, with these parts in its text.
    Refused(Vec<Allocation>, Vec<String>),
}

/// Reads a case.
pub fn read(block: &Block<'_>) -> Case {
    let features = world::features(block.each("gates").next().map_or("", Block::rest));
    let mut snapshot = Snapshot::new(features);
    let node = world::node(block.each("node").next());
    snapshot.set_node(node.clone());
    block.each("class").for_each(|class| snapshot.set_class(world::class(class)));
    block.each("slice").for_each(|slice| snapshot.set_slice(world::slice(slice)));
    for (index, used) in block.each("in-use").enumerate() {
        snapshot.set_claim(Arc::new(holder(index, used)));
    }
    let claims: Vec<_> = block.each("claim").map(|claim| self::claim(claim.rest(), spec(claim))).collect();
    for claim in &claims {
        snapshot.set_claim(Arc::new(claim.clone()));
    }
    let number = |keyword: &str| block.each(keyword).next().map(|it| it.rest().parse().expect("a number"));
    let (steps, budget) = (number("steps"), number("budget"));
    Case { snapshot, node, claims, steps, budget, expected: expected(block) }
}

fn expected(block: &Block<'_>) -> Expected {
    if block.each("none").next().is_some() {
        return Expected::Nothing;
    }
    if let Some(error) = block.each("error").next() {
        return Expected::Error(parts(error));
    }
    let given = block.each("given").map(given::read).collect();
    match block.each("refused").next() {
        Some(refused) => Expected::Refused(given, parts(refused)),
        None => Expected::Given(given),
    }
}

fn parts(block: &Block<'_>) -> Vec<String> {
    let clauses: Vec<&str> = std::iter::once(block.rest()).chain(block.clauses.iter().copied()).collect();
    clauses.join(" | ").split('…').map(|part| part.trim().to_owned()).collect()
}

fn claim(name: &str, spec: ClaimSpec) -> ResourceClaim {
    ResourceClaim {
        resource_version: Name::from("1"),
        ..ResourceClaim::new(ClaimKey::new("default", name), Uid::from(name), Arc::new(spec))
    }
}

/// A claim that holds a device already.
fn holder(index: usize, block: &Block<'_>) -> ResourceClaim {
    let name = format!("holder-{index}");
    let mut words = block.rest().split(' ');
    let share = words.clone().nth(1).map(|_| ShareId::from(format!("share-{index}")));
    let path: Vec<&str> = words.next().expect("a device").split('/').collect();
    let result = DeviceResult {
        share_id: share,
        consumed_capacity: block.one("cap").map(world::quantities),
        ..DeviceResult::plain("held", DeviceId::new(path[0], path[1], path[2]))
    };
    let allocation = Allocation { results: Box::new([result]), ..Allocation::default() };
    ResourceClaim { allocation: Some(Arc::new(allocation)), ..claim(&name, ClaimSpec::default()) }
}

fn spec(block: &Block<'_>) -> ClaimSpec {
    let mut requests = Vec::new();
    let mut constraints = Vec::new();
    let mut config = Vec::new();
    for child in &block.children {
        match child.keyword() {
            "match" | "distinct" | "unknown-constraint" => constraints.push(constraint(child)),
            "config" => {
                let (requests, opaque) = names_and_rest(child.rest());
                config.push(DeviceConfig {
                    requests: requests.into_iter().map(Name::from).collect(),
                    opaque: Some(world::opaque(opaque)),
                });
            }
            name => requests.push(DeviceRequest { name: name.into(), kind: request_kind(child) }),
        }
    }
    ClaimSpec { requests: requests.into(), constraints: constraints.into(), config: config.into() }
}

fn constraint(block: &Block<'_>) -> DeviceConstraint {
    let (attribute, requests) = block.rest().split_once(' ').unwrap_or((block.rest(), ""));
    DeviceConstraint {
        requests: names_and_rest(requests).0.into_iter().map(Name::from).collect(),
        kind: match block.keyword() {
            "match" => ConstraintKind::MatchAttribute(attribute.into()),
            "distinct" => ConstraintKind::DistinctAttribute(attribute.into()),
            _ => ConstraintKind::Unknown,
        },
    }
}

fn request_kind(block: &Block<'_>) -> RequestKind {
    if block.rest() != "first-available" {
        return RequestKind::Exactly(requirement(block));
    }
    let alternative =
        |child: &Block<'_>| Subrequest { name: child.keyword().into(), requirement: requirement(child) };
    RequestKind::FirstAvailable(block.children.iter().map(alternative).collect())
}

fn requirement(block: &Block<'_>) -> DeviceRequirement {
    let (class, mode) = block.rest().split_once(' ').expect("class and mode");
    let mode = match mode.strip_prefix('x') {
        Some(count) => AllocationMode::ExactCount(count.parse().expect("a count")),
        None if mode == "all" => AllocationMode::All,
        None => AllocationMode::Other(mode.trim_start_matches("mode=").into()),
    };
    let selectors = block.clauses.iter().filter_map(|clause| match clause.strip_prefix("cel ") {
        Some(expression) => Some(DeviceSelector { expression: Some(Arc::from(expression)) }),
        None => (*clause == "cel-unknown").then_some(DeviceSelector { expression: None }),
    });
    let derived = block.all("derive").map(|text| {
        let (name, expression) = text.split_once(' ').expect("name and expression");
        DerivedAttribute { name: name.into(), expression: expression.into() }
    });
    let admin = block.clauses.iter().find_map(|clause| clause.strip_prefix("admin="));
    DeviceRequirement {
        selectors: selectors.collect(),
        admin_access: admin.map(|value| value == "true"),
        tolerations: block.all("tolerate").map(toleration).collect(),
        capacity: block.one("cap").map(world::quantities),
        derived_attributes: derived.collect(),
        ..DeviceRequirement::of_class(class.trim_matches('"'), mode)
    }
}

/// `KEY[=VALUE]:EFFECT`; without a value any will do.
pub fn toleration(text: &str) -> Toleration {
    let (taint, effect) = text.rsplit_once(':').expect("an effect");
    let (key, value) = taint.split_once('=').map_or((taint, None), |(key, value)| (key, Some(value)));
    Toleration {
        key: key.into(),
        operator: if value.is_some() { TolerationOperator::Equal } else { TolerationOperator::Exists },
        operator_given: true,
        value: value.unwrap_or_default().into(),
        effect: (!effect.is_empty()).then(|| TaintEffect::parse(effect)),
        toleration_seconds: None,
    }
}
