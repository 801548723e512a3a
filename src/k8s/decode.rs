//! Objects of an API server, or of a file that was checked, as the model's nouns.
//!
//! Unknown fields are ignored: a newer server may send them. An unknown *member of a union* (a kind
//! of selector, request or constraint) is kept as unknown, so that it is refused later and never
//! read as "nothing asked". Defaults are those that an API server sets.

mod allocation;
mod claim;
mod interner;
mod node;
mod pod;
mod resize;
mod selector;
mod slice;
mod time;
mod workload;

use std::fmt;

use super::field::Field;
use super::tree::Node as Tree;
use crate::model::resources::ResourceList;
use crate::model::{
    Labels, Name, OwnerReference, Quantity, Taint, TaintEffect, Timestamp, Toleration, TolerationOperator,
    Uid,
};

pub use claim::{claim, class, taint_rule, template};
pub use interner::Interner;
pub use node::{Namespace, namespace, node};
pub use pod::{pod, pod_template};
pub use slice::slice;
pub use workload::{Workload, WorkloadKind, workload};

/// Why an object could not be decoded. An API server never sends such an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    /// The field.
    pub field: String,
    /// What was expected there.
    pub expected: &'static str,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: expected {}", self.field, self.expected)
    }
}

impl std::error::Error for DecodeError {}

pub(super) use time::{format as format_time, parse as parse_time};

type Result<T> = std::result::Result<T, DecodeError>;

fn wrong<T>(field: &Field<'_, '_>, expected: &'static str) -> Result<T> {
    Err(DecodeError { field: field.path(), expected })
}

/// The value of a field that may be absent, but may not be of another type.
fn typed<'n, T>(
    field: &Field<'n, '_>,
    of: impl Fn(&'n Tree) -> Option<T>,
    expected: &'static str,
) -> Result<Option<T>> {
    let Some(node) = field.node() else { return Ok(None) };
    match of(node) {
        Some(value) => Ok(Some(value)),
        None => wrong(field, expected),
    }
}

fn text<'n>(field: &Field<'n, '_>) -> Result<Option<&'n str>> {
    typed(field, Tree::as_str, "a text")
}

fn int(field: &Field<'_, '_>) -> Result<Option<i64>> {
    typed(field, Tree::as_i64, "an integer")
}

fn boolean(field: &Field<'_, '_>) -> Result<Option<bool>> {
    typed(field, Tree::as_bool, "a truth value")
}

/// A name; empty if the field is absent.
fn name(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Name> {
    Ok(interner.name(text(field)?.unwrap_or_default()))
}

fn optional_name(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Option<Name>> {
    Ok(text(field)?.map(|text| interner.name(text)))
}

fn names(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Box<[Name]>> {
    field.items().map(|item| name(&item, interner)).collect()
}

/// A map of texts as labels.
fn labels(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Labels> {
    field.entries().map(|(key, value)| Ok((interner.name(key), name(&value, interner)?))).collect()
}

/// An identity. Not interned: hardly any two are equal.
fn uid(field: &Field<'_, '_>) -> Result<Uid> {
    Ok(Uid::from(text(field)?.unwrap_or_default()))
}

fn timestamp(field: &Field<'_, '_>) -> Result<Option<Timestamp>> {
    typed(field, |node| time::parse(node.as_str()?), "a time as in RFC 3339")
}

/// A quantity, written as text or as a plain number.
fn quantity(field: &Field<'_, '_>) -> Result<Option<Quantity>> {
    typed(field, parse_quantity, "a quantity")
}

/// The owner that controls an object.
///
/// # Errors
/// A field of a type that the API does not have there.
pub fn controller_of(object: &Tree, interner: &mut Interner) -> Result<Option<OwnerReference>> {
    claim::controller(&Field::root(object).child("metadata"), interner)
}

/// What a quantity field says, as a quantity.
pub(super) fn parse_quantity(node: &Tree) -> Option<Quantity> {
    use super::tree::Value;
    match &node.value {
        Value::String(text) => text.parse().ok(),
        Value::Int(number) => number.to_string().parse().ok(),
        Value::Float(number) => number.to_string().parse().ok(),
        _ => None,
    }
}

/// A list of resources, sorted by name.
fn resources(field: &Field<'_, '_>, interner: &mut Interner) -> Result<ResourceList> {
    quantities(field, interner)
}

/// A map of quantities, sorted by key.
fn quantities(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Box<[(Name, Quantity)]>> {
    sorted(field, interner, |field, _| Ok(quantity(field)?.unwrap_or_default()))
}

/// A map, sorted by key.
fn sorted<T>(
    field: &Field<'_, '_>,
    interner: &mut Interner,
    of: impl Fn(&Field<'_, '_>, &mut Interner) -> Result<T>,
) -> Result<Box<[(Name, T)]>> {
    let entries = field.entries().map(|(key, value)| Ok((interner.name(key), of(&value, interner)?)));
    let mut entries = entries.collect::<Result<Vec<_>>>()?;
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(entries.into())
}

fn effect(text: &str) -> Option<TaintEffect> {
    (!text.is_empty()).then(|| TaintEffect::parse(text))
}

fn taint(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Taint> {
    Ok(Taint {
        key: name(&field.child("key"), interner)?,
        value: name(&field.child("value"), interner)?,
        effect: TaintEffect::parse(text(&field.child("effect"))?.unwrap_or_default()),
        time_added: timestamp(&field.child("timeAdded"))?,
    })
}

fn tolerations(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Box<[Toleration]>> {
    field.items().map(|item| toleration(&item, interner)).collect()
}

fn toleration(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Toleration> {
    let operator = text(&field.child("operator"))?.unwrap_or_default();
    Ok(Toleration {
        key: name(&field.child("key"), interner)?,
        operator: match operator {
            "" | "Equal" => TolerationOperator::Equal,
            "Exists" => TolerationOperator::Exists,
            other => TolerationOperator::Other(interner.name(other)),
        },
        operator_given: !operator.is_empty(),
        value: name(&field.child("value"), interner)?,
        effect: effect(text(&field.child("effect"))?.unwrap_or_default()),
        toleration_seconds: int(&field.child("tolerationSeconds"))?,
    })
}
