//! What of a device's content claims can tell apart. Devices differ by serial numbers and addresses;
//! to claims that do not look at those, they are the same device.

use std::collections::BTreeSet;

use crate::cel::{Section, TouchedPaths};
use crate::model::{AttributeValue, DeviceContent, Name};

/// The attributes that something looks at.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Touched {
    /// Any of them, perhaps.
    All,
    /// Those of these identifiers, in whatever domain.
    Only(BTreeSet<Box<str>>),
}

impl Default for Touched {
    fn default() -> Self {
        Self::Only(BTreeSet::new())
    }
}

impl Touched {
    /// What an expression looks at.
    pub fn by_expression(paths: &TouchedPaths) -> Self {
        let whole = paths.sections.iter().chain(paths.domains.iter().map(|(section, _)| section));
        if whole.into_iter().any(|section| *section == Section::Attributes) {
            return Self::All;
        }
        let attributes = paths.members.iter().filter(|(section, ..)| *section == Section::Attributes);
        // An identifier with a slash may be taken for one with a domain.
        Self::Only(attributes.flat_map(|(_, _, id)| [id.clone(), identifier(id).into()]).collect())
    }

    /// What a constraint looks at.
    pub fn by_name(attribute: &str) -> Self {
        Self::Only(BTreeSet::from([identifier(attribute).into()]))
    }

    /// The same and what `other` has.
    pub fn add(&mut self, other: Self) {
        match (&mut *self, other) {
            (Self::Only(own), Self::Only(other)) => own.extend(other),
            (own, _) => *own = Self::All,
        }
    }

    /// What is left of a content. Attributes that may spoil every evaluation stay: versions that are
    /// none, lists without their gate, and kinds of a later release.
    pub fn project(&self, content: &DeviceContent) -> DeviceContent {
        let Self::Only(touched) = self else { return content.clone() };
        let stays = |(key, value): &&(Name, AttributeValue)| {
            use AttributeValue::{Bool, Int, String};
            !matches!(value, Int(_) | Bool(_) | String(_)) || touched.contains(identifier(key))
        };
        DeviceContent {
            attributes: content.attributes.iter().filter(stays).cloned().collect(),
            capacity: content.capacity.clone(),
            allow_multiple_allocations: content.allow_multiple_allocations,
        }
    }
}

/// The name without its domain.
fn identifier(name: &str) -> &str {
    name.split_once('/').map_or(name, |(_, identifier)| identifier)
}
