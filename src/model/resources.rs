//! Amounts of node resources, in the integer units in which kube-scheduler counts them.

use std::collections::BTreeMap;

use super::ids::Name;
use super::quantity::Quantity;

/// `cpu`.
pub const CPU: &str = "cpu";
/// `memory`.
pub const MEMORY: &str = "memory";
/// `ephemeral-storage`.
pub const EPHEMERAL_STORAGE: &str = "ephemeral-storage";
/// `pods`.
pub const PODS: &str = "pods";

/// A list of resources as containers and nodes state it, sorted by name.
pub type ResourceList = Box<[(Name, Quantity)]>;

/// Amounts per resource: CPU in thousandths, all else in whole units (bytes, devices).
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ResourceAmounts {
    /// CPU in thousandths of a core.
    pub milli_cpu: i64,
    /// Memory in bytes.
    pub memory: i64,
    /// Ephemeral storage in bytes.
    pub ephemeral_storage: i64,
    /// All other resources by name: extended resources, huge pages, attachable volumes.
    pub scalar: BTreeMap<Name, i64>,
}

impl ResourceAmounts {
    /// The amounts of a resource list; fractions are rounded up, `pods` is left out.
    pub fn of(list: &[(Name, Quantity)]) -> Self {
        let mut amounts = Self::default();
        for (name, quantity) in list {
            amounts.set(name, quantity);
        }
        amounts
    }

    /// Sets one resource.
    pub fn set(&mut self, name: &Name, quantity: &Quantity) {
        match name.as_str() {
            CPU => self.milli_cpu = quantity.milli_value(),
            MEMORY => self.memory = quantity.value(),
            EPHEMERAL_STORAGE => self.ephemeral_storage = quantity.value(),
            PODS => {}
            _ => {
                self.scalar.insert(name.clone(), quantity.value());
            }
        }
    }

    /// One resource by name; absent ones are zero.
    pub fn get(&self, name: &str) -> i64 {
        match name {
            CPU => self.milli_cpu,
            MEMORY => self.memory,
            EPHEMERAL_STORAGE => self.ephemeral_storage,
            other => self.scalar.get(other).copied().unwrap_or(0),
        }
    }

    /// Adds amounts to these; sums stop at the ends of the number range.
    pub fn add(&mut self, other: &Self) {
        self.merge(other, i64::saturating_add);
    }

    /// Raises each amount to that of `other` where that is more.
    pub fn raise(&mut self, other: &Self) {
        self.merge(other, i64::max);
    }

    fn merge(&mut self, other: &Self, combine: fn(i64, i64) -> i64) {
        self.milli_cpu = combine(self.milli_cpu, other.milli_cpu);
        self.memory = combine(self.memory, other.memory);
        self.ephemeral_storage = combine(self.ephemeral_storage, other.ephemeral_storage);
        for (name, amount) in &other.scalar {
            let entry = self.scalar.entry(name.clone()).or_insert(0);
            *entry = combine(*entry, *amount);
        }
    }
}
