//! Bytes as recipes of tiny worlds. Every byte decides one thing, and bytes that are missing are zero,
//! so that a change of one byte is a change of one thing.

use super::recipe::{
    ClaimRecipe, Color, ConstraintRecipe, DeviceRecipe, Flaw, Gates, HolderRecipe, Policy, PoolRecipe, Reach,
    Recipe, RequestRecipe, RequirementRecipe, limit_devices,
};

/// Bytes that are read one by one.
pub struct Bytes<'b>(std::slice::Iter<'b, u8>);

impl<'b> Bytes<'b> {
    pub fn new(bytes: &'b [u8]) -> Self {
        Self(bytes.iter())
    }

    fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    fn below(&mut self, limit: u8) -> u8 {
        self.byte() % limit
    }

    fn place(&mut self, limit: u8) -> usize {
        usize::from(self.below(limit))
    }

    /// True for one value in so many, which is not zero.
    fn one_in(&mut self, many: u8) -> bool {
        self.below(many) == many - 1
    }

    fn some<T>(&mut self, one_in: u8, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        self.one_in(one_in).then(|| value(self))
    }

    fn mostly<T>(&mut self, value: impl FnOnce(&mut Self) -> T) -> Option<T> {
        (!self.one_in(8)).then(|| value(self))
    }

    fn list<T>(&mut self, least: u8, most: u8, mut value: impl FnMut(&mut Self) -> T) -> Vec<T> {
        let length = least + self.below(most - least + 1);
        (0..length).map(|_| value(self)).collect()
    }
}

/// The world of these bytes, and a number that says how to shuffle it.
pub fn recipe(bytes: &mut Bytes<'_>) -> (Recipe, u64) {
    let seed = u64::from(bytes.byte());
    let gates = Gates {
        partitionable: !bytes.one_in(8),
        taints: !bytes.one_in(8),
        capacity: !bytes.one_in(8),
        lists: bytes.one_in(2),
        groups: bytes.one_in(8),
        binding: !bytes.one_in(8),
    };
    let nodes = 1 + bytes.place(3);
    let claims = bytes.list(1, 2, claim);
    let holders = bytes.list(0, 3, |bytes| HolderRecipe {
        device: bytes.place(6),
        share: bytes.some(2, |bytes| bytes.below(3)),
    });
    let mut pools = bytes.list(1, 3, pool);
    limit_devices(&mut pools);
    (Recipe { gates, nodes, pools, claims, holders }, seed)
}

fn claim(bytes: &mut Bytes<'_>) -> ClaimRecipe {
    let constraints = bytes.list(0, 2, |bytes| ConstraintRecipe {
        distinct: bytes.one_in(2),
        on_color: bytes.one_in(2),
        without: bytes.some(3, |bytes| bytes.place(3)),
    });
    let requests = bytes.list(1, 3, |bytes| {
        if bytes.one_in(4) {
            RequestRecipe::FirstAvailable(bytes.list(1, 3, requirement))
        } else {
            RequestRecipe::Exactly(requirement(bytes))
        }
    });
    ClaimRecipe { requests, constraints }
}

fn requirement(bytes: &mut Bytes<'_>) -> RequirementRecipe {
    RequirementRecipe {
        class: 2 - bytes.place(3),
        selector: bytes.some(4, |bytes| bytes.place(6)),
        count: bytes.mostly(|bytes| [1, 1, 1, 2, 2, 3][bytes.place(6)]),
        admin: bytes.one_in(8),
        tolerates: bytes.some(3, |bytes| bytes.below(2)),
        capacity: bytes.some(4, |bytes| bytes.below(5)),
    }
}

fn reach(bytes: &mut Bytes<'_>) -> Reach {
    match bytes.below(8) {
        0..3 => Reach::AllNodes,
        3..7 => Reach::Node(bytes.place(2)),
        _ => Reach::EvenNodes,
    }
}

fn pool(bytes: &mut Bytes<'_>) -> PoolRecipe {
    let flaws = [
        Flaw::SliceMissing,
        Flaw::NewerElsewhere,
        Flaw::OlderBeside,
        Flaw::DuplicateDevice,
        Flaw::UnknownCounterSet,
    ];
    PoolRecipe {
        driver: bytes.place(2),
        reach: bytes.some(6, |_| Reach::PerDevice).unwrap_or_else(|| reach(bytes)),
        flaw: flaws.get(bytes.place(25)).copied().filter(|_| bytes.one_in(2)).unwrap_or(Flaw::None),
        counters: bytes.some(2, |bytes| [1 + bytes.below(4), 1 + bytes.below(4)]),
        slices: bytes.list(1, 2, |bytes| bytes.list(1, 3, device)),
    }
}

fn device(bytes: &mut Bytes<'_>) -> DeviceRecipe {
    DeviceRecipe {
        numa: bytes.mostly(|bytes| bytes.below(3)),
        color: bytes.mostly(|bytes| match bytes.below(7) {
            0..4 => Color::Text(bytes.below(3)),
            4 => Color::Number(bytes.below(2)),
            _ => Color::List(bytes.list(1, 2, |bytes| bytes.below(3))),
        }),
        taint: bytes.some(5, |bytes| bytes.below(2)),
        uses: uses(bytes),
        capacity: bytes.some(2, |bytes| {
            (1 + bytes.below(5), [Policy::None, Policy::Values, Policy::Range][bytes.place(3)])
        }),
        multi: bytes.one_in(2),
        waits: bytes.one_in(8),
        reach: reach(bytes),
    }
}

/// Each set at most once.
fn uses(bytes: &mut Bytes<'_>) -> Vec<(usize, u8, u8)> {
    let sets = bytes.below(4);
    let used = (0..2).filter(|set| sets & (1 << set) != 0);
    used.map(|set| (set, 1 + bytes.below(2), bytes.below(4))).collect()
}
