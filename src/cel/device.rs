//! The device as the variable `device`: views of its content that copy nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::error::EvalError;
use super::semver;
use super::value::{List, Map, Shared, Text, Value};
use crate::model::{AttributeValue, DeviceContent};

/// The device that an expression is asked about.
#[derive(Clone, Copy, Debug)]
pub struct DeviceInput<'a> {
    /// The driver, which is the domain of attributes and capacities that name none.
    pub driver: &'a str,
    /// What the driver publishes.
    pub content: &'a DeviceContent,
}

/// Which of the device's two maps of maps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Section {
    /// `device.attributes`
    Attributes,
    /// `device.capacity`
    Capacity,
}

/// A map that is a view of the device.
#[derive(Clone, Debug)]
pub struct DeviceMap<'a> {
    device: &'a DeviceInput<'a>,
    part: Part<'a>,
}

#[derive(Clone, Debug)]
enum Part<'a> {
    /// `device`
    Whole,
    /// `device.attributes`
    Domains(Section),
    /// `device.attributes[domain]`
    Domain(Section, Text<'a>),
}

/// The names of `device`'s fields, sorted.
const FIELDS: [&str; 4] = ["allowMultipleAllocations", "attributes", "capacity", "driver"];

impl<'a> DeviceInput<'a> {
    /// Refuses a device with an attribute that has no value, as every expression does.
    pub(super) fn validate(&self) -> Result<(), Arc<EvalError>> {
        for (name, value) in &self.content.attributes {
            let reason = match value {
                AttributeValue::Unsupported => "unsupported attribute value".to_owned(),
                AttributeValue::Version(text) => match semver::parse(text) {
                    Ok(_) => continue,
                    Err(reason) => format!("parse semantic version: {reason}"),
                },
                AttributeValue::Versions(texts) => {
                    match texts.iter().find_map(|text| semver::parse(text).err()) {
                        None => continue,
                        Some(reason) => format!("parse semantic version: {reason}"),
                    }
                }
                _ => continue,
            };
            return Err(Arc::new(EvalError::Attribute { name: name.to_string(), reason }));
        }
        Ok(())
    }

    /// `device.driver` and its like.
    pub(super) fn field(&'a self, name: &str) -> Option<Value<'a>> {
        Some(match name {
            "driver" => Value::String(Shared::Borrowed(self.driver)),
            "allowMultipleAllocations" => Value::Bool(self.content.allow_multiple_allocations),
            "attributes" => self.section(Section::Attributes),
            "capacity" => self.section(Section::Capacity),
            _ => return None,
        })
    }

    /// `device`
    pub(super) fn whole(&'a self) -> Value<'a> {
        Value::Map(Map::Device(DeviceMap { device: self, part: Part::Whole }))
    }

    /// `device.attributes` or `device.capacity`
    pub(super) fn section(&'a self, section: Section) -> Value<'a> {
        Value::Map(Map::Device(DeviceMap { device: self, part: Part::Domains(section) }))
    }

    /// `device.attributes[domain]`, empty if there is none.
    pub(super) fn domain(&'a self, section: Section, domain: Text<'a>) -> Value<'a> {
        Value::Map(Map::Device(DeviceMap { device: self, part: Part::Domain(section, domain) }))
    }

    /// `device.attributes[domain].id`, where `key` is `domain/id`.
    pub(super) fn member(&'a self, section: Section, domain: &str, id: &str, key: &str) -> Option<Value<'a>> {
        if domain == self.driver
            && let Some(value) = self.by_key(section, id)
        {
            return Some(value);
        }
        self.by_key(section, key)
    }

    fn by_key(&'a self, section: Section, key: &str) -> Option<Value<'a>> {
        match section {
            Section::Attributes => self.content.attribute(key).map(attribute),
            Section::Capacity => self.content.capacity(key).map(|capacity| Value::Quantity {
                amount: Shared::Borrowed(&capacity.value),
                computed: false,
            }),
        }
    }

    /// Every name of a section as domain and id, with its literal key.
    fn names(&'a self, section: Section) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
        let attributes = match section {
            Section::Attributes => &self.content.attributes[..],
            Section::Capacity => &[],
        };
        let capacity = match section {
            Section::Attributes => &[],
            Section::Capacity => &self.content.capacity[..],
        };
        let keys = attributes.iter().map(|(key, _)| key).chain(capacity.iter().map(|(key, _)| key));
        keys.map(|key| {
            let (domain, id) = key.split_once('/').unwrap_or((self.driver, key.as_str()));
            (domain, id, key.as_str())
        })
    }
}

fn attribute(value: &AttributeValue) -> Value<'_> {
    match value {
        AttributeValue::Int(value) => Value::Int(*value),
        AttributeValue::Bool(value) => Value::Bool(*value),
        AttributeValue::String(text) => Value::String(Shared::Borrowed(text.as_str())),
        AttributeValue::Version(text) => Value::Semver(Shared::Borrowed(text.as_str())),
        AttributeValue::Ints(values) => Value::List(List::Ints(values)),
        AttributeValue::Bools(values) => Value::List(List::Bools(values)),
        AttributeValue::Strings(values) => Value::List(List::Strings(values)),
        AttributeValue::Versions(values) => Value::List(List::Versions(values)),
        // Refused before anything is evaluated.
        AttributeValue::Unsupported => Value::Null,
    }
}

impl<'a> DeviceMap<'a> {
    /// The value of a key; every domain has one.
    pub(super) fn find(&self, key: &Text<'a>) -> Option<Value<'a>> {
        match &self.part {
            Part::Whole => self.device.field(key),
            Part::Domains(section) => Some(self.device.domain(*section, key.clone())),
            Part::Domain(section, domain) => {
                let (domain, id): (&str, &str) = (domain, key);
                let bare = (domain == self.device.driver && !id.contains('/')).then_some(id);
                if let Some(value) = bare.and_then(|id| self.device.by_key(*section, id)) {
                    return Some(value);
                }
                let found =
                    self.device.names(*section).find(|(known, name, _)| *known == domain && *name == id);
                found.and_then(|(.., key)| self.device.by_key(*section, key))
            }
        }
    }

    /// Whether every key has a value.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.part, Part::Domains(_))
    }

    /// Whether the key is really there.
    pub(super) fn contains(&self, key: &str) -> bool {
        match &self.part {
            Part::Whole => FIELDS.contains(&key),
            Part::Domains(section) => self.device.names(*section).any(|(domain, ..)| domain == key),
            Part::Domain(section, domain) => {
                self.device.names(*section).any(|(known, id, _)| *known == **domain && id == key)
            }
        }
    }

    /// The type of the map in Go.
    pub(super) fn native(&self) -> &'static str {
        match &self.part {
            Part::Domain(Section::Capacity, _) if self.len() > 0 => "map[string]cel.Quantity",
            _ => "map[string]interface {}",
        }
    }

    pub(super) fn len(&self) -> usize {
        match self.part {
            Part::Whole => FIELDS.len(),
            _ => self.entries().len(),
        }
    }

    /// All keys with their values, in the order of keys.
    pub(super) fn entries(&self) -> Vec<(Value<'a>, Value<'a>)> {
        let text = |text: &'a str| Value::String(Shared::Borrowed(text));
        let mut entries: BTreeMap<&'a str, Value<'a>> = BTreeMap::new();
        match &self.part {
            Part::Whole => {
                entries.extend(FIELDS.iter().filter_map(|name| Some((*name, self.device.field(name)?))));
            }
            Part::Domains(section) => {
                for (domain, ..) in self.device.names(*section) {
                    entries.insert(domain, self.device.domain(*section, Shared::Borrowed(domain)));
                }
            }
            Part::Domain(section, domain) => {
                for (known, id, key) in self.device.names(*section) {
                    if *known == **domain
                        && let Some(value) = self.device.member(*section, known, id, key)
                    {
                        entries.insert(id, value);
                    }
                }
            }
        }
        entries.into_iter().map(|(key, value)| (text(key), value)).collect()
    }
}
