//! Recipes of tiny, nasty worlds, drawn at random.
//!
//! A recipe is plain data that shrinks well; `build.rs` makes a world of it. There is no recipe
//! whose selectors fail at run time, since then the order of candidates may decide what is seen.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

/// At most so many devices in a world.
pub const DEVICES_MAX: usize = 6;

/// A world and what is asked of it.
#[derive(Clone, Debug)]
pub struct Recipe {
    pub gates: Gates,
    pub nodes: usize,
    pub pools: Vec<PoolRecipe>,
    pub claims: Vec<ClaimRecipe>,
    pub holders: Vec<HolderRecipe>,
}

/// Gates that change the answer; all others have their defaults.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a gate")]
pub struct Gates {
    pub partitionable: bool,
    pub taints: bool,
    pub capacity: bool,
    pub lists: bool,
    pub groups: bool,
    pub binding: bool,
}

/// From where a slice or device is in reach.
#[derive(Clone, Copy, Debug)]
pub enum Reach {
    Node(usize),
    EvenNodes,
    AllNodes,
    PerDevice,
}

/// What is the matter with a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    None,
    SliceMissing,
    NewerElsewhere,
    OlderBeside,
    DuplicateDevice,
    UnknownCounterSet,
}

#[derive(Clone, Debug)]
pub struct PoolRecipe {
    pub driver: usize,
    pub reach: Reach,
    pub flaw: Flaw,
    pub slices: Vec<Vec<DeviceRecipe>>,
    /// Values of the counters of two sets.
    pub counters: Option<[u8; 2]>,
}

#[derive(Clone, Debug)]
pub struct DeviceRecipe {
    pub numa: Option<u8>,
    pub color: Option<Color>,
    pub taint: Option<u8>,
    /// Counter set, amount, compatibility groups.
    pub uses: Vec<(usize, u8, u8)>,
    pub capacity: Option<(u8, Policy)>,
    pub multi: bool,
    pub waits: bool,
    pub reach: Reach,
}

#[derive(Clone, Debug)]
pub enum Color {
    Text(u8),
    Number(u8),
    List(Vec<u8>),
}

#[derive(Clone, Copy, Debug)]
pub enum Policy {
    None,
    /// One or three; one by default.
    Values,
    /// Two or four; two by default.
    Range,
}

#[derive(Clone, Debug)]
pub struct ClaimRecipe {
    pub requests: Vec<RequestRecipe>,
    pub constraints: Vec<ConstraintRecipe>,
}

#[derive(Clone, Debug)]
pub enum RequestRecipe {
    Exactly(RequirementRecipe),
    FirstAvailable(Vec<RequirementRecipe>),
}

#[derive(Clone, Debug)]
pub struct RequirementRecipe {
    pub class: usize,
    pub selector: Option<usize>,
    /// How many, or all.
    pub count: Option<u8>,
    pub admin: bool,
    pub tolerates: Option<u8>,
    pub capacity: Option<u8>,
}

#[derive(Clone, Debug)]
pub struct ConstraintRecipe {
    pub distinct: bool,
    pub on_color: bool,
    /// The request that is left out, if any.
    pub without: Option<usize>,
}

/// A claim that holds a device already.
#[derive(Clone, Debug)]
pub struct HolderRecipe {
    /// Counted through all devices of the world.
    pub device: usize,
    /// How much its share consumes; it holds the device alone if there is none.
    pub share: Option<u8>,
}

/// Any world.
pub fn recipes() -> impl Strategy<Value = Recipe> {
    let holders = prop_oneof![1 => vec(holder(), 0), 1 => vec(holder(), 1..=3)];
    (
        gates(),
        1usize..=3,
        vec(pool(), 1..=3),
        prop_oneof![2 => vec(claim(), 1), 1 => vec(claim(), 2)],
        holders,
        mostly(false),
    )
        .prop_map(|(gates, nodes, mut pools, claims, holders, stray_groups)| {
            if !gates.groups && !stray_groups {
                without_groups(&mut pools);
            }
            limit_devices(&mut pools);
            Recipe { gates, nodes, pools, claims, holders }
        })
}

/// Worlds in which the order of candidates cannot matter: no request is for all devices, no pool has a
/// flaw or a device that makes it unusable, and nothing depends on which of two devices comes first.
pub fn plain_recipes() -> impl Strategy<Value = Recipe> {
    recipes().prop_map(plain)
}

/// The recipe without what would let the order matter.
pub fn plain(mut recipe: Recipe) -> Recipe {
    recipe.pools.iter_mut().for_each(|pool| pool.flaw = Flaw::None);
    for request in recipe.claims.iter_mut().flat_map(|claim| &mut claim.requests) {
        let list = match request {
            RequestRecipe::Exactly(one) => std::slice::from_mut(one),
            RequestRecipe::FirstAvailable(list) => list,
        };
        for one in list {
            one.count = one.count.or(Some(1));
        }
    }
    // Of a value that cannot be compared the first is accepted.
    if !recipe.gates.lists {
        let slices = recipe.pools.iter_mut().flat_map(|pool| &mut pool.slices);
        for color in slices.flatten().filter_map(|device| device.color.as_mut()) {
            if let Color::List(colors) = color {
                *color = Color::Text(colors[0]);
            }
        }
    }
    // Of devices with and without groups in one set, the first decides; with the gate off, one with
    // groups makes its pool unusable.
    if recipe.gates.groups {
        recipe.holders.truncate(1);
    } else {
        without_groups(&mut recipe.pools);
    }
    recipe
}

/// Leaves out the devices that are too many for brute force.
pub fn limit_devices(pools: &mut [PoolRecipe]) {
    let mut left = DEVICES_MAX;
    for slice in pools.iter_mut().flat_map(|pool| &mut pool.slices) {
        slice.truncate(left);
        left -= slice.len();
    }
}

fn without_groups(pools: &mut [PoolRecipe]) {
    let slices = pools.iter_mut().flat_map(|pool| &mut pool.slices);
    for (_, _, groups) in slices.flatten().flat_map(|device| &mut device.uses) {
        *groups = 0;
    }
}

fn mostly(on: bool) -> impl Strategy<Value = bool> {
    prop_oneof![6 => Just(on), 1 => Just(!on)]
}

fn gates() -> impl Strategy<Value = Gates> {
    (mostly(true), mostly(true), mostly(true), any::<bool>(), mostly(false), mostly(true)).prop_map(
        |(partitionable, taints, capacity, lists, groups, binding)| Gates {
            partitionable,
            taints,
            capacity,
            lists,
            groups,
            binding,
        },
    )
}

fn reach() -> impl Strategy<Value = Reach> {
    prop_oneof![
        4 => (0usize..2).prop_map(Reach::Node),
        1 => Just(Reach::EvenNodes),
        3 => Just(Reach::AllNodes),
    ]
}

fn pool() -> impl Strategy<Value = PoolRecipe> {
    let flaw = prop_oneof![
        20 => Just(Flaw::None),
        1 => Just(Flaw::SliceMissing),
        1 => Just(Flaw::NewerElsewhere),
        1 => Just(Flaw::OlderBeside),
        1 => Just(Flaw::DuplicateDevice),
        1 => Just(Flaw::UnknownCounterSet),
    ];
    let reach = prop_oneof![5 => reach(), 1 => Just(Reach::PerDevice)];
    let counters = option::weighted(0.5, [1u8..=4, 1u8..=4]);
    (0usize..2, reach, flaw, vec(vec(device(), 1..=3), 1..=2), counters).prop_map(
        |(driver, reach, flaw, slices, counters)| PoolRecipe { driver, reach, flaw, slices, counters },
    )
}

fn device() -> impl Strategy<Value = DeviceRecipe> {
    let color = prop_oneof![
        4 => (0u8..3).prop_map(Color::Text),
        1 => (0u8..2).prop_map(Color::Number),
        2 => vec(0u8..3, 1..=2).prop_map(Color::List),
    ];
    let policy = prop_oneof![Just(Policy::None), Just(Policy::Values), Just(Policy::Range)];
    (
        option::weighted(0.9, 0u8..3),
        option::weighted(0.9, color),
        option::weighted(0.2, 0u8..2),
        prop_oneof![
            2 => Just(Vec::new()),
            2 => (0usize..2, 1u8..=2, 0u8..4).prop_map(|one| vec![one]),
            1 => (1u8..=2, 0u8..4, 1u8..=2, 0u8..4).prop_map(|(a, g, b, h)| vec![(0, a, g), (1, b, h)]),
        ],
        option::weighted(0.6, (1u8..=5, policy)),
        any::<bool>(),
        mostly(false),
        reach(),
    )
        .prop_map(|(numa, color, taint, uses, capacity, multi, waits, reach)| DeviceRecipe {
            numa,
            color,
            taint,
            uses,
            capacity,
            multi,
            waits,
            reach,
        })
}

fn claim() -> impl Strategy<Value = ClaimRecipe> {
    let requests = prop_oneof![3 => vec(request(), 1), 2 => vec(request(), 2), 1 => vec(request(), 3)];
    (requests, vec(constraint(), 0..=1))
        .prop_map(|(requests, constraints)| ClaimRecipe { requests, constraints })
}

fn request() -> impl Strategy<Value = RequestRecipe> {
    prop_oneof![
        3 => requirement().prop_map(RequestRecipe::Exactly),
        1 => vec(requirement(), 1..=3).prop_map(RequestRecipe::FirstAvailable),
    ]
}

fn requirement() -> impl Strategy<Value = RequirementRecipe> {
    let count = prop_oneof![8 => Just(Some(1)), 2 => Just(Some(2)), 1 => Just(Some(3)), 1 => Just(None)];
    (
        prop_oneof![1 => 0usize..2, 2 => Just(2)],
        option::weighted(0.2, 0usize..super::build::SELECTORS.len()),
        count,
        mostly(false),
        option::weighted(0.3, 0u8..2),
        option::weighted(0.2, 0u8..=4),
    )
        .prop_map(|(class, selector, count, admin, tolerates, capacity)| RequirementRecipe {
            class,
            selector,
            count,
            admin,
            tolerates,
            capacity,
        })
}

fn constraint() -> impl Strategy<Value = ConstraintRecipe> {
    (any::<bool>(), any::<bool>(), option::weighted(0.3, 0usize..3))
        .prop_map(|(distinct, on_color, without)| ConstraintRecipe { distinct, on_color, without })
}

fn holder() -> impl Strategy<Value = HolderRecipe> {
    (0usize..DEVICES_MAX, option::of(0u8..=2)).prop_map(|(device, share)| HolderRecipe { device, share })
}
