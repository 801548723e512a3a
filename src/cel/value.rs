//! Values at run time. What a device or a constant holds is borrowed, so that reading an attribute
//! allocates nothing.

mod equal;

use core::net::IpAddr;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

pub(super) use self::equal::equal;
use super::device::DeviceMap;
use super::error::EvalError;
use super::library::{Cidr, GoDuration, NamedFormat, Timestamp, Url};
use crate::model::{Name, Quantity};

/// A value, or the failure that took its place. Failures are values in CEL: `||` may absorb them.
pub(super) type Outcome<'a> = Result<Value<'a>, Arc<EvalError>>;

/// Something borrowed or shared.
#[derive(Debug)]
pub enum Shared<'a, T: ?Sized> {
    /// From the device or the program.
    Borrowed(&'a T),
    /// Made during the evaluation.
    Owned(Arc<T>),
}

impl<T: ?Sized> Clone for Shared<'_, T> {
    fn clone(&self) -> Self {
        match self {
            Self::Borrowed(value) => Self::Borrowed(value),
            Self::Owned(value) => Self::Owned(Arc::clone(value)),
        }
    }
}

impl<T: ?Sized> Deref for Shared<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        match self {
            Self::Borrowed(value) => value,
            Self::Owned(value) => value,
        }
    }
}

/// A text.
pub type Text<'a> = Shared<'a, str>;

/// A CEL value.
#[derive(Clone, Debug)]
pub enum Value<'a> {
    /// null
    Null,
    /// bool
    Bool(bool),
    /// int
    Int(i64),
    /// uint
    Uint(u64),
    /// double
    Double(f64),
    /// string
    String(Text<'a>),
    /// bytes
    Bytes(Arc<[u8]>),
    /// list
    List(List<'a>),
    /// map
    Map(Map<'a>),
    /// `optional_type`
    Optional(Option<Arc<Value<'a>>>),
    /// kubernetes.Quantity
    Quantity {
        /// The amount.
        amount: Shared<'a, Quantity>,
        /// Whether `add` or `sub` made it, which upstream's equality does not take on its right.
        computed: bool,
    },
    /// kubernetes.Semver; a text that parses as one.
    Semver(Text<'a>),
    /// google.protobuf.Duration, in nanoseconds.
    Duration(i64),
    /// google.protobuf.Timestamp
    Timestamp(Timestamp),
    /// net.IP, none of them IPv4 in IPv6.
    Ip(IpAddr),
    /// net.CIDR
    Cidr(Cidr),
    /// kubernetes.URL
    Url(Arc<Url>),
    /// kubernetes.NamedFormat
    Format(&'static NamedFormat),
    /// A type.
    Type(TypeName),
}

/// A type as a value: two types are equal if their names are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TypeName(pub &'static str);

/// A list. Those of a device are not copied.
#[derive(Clone, Debug)]
pub enum List<'a> {
    /// Made during the evaluation or written in the expression.
    Values(Arc<Nested<Vec<Value<'a>>>>),
    /// An attribute.
    Ints(&'a [i64]),
    /// An attribute.
    Bools(&'a [bool]),
    /// An attribute.
    Strings(&'a [Name]),
    /// An attribute.
    Versions(&'a [Name]),
}

/// What holds other values, with how deep they nest.
#[derive(Clone, Debug)]
pub struct Nested<T> {
    /// The elements.
    pub items: T,
    /// 1, or one more than the deepest element.
    pub depth: usize,
}

/// How deep values may nest. Upstream has no limit but the length of an expression.
pub(super) const DEPTH_MAX: usize = 300;

/// A map.
#[derive(Clone, Debug)]
pub enum Map<'a> {
    /// Made during the evaluation or written in the expression.
    Entries(Arc<Nested<Entries<'a>>>),
    /// A view of the device.
    Device(DeviceMap<'a>),
}

/// Keys as written with their values, by what they equal.
pub type Entries<'a> = BTreeMap<Key, (Value<'a>, Value<'a>)>;

/// The key under which a map has this very quantity, and not just one that is equal to it.
pub(super) fn identity(entries: &Entries<'_>, key: &Value<'_>) -> Option<Key> {
    let Value::Quantity { amount, .. } = key else { return None };
    let is_same = |known: &Value<'_>| matches!(known, Value::Quantity { amount: known, .. } if std::ptr::eq(&raw const **known, &raw const **amount));
    entries.iter().find(|(_, (known, _))| is_same(known)).map(|(hash, _)| hash.clone())
}

/// What makes map keys equal: numbers of the same value are the same key, whatever their type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// null
    Null,
    /// bool
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// Another number, by its bits.
    Double(u64),
    /// string
    String(Arc<str>),
    /// google.protobuf.Duration
    Duration(i64),
    /// google.protobuf.Timestamp: seconds, nanoseconds and offset.
    Timestamp(i64, u32, i32),
    /// net.IP
    Ip(IpAddr),
    /// net.CIDR
    Cidr(IpAddr, u8),
    /// type
    Type(&'static str),
    /// A value that equals no other as a key, by its place in the map.
    Alone(usize),
}

impl<'a> Value<'a> {
    /// A text made during the evaluation.
    pub(super) fn text(text: impl Into<Arc<str>>) -> Self {
        Self::String(Shared::Owned(text.into()))
    }

    /// A list made during the evaluation.
    pub(super) fn list(values: Vec<Self>) -> Self {
        let depth = 1 + values.iter().map(Self::depth).max().unwrap_or(0);
        Self::List(List::Values(Arc::new(Nested { items: values, depth })))
    }

    /// How deep it nests; 0 if it holds no values.
    pub(super) fn depth(&self) -> usize {
        let mut value = self;
        let mut depth = 0;
        while let Self::Optional(Some(inner)) = value {
            value = inner;
            depth += 1;
        }
        depth
            + match value {
                Self::List(List::Values(values)) => values.depth,
                Self::Map(Map::Entries(entries)) => entries.depth,
                _ => 0,
            }
    }

    /// A present optional.
    pub(super) fn some(value: Self) -> Self {
        Self::Optional(Some(Arc::new(value)))
    }

    /// A quantity made during the evaluation.
    pub(super) fn quantity(amount: Quantity, computed: bool) -> Self {
        Self::Quantity { amount: Shared::Owned(Arc::new(amount)), computed }
    }

    /// The name of the value's type.
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool(_) => "bool",
            Self::Int(_) => "int",
            Self::Uint(_) => "uint",
            Self::Double(_) => "double",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "list",
            Self::Map(_) => "map",
            Self::Optional(_) => "optional_type",
            Self::Quantity { .. } => "kubernetes.Quantity",
            Self::Semver(_) => "kubernetes.Semver",
            Self::Duration(_) => "google.protobuf.Duration",
            Self::Timestamp(_) => "google.protobuf.Timestamp",
            Self::Ip(_) => "net.IP",
            Self::Cidr(_) => "net.CIDR",
            Self::Url(_) => "kubernetes.URL",
            Self::Format(_) => "kubernetes.NamedFormat",
            Self::Type(_) => "type",
        }
    }

    /// The map key that it is, if values of its type can be keys.
    pub(super) fn key(&self) -> Option<Key> {
        Some(match self {
            Self::Null => Key::Null,
            Self::Bool(value) => Key::Bool(*value),
            Self::Int(value) => Key::Int(i128::from(*value)),
            Self::Uint(value) => Key::Int(i128::from(*value)),
            Self::Double(value) => double_key(*value),
            Self::String(text) => Key::String(Arc::from(&**text)),
            Self::Type(name) => Key::Type(name.0),
            Self::Duration(nanos) => Key::Duration(*nanos),
            Self::Timestamp(point) => Key::Timestamp(point.seconds, point.nanos, point.offset),
            Self::Ip(address) => Key::Ip(*address),
            Self::Cidr(cidr) => Key::Cidr(cidr.address, cidr.bits),
            _ => return None,
        })
    }

    /// The elements of a list, the keys of a map.
    pub(super) fn list_items(&self) -> Option<List<'a>> {
        match self {
            Self::List(list) => Some(list.clone()),
            _ => None,
        }
    }
}

#[allow(clippy::cast_possible_truncation, clippy::float_cmp)]
fn double_key(value: f64) -> Key {
    let whole = value.trunc() == value && value.abs() < 2_f64.powi(64);
    if whole { Key::Int(value as i128) } else { Key::Double(value.to_bits()) }
}

impl<'a> List<'a> {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Values(values) => values.items.len(),
            Self::Ints(values) => values.len(),
            Self::Bools(values) => values.len(),
            Self::Strings(values) | Self::Versions(values) => values.len(),
        }
    }

    pub(super) fn get(&self, at: usize) -> Option<Value<'a>> {
        match self {
            Self::Values(values) => values.items.get(at).cloned(),
            Self::Ints(values) => values.get(at).map(|value| Value::Int(*value)),
            Self::Bools(values) => values.get(at).map(|value| Value::Bool(*value)),
            Self::Strings(values) => {
                values.get(at).map(|text| Value::String(Shared::Borrowed(text.as_str())))
            }
            Self::Versions(values) => {
                values.get(at).map(|text| Value::Semver(Shared::Borrowed(text.as_str())))
            }
        }
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = Value<'a>> + '_ {
        (0..self.len()).filter_map(|at| self.get(at))
    }
}

impl<'a> Map<'a> {
    /// A map made during the evaluation.
    pub(super) fn new(entries: Entries<'a>) -> Self {
        let depth = 1 + entries.values().map(|(_, value)| value.depth()).max().unwrap_or(0);
        Self::Entries(Arc::new(Nested { items: entries, depth }))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Entries(entries) => entries.items.len(),
            Self::Device(view) => view.len(),
        }
    }

    /// The value of a key. A device's map of domains has a value for every one.
    pub(super) fn find(&self, key: &Value<'a>) -> Option<Value<'a>> {
        match self {
            Self::Entries(entries) => {
                let hash = key.key().or_else(|| identity(&entries.items, key))?;
                Some(entries.items.get(&hash)?.1.clone())
            }
            Self::Device(view) => match key {
                Value::String(text) => view.find(text),
                _ => view.is_open().then(|| Value::Map(Map::new(Entries::new()))),
            },
        }
    }

    /// Whether the key is really there.
    pub(super) fn contains(&self, key: &Value<'a>) -> bool {
        match (self, key) {
            (Self::Device(view), Value::String(text)) => view.contains(text),
            (Self::Device(_), _) => false,
            _ => self.find(key).is_some(),
        }
    }

    /// The type of the map in Go.
    pub(super) fn native(&self) -> &'static str {
        match self {
            Self::Entries(_) => "map[ref.Val]ref.Val",
            Self::Device(view) => view.native(),
        }
    }

    /// All keys with their values, in the order of keys.
    pub(super) fn entries(&self) -> Vec<(Value<'a>, Value<'a>)> {
        match self {
            Self::Entries(entries) => entries.items.values().cloned().collect(),
            Self::Device(view) => view.entries(),
        }
    }
}

impl fmt::Display for Value<'_> {
    /// As cel-go prints it in failures.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Uint(value) => write!(f, "{value}"),
            Self::Double(value) => f.write_str(&super::library::numbers::shortest(*value)),
            Self::String(text) | Self::Semver(text) => f.write_str(text),
            Self::Quantity { amount, .. } => write!(f, "{}", **amount),
            Self::Type(name) => f.write_str(name.0),
            Self::Duration(nanos) => write!(f, "{}", GoDuration(*nanos)),
            Self::Timestamp(point) => write!(f, "{point:#}"),
            Self::Ip(address) => write!(f, "{address}"),
            Self::Cidr(cidr) => write!(f, "{cidr}"),
            Self::Url(url) => f.write_str(&url.text()),
            other => f.write_str(other.type_name()),
        }
    }
}
