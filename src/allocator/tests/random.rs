//! Random small worlds: pruning must not change the answer of the plain walk, whatever it is.

use super::world::*;
use crate::allocator::book::Book;
use crate::allocator::candidate::Stock;
use crate::allocator::held::Held;
use crate::allocator::pool::gather;
use crate::allocator::request::Query;
use crate::allocator::rules::Rules;
use crate::allocator::search::{End, Problem, Search};
use crate::model::{
    AttributeValue, ClaimSpec, ConstraintKind, Device, DeviceConstraint, DeviceRequest, DeviceRequirement,
    FeatureGate, Features, Name, ResourceSlice, Snapshot,
};
use std::sync::Arc;

/// A small generator of numbers; the same seed gives the same world.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from((self.0 >> 11) % (limit as u64)).unwrap()
    }

    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }
}

fn attribute(dice: &mut Dice, lists: bool) -> AttributeValue {
    let small = |dice: &mut Dice| i64::try_from(dice.below(3)).unwrap();
    if lists && dice.chance(50) {
        let values: Vec<i64> = (0..=dice.below(3)).map(|_| small(dice)).collect();
        return AttributeValue::Ints(values.into());
    }
    if dice.chance(15) { text("x") } else { AttributeValue::Int(small(dice)) }
}

fn random_device(dice: &mut Dice, at: usize, lists: bool, counters: bool) -> Device {
    let mut attributes = Vec::new();
    for name in ["numa", "root"] {
        if dice.chance(90) {
            attributes.push((name, attribute(dice, lists)));
        }
    }
    let mut made = device(&format!("dev-{at}"), &attributes);
    if counters && dice.chance(70) {
        let a = dice.below(4).to_string();
        let b = dice.below(3).to_string();
        made = consuming(made, &[("a", &a), ("b", &b)]);
    }
    if dice.chance(25) {
        let capacity = (1 + dice.below(4)).to_string();
        let capacities = [("memory", capacity.as_str())];
        made = shareable(made, if dice.chance(80) { &capacities } else { &[] });
    }
    made
}

fn random_requirement(dice: &mut Dice, errors: bool) -> DeviceRequirement {
    let mut requirement =
        if dice.chance(12) { all() } else { requirement(i64::try_from(1 + dice.below(3)).unwrap()) };
    if dice.chance(30) {
        let attribute = ["numa", "root"][dice.below(2)];
        let value = dice.below(3);
        requirement = selecting(
            requirement,
            &format!("device.attributes['{DRIVER}'].?{attribute}.orValue(-1) == {value}"),
        );
    } else if errors && dice.chance(20) {
        requirement = selecting(requirement, &format!("device.attributes['{DRIVER}'].root != 7"));
    }
    if dice.chance(25) {
        let amount = quantity(&(1 + dice.below(3)).to_string());
        requirement.capacity = Some(Box::new([("memory".into(), amount)]));
    }
    requirement
}

fn random_request(dice: &mut Dice, at: usize, errors: bool) -> DeviceRequest {
    let name = format!("r{at}");
    if dice.chance(25) {
        let alternatives = (0..=dice.below(3)).map(|_| random_requirement(dice, errors)).collect();
        return first_available(&name, alternatives);
    }
    let mut requirement = random_requirement(dice, errors);
    if dice.chance(12) {
        requirement.admin_access = Some(true);
    }
    request(&name, requirement)
}

fn random_claim(dice: &mut Dice, errors: bool) -> ClaimSpec {
    let requests: Vec<_> = (0..=dice.below(3)).map(|at| random_request(dice, at, errors)).collect();
    let count = requests.len();
    let mut spec = claim(requests);
    let mut constraints = Vec::new();
    for _ in 0..dice.below(3) {
        let name = Name::from(format!("{DRIVER}/{}", ["numa", "root"][dice.below(2)]));
        let kind = if dice.chance(65) {
            ConstraintKind::MatchAttribute(name)
        } else {
            ConstraintKind::DistinctAttribute(name)
        };
        let some = (0..count).filter(|_| dice.chance(60)).map(|at| Name::from(format!("r{at}")));
        let requests: Vec<_> = some.collect();
        let requests = if dice.chance(50) { Vec::new() } else { requests };
        constraints.push(DeviceConstraint { requests: requests.into(), kind });
    }
    spec.constraints = constraints.into();
    spec
}

pub fn random_world(dice: &mut Dice, errors: bool) -> (Snapshot, Vec<ClaimSpec>) {
    let lists = dice.chance(40);
    let counters = dice.chance(50);
    let count = 1 + dice.below(7);
    let devices: Vec<_> = (0..count).map(|at| random_device(dice, at, lists, counters)).collect();
    let slices: Vec<ResourceSlice> = if counters {
        let (a, b) = (dice.below(9).to_string(), dice.below(7).to_string());
        partitioned(devices, &[("a", &a), ("b", &b)]).into()
    } else {
        vec![slice("s", devices)]
    };
    let features = Features::default().with(FeatureGate::DRAListTypeAttributes, lists);
    let mut snapshot = world(features, slices);
    if dice.chance(40) {
        let outcome = allocate(&snapshot, &[random_claim(dice, false)]);
        if let Ok(Some(_)) = &outcome.result {
            occupy(&mut snapshot, 100, &outcome);
        }
    }
    let claims = (0..=dice.below(3)).map(|_| random_claim(dice, errors)).collect();
    (snapshot, claims)
}

/// The answer of the plain walk, and of the search as it is.
fn both(snapshot: &Snapshot, specs: &[ClaimSpec]) -> Option<[End; 2]> {
    let rules = Rules::new(snapshot.features());
    let mut book = Book::new(&rules);
    let node = &snapshot.nodes().get("n1")?.node;
    let pools = gather(&rules, &mut book, snapshot.slices(), node).ok()?;
    let used = |pool: usize| snapshot.usage().pool(&pools.pools[pool].id).map(|used| &**used);
    let held = Held::new(&pools, used);
    let specs: Vec<_> = specs.iter().map(|spec| Arc::new(spec.clone())).collect();
    let query = Query::new(&rules, snapshot.classes(), &mut book, &specs);
    let stock = Stock { rules: &rules, pools: &pools, node_operations: false };
    let problem = Problem::new(stock, &query, &held, &mut book).ok()?;
    let (plain, steps) = Search::plain(&problem, &mut book, 300_000).run();
    let (pruned, fewer) = Search::new(&problem, &mut book, 300_000).run();
    assert!(fewer <= 2 * steps + 50, "{fewer} steps instead of {steps}");
    Some([plain, pruned])
}

#[test]
fn pruning_never_changes_the_answer() {
    let (mut found, mut failed, mut none) = (0, 0, 0);
    for seed in 0..1_500 {
        let errors = seed % 4 == 0;
        let (snapshot, specs) = random_world(&mut Dice::new(seed), errors);
        let Some([plain, pruned]) = both(&snapshot, &specs) else { continue };
        match plain {
            End::OutOfSteps => continue,
            End::Found(_) => found += 1,
            End::DoesNotFit => none += 1,
            End::Failed(_) => failed += 1,
        }
        assert_eq!(plain, pruned, "seed {seed}");
    }
    assert!(found > 100 && none > 100 && failed > 10, "{found} {none} {failed}");
}
