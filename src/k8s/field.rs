//! A position in an object: the value there, the path to it, and its place in the file.

use std::fmt;

use super::tree::{Node, Place, Value};

/// A field of an object, there or not. `null` is as good as absent, as in Kubernetes.
///
/// Paths print as upstream's `field.Path`: `spec.devices.requests[0].name`.
#[derive(Clone, Copy)]
pub struct Field<'n, 'p> {
    node: Option<&'n Node>,
    /// The nearest value that is there, for the place of what is missing.
    place: Place,
    step: Step<'n>,
    parent: Option<&'p Field<'n, 'p>>,
}

#[derive(Clone, Copy)]
enum Step<'n> {
    Root,
    Name(&'n str),
    Index(usize),
    Key(&'n str),
}

impl<'n, 'p> Field<'n, 'p> {
    /// The object itself.
    pub fn root(node: &'n Node) -> Self {
        Self { node: Some(node), place: node.place, step: Step::Root, parent: None }
    }

    /// A field by name.
    pub fn child<'s>(&'s self, name: &'static str) -> Field<'n, 's>
    where
        'p: 's,
    {
        let entry = self.node.and_then(|node| node.entry(name));
        let node = entry.map(|entry| &entry.node).filter(|node| node.value != Value::Null);
        let place = entry.map_or(self.place, |entry| entry.place);
        Field { node, place, step: Step::Name(name), parent: Some(self) }
    }

    /// The items of a list.
    pub fn items<'s>(&'s self) -> impl ExactSizeIterator<Item = Field<'n, 's>>
    where
        'p: 's,
    {
        self.node.map_or(&[][..], Node::items).iter().enumerate().map(move |(index, node)| Field {
            node: Some(node).filter(|node| node.value != Value::Null),
            place: node.place,
            step: Step::Index(index),
            parent: Some(self),
        })
    }

    /// The entries of a map.
    pub fn entries<'s>(&'s self) -> impl ExactSizeIterator<Item = (&'n str, Field<'n, 's>)>
    where
        'p: 's,
    {
        self.node.map_or(&[][..], Node::entries).iter().map(move |entry| {
            let field = Field {
                node: Some(&entry.node).filter(|node| node.value != Value::Null),
                place: entry.place,
                step: Step::Key(&entry.key),
                parent: Some(self),
            };
            (&*entry.key, field)
        })
    }

    /// An entry that the map lacks.
    pub fn missing<'s>(&'s self, key: &'n str) -> Field<'n, 's>
    where
        'p: 's,
    {
        Field { node: None, place: self.place, step: Step::Key(key), parent: Some(self) }
    }

    /// The entries of a map that is a structure, as fields.
    pub(super) fn fields<'s>(&'s self) -> impl Iterator<Item = (&'n str, Field<'n, 's>)>
    where
        'p: 's,
    {
        self.entries().map(|(name, field)| (name, Field { step: Step::Name(name), ..field }))
    }

    /// The value, if there is one.
    pub fn node(&self) -> Option<&'n Node> {
        self.node
    }

    /// Whether there is a value.
    pub fn is_set(&self) -> bool {
        self.node.is_some()
    }

    /// How many items or entries it has.
    pub fn len(&self) -> usize {
        self.node.map_or(0, |node| node.items().len().max(node.entries().len()))
    }

    /// Whether it has no items and no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The text, if it is one.
    pub fn str(&self) -> Option<&'n str> {
        self.node.and_then(Node::as_str)
    }

    /// The text; empty if there is none.
    pub fn text(&self) -> &'n str {
        self.str().unwrap_or_default()
    }

    /// The integer, if it is one.
    pub fn int(&self) -> Option<i64> {
        self.node.and_then(Node::as_i64)
    }

    /// The truth value, if it is one.
    pub fn bool(&self) -> Option<bool> {
        self.node.and_then(Node::as_bool)
    }

    /// Whether it is `true`.
    pub fn is_true(&self) -> bool {
        self.bool() == Some(true)
    }

    /// The place of the key or item, or of what should have it.
    pub fn place(&self) -> Place {
        self.place
    }

    /// The path.
    pub fn path(&self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Field<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(parent) = self.parent else { return Ok(()) };
        parent.fmt(f)?;
        match self.step {
            Step::Root => Ok(()),
            Step::Name(name) if parent.parent.is_none() => f.write_str(name),
            Step::Name(name) => write!(f, ".{name}"),
            Step::Index(index) => write!(f, "[{index}]"),
            Step::Key(key) => write!(f, "[{key}]"),
        }
    }
}
