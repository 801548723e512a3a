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
/// What the names of huge page resources start with.
pub const HUGE_PAGES_PREFIX: &str = "hugepages-";

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
    /// The amounts of a resource list; fractions are rounded up. `pods` and names of no known kind
    /// ([`is_scalar`]) are left out, as upstream does not count them.
    pub fn of(list: &[(Name, Quantity)]) -> Self {
        list.iter().map(|(name, quantity)| (name, quantity)).collect()
    }

    fn set(&mut self, name: &Name, quantity: &Quantity) {
        match name.as_str() {
            CPU => self.milli_cpu = quantity.milli_value(),
            MEMORY => self.memory = quantity.value(),
            EPHEMERAL_STORAGE => self.ephemeral_storage = quantity.value(),
            scalar if is_scalar(scalar) => {
                self.scalar.insert(name.clone(), quantity.value());
            }
            _ => {}
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
        self.milli_cpu = self.milli_cpu.saturating_add(other.milli_cpu);
        self.memory = self.memory.saturating_add(other.memory);
        self.ephemeral_storage = self.ephemeral_storage.saturating_add(other.ephemeral_storage);
        for (name, amount) in &other.scalar {
            let sum = self.scalar.entry(name.clone()).or_default();
            *sum = sum.saturating_add(*amount);
        }
    }
}

impl<'a> FromIterator<(&'a Name, &'a Quantity)> for ResourceAmounts {
    fn from_iter<T: IntoIterator<Item = (&'a Name, &'a Quantity)>>(list: T) -> Self {
        let mut amounts = Self::default();
        for (name, quantity) in list {
            amounts.set(name, quantity);
        }
        amounts
    }
}

/// Whether upstream's scheduler counts a resource by that name, CPU, memory, ephemeral storage and
/// `pods` apart: extended resources, huge pages, attachable volumes, and what `kubernetes.io` names.
pub fn is_scalar(name: &str) -> bool {
    name.starts_with(HUGE_PAGES_PREFIX)
        || name.starts_with("attachable-volumes-")
        || name.contains("kubernetes.io/")
        || is_extended(name)
}

/// Whether it is the name of an extended resource: one with a domain that is not Kubernetes' own.
pub fn is_extended(name: &str) -> bool {
    name.contains('/') && !name.contains("kubernetes.io/") && !name.starts_with("requests.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(resources: &[(&str, &str)]) -> ResourceList {
        resources.iter().map(|(name, text)| (Name::from(*name), text.parse().expect("a quantity"))).collect()
    }

    #[test]
    fn amounts_are_rounded_up_in_the_unit_of_their_resource() {
        let amounts = ResourceAmounts::of(&list(&[
            ("cpu", "1500100u"),
            ("ephemeral-storage", "1Ki"),
            ("example.com/gpu", "1500m"),
            ("memory", "100m"),
        ]));
        assert_eq!((amounts.milli_cpu, amounts.memory, amounts.ephemeral_storage), (1501, 1, 1024));
        assert_eq!(amounts.get("example.com/gpu"), 2);
        assert_eq!(amounts.get("example.com/nic"), 0);
    }

    #[test]
    fn names_of_no_known_kind_are_not_counted() {
        let amounts = ResourceAmounts::of(&list(&[
            ("attachable-volumes-aws-ebs", "39"),
            ("deviceclass.resource.kubernetes.io/gpu", "1"),
            ("gpu", "1"),
            ("hugepages-2Mi", "4Mi"),
            ("pods", "110"),
            ("requests.example.com/gpu", "1"),
        ]));
        let names: Vec<&str> = amounts.scalar.keys().map(Name::as_str).collect();
        assert_eq!(
            names,
            ["attachable-volumes-aws-ebs", "deviceclass.resource.kubernetes.io/gpu", "hugepages-2Mi"]
        );
    }

    #[test]
    fn sums_stop_at_the_end_of_the_range() {
        let mut sum = ResourceAmounts::of(&list(&[("memory", "9223372036854775807"), ("a.b/c", "1")]));
        sum.add(&sum.clone());
        assert_eq!((sum.memory, sum.get("a.b/c")), (i64::MAX, 2));
    }
}
