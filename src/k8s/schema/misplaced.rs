//! Unknown fields: where they belong, and what was meant.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Schema, Type, TypeId};
use crate::k8s::field::Field;
use crate::k8s::finding::Issues;
use crate::k8s::kind::Version;
use crate::k8s::nearest::nearest;
use crate::k8s::tree::{Entry, Node, Value};

/// An unknown field of a structure.
pub(super) struct Unknown<'u, 'n, 'p> {
    pub schema: &'u Schema,
    pub version: Version,
    /// The structure's name and the fields that it has.
    pub structure: &'u str,
    pub fields: &'u BTreeMap<String, TypeId>,
    pub parent: &'u Field<'n, 'p>,
    pub field: &'u Field<'n, 'u>,
    pub key: &'n str,
}

/// What is known about an unknown field.
enum Mistake<'u> {
    /// `exactly` where the fields of a request stand in the request itself.
    NoExactly(&'static str),
    /// The field is one of this part of the structure.
    Inside(&'u str),
    /// The name is nearly right.
    Misspelt(&'u str),
}

impl<'u> Unknown<'u, '_, '_> {
    /// Reports the field in the words of strict field validation, followed by where it belongs if
    /// that is known. What a server stored is only reported if it is a known mistake.
    pub(super) fn report(&self, stored: bool, issues: &mut Issues) {
        let mistake = self.mistake();
        if stored && mistake.is_none() {
            return;
        }
        let mut message = format!("unknown field \"{}\"", self.field);
        // The right form of the whole is shown once.
        let is_first = issues.list().last().is_none_or(|issue| !is_sibling(&issue.field, self.parent));
        let written = self.parent.node().filter(|_| is_first);
        let hint = match mistake {
            None => None,
            Some(Mistake::NoExactly(what)) => {
                let _ = write!(message, ": {what} `exactly`; its fields stand directly there");
                written.map(|node| format!("write:\n{}", yaml(&flattened(node))))
            }
            Some(Mistake::Inside(home)) => {
                let _ = write!(message, ": it belongs under `{home}`");
                let moved = |key: &str| !self.fields.contains_key(key) && self.home_of(key) == Some(home);
                written.map(|node| format!("write:\n{}", yaml(&nested(node, home, moved))))
            }
            Some(Mistake::Misspelt(name)) => Some(format!("did you mean `{name}`?")),
        };
        issues.add(self.field, message, hint);
    }

    fn mistake(&self) -> Option<Mistake<'u>> {
        if self.key == "exactly" && self.structure.ends_with(".DeviceSubRequest") {
            return Some(Mistake::NoExactly("entries of `firstAvailable` have no"));
        }
        if self.key == "exactly"
            && self.structure.ends_with(".DeviceRequest")
            && self.version == Version::V1Beta1
        {
            return Some(Mistake::NoExactly("requests of resource.k8s.io/v1beta1 have no"));
        }
        let misspelt = || nearest(self.key, self.fields.keys().map(String::as_str)).map(Mistake::Misspelt);
        self.home_of(self.key).map(Mistake::Inside).or_else(misspelt)
    }

    /// The one field of the structure whose own structure has a field `key`. Metadata has too many
    /// names in common with other parts for a guess.
    fn home_of(&self, key: &str) -> Option<&'u str> {
        let has_key = |(name, id): &(&String, &TypeId)| {
            let inner = match self.schema.get(**id) {
                Type::Structure { fields, .. } => Some(fields),
                _ => None,
            };
            !matches!(name.as_str(), "metadata" | "status")
                && inner.is_some_and(|fields| fields.contains_key(key))
        };
        let mut homes = self.fields.iter().filter(has_key);
        let home = homes.next()?;
        homes.next().is_none().then_some(home.0.as_str())
    }
}

/// Whether a path leads to a direct child of `parent`.
fn is_sibling(path: &str, parent: &Field<'_, '_>) -> bool {
    path.rsplit_once('.').is_some_and(|(before, _)| before == parent.path())
}

/// The map with all entries that `moved` selects inside its entry `home`.
fn nested(node: &Node, home: &str, moved: impl Fn(&str) -> bool) -> Node {
    let (inside, mut outside): (Vec<_>, Vec<_>) =
        node.entries().iter().cloned().partition(|entry| moved(&entry.key));
    match outside.iter_mut().find(|entry| &*entry.key == home) {
        Some(Entry { node: Node { value: Value::Map(entries), .. }, .. }) => entries.extend(inside),
        _ => outside.push(Entry {
            place: node.place,
            key: home.into(),
            node: Node { place: node.place, value: Value::Map(inside) },
        }),
    }
    Node { place: node.place, value: Value::Map(outside) }
}

/// The request with the entries of `exactly` in its own place.
fn flattened(node: &Node) -> Node {
    let entries = node.entries().iter().flat_map(|entry| match &*entry.key {
        "exactly" => entry.node.entries().to_vec(),
        _ => vec![entry.clone()],
    });
    Node { place: node.place, value: Value::Map(entries.collect()) }
}

/// A map as an item of a YAML list.
fn yaml(node: &Node) -> String {
    let yaml = serde_saphyr::to_string(&node.to_json()).unwrap_or_default();
    let lines = yaml.trim_end().lines().enumerate();
    let lines = lines.map(|(index, line)| format!("{}{line}", if index == 0 { "- " } else { "  " }));
    lines.collect::<Vec<_>>().join("\n")
}
