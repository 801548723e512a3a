//! Known mistakes in CEL selectors and names, with the right form.
//!
//! A selector that names a domain or attribute that no device has compiles and then matches
//! nothing, or fails while it runs. What the devices of the input really have tells what was meant.

mod access;

use std::collections::{BTreeMap, BTreeSet};

use super::nearest::nearest;
use crate::model::{Name, ResourceSlice};
use access::{Access, Comparison, Map, accesses};

/// The domain in examples when no device tells the real one.
const PLACEHOLDER: &str = "gpu.example.com";

/// The qualified names of everything that devices have, by domain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceNames {
    attributes: BTreeMap<Name, BTreeSet<Name>>,
    capacity: BTreeMap<Name, BTreeSet<Name>>,
}

impl DeviceNames {
    /// The names of the devices of these slices. A name without a domain is in the driver's.
    pub fn of<'s>(slices: impl IntoIterator<Item = &'s ResourceSlice>) -> Self {
        let mut names = Self::default();
        let mut seen = BTreeSet::new();
        for slice in slices {
            let driver = &slice.pool.driver;
            for device in &slice.devices {
                // Devices of one content share it; looking once is enough.
                if !seen.insert((driver.clone(), std::sync::Arc::as_ptr(&device.content))) {
                    continue;
                }
                for (key, _) in &device.content.attributes {
                    add(&mut names.attributes, driver, key);
                }
                for (key, _) in &device.content.capacity {
                    add(&mut names.capacity, driver, key);
                }
            }
        }
        names
    }

    fn in_map(&self, map: Map) -> &BTreeMap<Name, BTreeSet<Name>> {
        match map {
            Map::Attributes => &self.attributes,
            Map::Capacity => &self.capacity,
        }
    }

    /// The domains in which the map has that name.
    fn domains_of(&self, map: Map, name: &str) -> Vec<&Name> {
        self.in_map(map).iter().filter(|(_, names)| names.contains(name)).map(|(domain, _)| domain).collect()
    }

    fn domains(&self) -> BTreeSet<&Name> {
        self.attributes.keys().chain(self.capacity.keys()).collect()
    }

    /// The domain of the devices, if there is only one.
    fn only_domain(&self) -> &str {
        let domains = self.domains();
        match domains.first() {
            Some(domain) if domains.len() == 1 => domain.as_str(),
            _ => PLACEHOLDER,
        }
    }
}

fn add(map: &mut BTreeMap<Name, BTreeSet<Name>>, driver: &Name, key: &Name) {
    let (domain, name) = match key.split_once('/') {
        Some((domain, name)) => (Name::from(domain), Name::from(name)),
        None => (driver.clone(), key.clone()),
    };
    map.entry(domain).or_default().insert(name);
}

/// What is wrong with the first access to a device in this selector that can't be right, and how
/// to write it; nothing if all are to what the devices have.
pub fn selector_hint(expression: &str, names: &DeviceNames) -> Option<String> {
    accesses(expression).iter().find_map(|access| access_hint(access, names))
}

fn access_hint(access: &Access<'_>, names: &DeviceNames) -> Option<String> {
    let Access { map, domain, name, comparison } = access;
    let knows_nothing = names.attributes.is_empty() && names.capacity.is_empty();
    if knows_nothing && domain.contains('.') {
        return capacity_comparison(access);
    }
    let known = names.in_map(*map).get(*domain);
    if let (Some(known), Some(name)) = (known, name) {
        if known.contains(*name) {
            return capacity_comparison(access);
        }
        return Some(unknown_name(access, name, known, names));
    }
    if known.is_some() {
        return None;
    }
    // `attributes['memory'].quantity`: the name stands where the domain belongs.
    let looks_like_name = !domain.contains('.');
    let is_quantity = *name == Some("quantity") || comparison.as_ref().is_some_and(Comparison::is_quantity);
    if looks_like_name {
        let capacity = names.domains_of(Map::Capacity, domain);
        let attributes = names.domains_of(Map::Attributes, domain);
        return match (capacity.as_slice(), attributes.as_slice()) {
            ([in_domain, ..], _) => Some(as_capacity(domain, in_domain, comparison.as_ref())),
            ([], [in_domain, ..]) => {
                Some(format!("attributes are keyed by domain: `device.attributes['{in_domain}'].{domain}`"))
            }
            ([], []) if is_quantity => Some(as_capacity(domain, names.only_domain(), comparison.as_ref())),
            ([], []) => name.map(|name| {
                let domain = names.only_domain();
                format!("attributes are keyed by domain: `device.{}['{domain}'].{name}`", map.as_str())
            }),
        };
    }
    // Of a name that some other domain has, that domain was meant.
    let of_name = name.map(|name| (name, names.domains_of(*map, name)));
    if let Some((name, domains)) = &of_name
        && let [meant, ..] = domains.as_slice()
    {
        let map = map.as_str();
        return Some(format!(
            "no device has {map} of domain {domain:?}; `device.{map}['{meant}'].{name}` is there"
        ));
    }
    let meant = nearest(domain, names.domains().into_iter().map(Name::as_str));
    let meant = meant.map(|meant| format!(" (did you mean {meant:?}?)")).unwrap_or_default();
    let map = map.as_str();
    (!knows_nothing).then(|| format!("no device has {map} of domain {domain:?}{meant}"))
}

fn unknown_name(access: &Access<'_>, name: &str, known: &BTreeSet<Name>, names: &DeviceNames) -> String {
    let Access { map, domain, comparison, .. } = access;
    let other = match map {
        Map::Attributes => Map::Capacity,
        Map::Capacity => Map::Attributes,
    };
    if names.in_map(other).get(*domain).is_some_and(|names| names.contains(name)) {
        return match other {
            Map::Capacity => as_capacity(name, domain, comparison.as_ref()),
            Map::Attributes => format!("{name} is an attribute: `device.attributes['{domain}'].{name}`"),
        };
    }
    let meant = nearest(name, known.iter().map(Name::as_str));
    let map = map.as_str();
    let there: Vec<_> = known.iter().map(Name::as_str).collect();
    let there = meant.map_or_else(
        || format!("there are {}", there.join(", ")),
        |meant| format!("did you mean `device.{map}['{domain}'].{meant}`?"),
    );
    format!("no device has {map} {name} of domain {domain:?}; {there}")
}

/// A capacity is a quantity: it is compared by `compareTo`, not with a text or number.
fn capacity_comparison(access: &Access<'_>) -> Option<String> {
    let (Map::Capacity, Some(name), Some(comparison)) = (access.map, access.name, &access.comparison) else {
        return None;
    };
    Some(as_capacity(name, access.domain, Some(comparison)))
}

fn as_capacity(name: &str, domain: &str, comparison: Option<&Comparison<'_>>) -> String {
    let amount = comparison.map_or("40Gi", |comparison| comparison.literal);
    let operator = comparison.map_or(">=", |comparison| comparison.operator);
    format!(
        "{name} is a capacity, and capacities are keyed by the driver's domain: \
         `device.capacity['{domain}'].{name}.compareTo(quantity('{amount}')) {operator} 0`"
    )
}

/// What was meant by a device class that does not exist.
pub fn class_hint<'c>(name: &str, classes: impl IntoIterator<Item = &'c str>) -> Option<String> {
    let classes: Vec<_> = classes.into_iter().collect();
    if let Some(meant) = nearest(name, classes.iter().copied()) {
        return Some(format!("did you mean device class {meant:?}?"));
    }
    match classes.as_slice() {
        [] => Some("there is no device class at all; the driver's installation brings one".to_owned()),
        known if known.len() <= 8 => Some(format!("device classes are: {}", known.join(", "))),
        _ => None,
    }
}
