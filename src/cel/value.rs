//! Values at run time. What a device or a constant holds is borrowed, so that reading an attribute
//! allocates nothing.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use super::cost::Meter;
use super::device::DeviceMap;
use super::error::EvalError;
use super::semver;
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
            Self::Entries(entries) => Some(entries.items.get(&key.key()?)?.1.clone()),
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

/// `a == b`. A quantity or version on the left does not compare with anything else.
///
/// # Errors
/// The values do not compare, or it would take too long: shared elements are compared as often as
/// they are referred to.
pub(super) fn equal<'a>(a: &Value<'a>, b: &Value<'a>, meter: &mut Meter) -> Result<bool, Arc<EvalError>> {
    Ok(match (a, b) {
        (Value::Null, _) | (_, Value::Null) => matches!((a, b), (Value::Null, Value::Null)),
        (Value::Quantity { amount: a, .. }, Value::Quantity { amount: b, computed: false }) => {
            a.compare(b).is_eq()
        }
        (Value::Semver(a), Value::Semver(b)) => semver::compare(a, b).is_eq(),
        (Value::Quantity { .. } | Value::Semver(_), _) => return EvalError::overload(),
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::String(a), Value::String(b)) => **a == **b,
        (Value::Bytes(a), Value::Bytes(b)) => a == b,
        (Value::Type(a), Value::Type(b)) => a == b,
        (Value::List(a), Value::List(b)) => {
            meter.elements(a.len().min(b.len()))?;
            // Upstream looks for a false, so an element that does not compare counts as equal.
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| equal(&a, &b, meter).unwrap_or(true))
        }
        (Value::Map(a), Value::Map(b)) => {
            meter.elements(a.len().min(b.len()))?;
            a.len() == b.len()
                && a.entries().into_iter().all(|(key, value)| {
                    b.find(&key).is_some_and(|other| equal(&value, &other, meter).unwrap_or(true))
                })
        }
        (Value::Optional(a), Value::Optional(b)) => match (a, b) {
            (Some(a), Some(b)) => return equal(a, b, meter),
            (a, b) => a.is_none() && b.is_none(),
        },
        (a, b) => super::library::numbers::compare(a, b).is_some_and(std::cmp::Ordering::is_eq),
    })
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
            other => f.write_str(other.type_name()),
        }
    }
}
