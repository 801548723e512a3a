//! Unknown fields: where they belong, and what was meant.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Schema, Type, TypeId};
use crate::k8s::field::Field;
use crate::k8s::finding::Issues;
use crate::k8s::kind::Version;
use crate::k8s::nearest::nearest;
use crate::k8s::tree::{Entry, Node, Value};

/// Reports an unknown field of a structure, in the words of strict field validation, followed by
/// where it belongs if that is known.
#[allow(clippy::too_many_arguments, reason = "the parts of one situation, used nowhere else")]
pub(super) fn report(
    schema: &Schema,
    version: Version,
    structure: &str,
    fields: &BTreeMap<String, TypeId>,
    parent: &Field<'_, '_>,
    unknown: &Field<'_, '_>,
    key: &str,
    issues: &mut Issues,
) {
    let mut message = format!("unknown field \"{unknown}\"");
    let is_first = issues.list().last().is_none_or(|issue| !is_sibling(&issue.field, parent));
    if version == Version::V1Beta1 && structure.ends_with(".DeviceRequest") && key == "exactly" {
        message
            .push_str(": resource.k8s.io/v1beta1 has no `exactly`; its fields stand directly in the request");
        let right = parent.node().filter(|_| is_first).map(|node| yaml(&flattened(node)));
        issues.add(
            unknown,
            message,
            right.map(|yaml| format!("write, or use apiVersion resource.k8s.io/v1:\n{yaml}")),
        );
        return;
    }
    if let Some(home) = home_of(schema, fields, key) {
        let _ = write!(message, ": it belongs under `{home}`");
        let right = parent.node().filter(|_| is_first).map(|node| {
            let moved = |key: &str| !fields.contains_key(key) && home_of(schema, fields, key) == Some(home);
            yaml(&nested(node, home, moved))
        });
        issues.add(unknown, message, right.map(|yaml| format!("write:\n{yaml}")));
        return;
    }
    let meant = nearest(key, fields.keys().map(String::as_str));
    issues.add(unknown, message, meant.map(|name| format!("did you mean `{name}`?")));
}

/// Whether a path leads to a direct child of `parent`.
fn is_sibling(path: &str, parent: &Field<'_, '_>) -> bool {
    path.rsplit_once('.').is_some_and(|(before, _)| before == parent.path())
}

/// The one field of the structure whose own structure has a field `key`. Where the structure has
/// metadata there are too many names in common for a guess.
fn home_of<'f>(schema: &Schema, fields: &'f BTreeMap<String, TypeId>, key: &str) -> Option<&'f str> {
    let has_key = |(name, id): &(&String, &TypeId)| {
        let inner = match schema.get(**id) {
            Type::Structure { fields, .. } => Some(fields),
            _ => None,
        };
        !matches!(name.as_str(), "metadata" | "status")
            && inner.is_some_and(|fields| fields.contains_key(key))
    };
    let mut homes = fields.iter().filter(has_key);
    let home = homes.next()?;
    homes.next().is_none().then_some(home.0.as_str())
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
