//! A document as a tree of values that know their place in the file.
//!
//! Every check and every decoder of this room reads this one form, whether it was written by hand
//! in YAML, dumped as JSON, or received from an API server (then without places).

mod scalar;
mod yaml;

use std::fmt;

use serde_json::Number;

pub use yaml::{Documents, SyntaxError};

/// Deepest nesting that is read. Kubernetes objects stay below 30; its decoder stops at 10,000.
pub const MAX_DEPTH: usize = 128;

/// A place in a file. Lines and columns count from 1; line 0 means no place at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A value with its place.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Node {
    /// Where the value begins.
    pub place: Place,
    /// The value.
    pub value: Value,
}

/// One entry of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Where the key begins.
    pub place: Place,
    /// The key.
    pub key: Box<str>,
    /// The value.
    pub node: Node,
}

/// The values that JSON knows, integers apart from other numbers.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Value {
    /// `null`, `~`, or nothing at all.
    #[default]
    Null,
    /// A truth value.
    Bool(bool),
    /// An integer that fits 64 bits.
    Int(i64),
    /// Any other number. Never NaN or infinite.
    Float(f64),
    /// Text.
    String(Box<str>),
    /// A list.
    List(Vec<Node>),
    /// A map in the order in which it was written; keys are unique.
    Map(Vec<Entry>),
}

impl Value {
    /// What Go's JSON decoder calls this kind of value.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::Float(_) => "number",
            Self::String(_) => "string",
            Self::List(_) => "array",
            Self::Map(_) => "object",
        }
    }
}

impl Node {
    /// A value of a map by key; nothing if this is no map, the key is absent or its value `null`.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.node).filter(|node| node.value != Value::Null)
    }

    /// The same, to change.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        let Value::Map(entries) = &mut self.value else { return None };
        let entry = entries.iter_mut().find(|entry| &*entry.key == key)?;
        Some(&mut entry.node).filter(|node| node.value != Value::Null)
    }

    /// The entry of a map by key, `null` or not.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| &*entry.key == key)
    }

    /// Takes the value of a key out of a map.
    pub fn take(&mut self, key: &str) -> Option<Entry> {
        let Value::Map(entries) = &mut self.value else { return None };
        let at = entries.iter().position(|entry| &*entry.key == key)?;
        Some(entries.remove(at))
    }

    /// Adds an entry to a map; anything else stays as it is.
    pub fn put(&mut self, entry: Entry) {
        if let Value::Map(entries) = &mut self.value {
            entries.push(entry);
        }
    }

    /// The entries of a map; none if this is no map.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; none if this is no list.
    pub fn items(&self) -> &[Self] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.value {
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// The text under a key.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// The integer. As in Kubernetes, a whole number written with a fraction or exponent is one.
    #[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
    pub fn as_i64(&self) -> Option<i64> {
        match self.value {
            Value::Int(number) => Some(number),
            // 2^63 itself is a float that does not fit.
            Value::Float(number) if number.fract() == 0.0 && number.abs() < 9.223_372_036_854_775e18 => {
                Some(number as i64)
            }
            _ => None,
        }
    }

    /// The truth value, if it is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.value {
            Value::Bool(truth) => Some(truth),
            _ => None,
        }
    }

    /// The same without places, as JSON.
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(truth) => (*truth).into(),
            Value::Int(number) => (*number).into(),
            Value::Float(number) => Number::from_f64(*number).into(),
            Value::String(text) => (&**text).into(),
            Value::List(items) => items.iter().map(Self::to_json).collect(),
            Value::Map(entries) => {
                entries.iter().map(|entry| (String::from(&*entry.key), entry.node.to_json())).collect()
            }
        }
    }
}

impl From<&serde_json::Value> for Node {
    fn from(json: &serde_json::Value) -> Self {
        use serde_json::Value as Json;
        let value = match json {
            Json::Null => Value::Null,
            Json::Bool(truth) => Value::Bool(*truth),
            Json::Number(number) => match number.as_i64() {
                Some(number) => Value::Int(number),
                None => Value::Float(number.as_f64().unwrap_or(0.0)),
            },
            Json::String(text) => Value::String(text.as_str().into()),
            Json::Array(items) => Value::List(items.iter().map(Self::from).collect()),
            Json::Object(map) => Value::Map(map.iter().map(Entry::from).collect()),
        };
        Self { place: Place::default(), value }
    }
}

impl From<(&String, &serde_json::Value)> for Entry {
    fn from((key, value): (&String, &serde_json::Value)) -> Self {
        Self { place: Place::default(), key: key.as_str().into(), node: value.into() }
    }
}
