//! Walks an object along its shape: unknown fields and wrong types.

use super::misplaced::Unknown;
use super::{Schema, Type};
use crate::k8s::decode::{parse_quantity, parse_time};
use crate::k8s::field::Field;
use crate::k8s::finding::{Issues, quoted};
use crate::k8s::kind::Version;
use crate::k8s::tree::{Node, Value};

/// Finds every field that the kind does not have, and every value of a wrong type.
///
/// Messages are those of an API server with strict field validation. An object that a server
/// stored may have fields of a later release: there only known mistakes are reported.
pub fn check(object: &Node, schema: &Schema, version: Version, issues: &mut Issues) {
    let root = Field::root(object);
    let stored = object.get("metadata").is_some_and(|metadata| metadata.get("resourceVersion").is_some());
    Walk { schema, version, stored, issues }.visit(&root, schema.root());
}

struct Walk<'w> {
    schema: &'w Schema,
    version: Version,
    stored: bool,
    issues: &'w mut Issues,
}

impl Walk<'_> {
    fn visit(&mut self, field: &Field<'_, '_>, of_type: &Type) {
        let Some(node) = field.node() else { return };
        let schema = self.schema;
        match (of_type, &node.value) {
            (Type::Structure { name, fields }, Value::Map(_)) => {
                let parent = field;
                for (key, child) in field.fields() {
                    if let Some(id) = fields.get(key) {
                        self.visit(&child, schema.get(*id));
                        continue;
                    }
                    let (version, field) = (self.version, &child);
                    let unknown = Unknown { schema, version, structure: name, fields, parent, field, key };
                    unknown.report(self.stored, self.issues);
                }
            }
            (Type::Map(values), Value::Map(_)) => {
                for (_, child) in field.fields() {
                    self.visit(&child, schema.get(*values));
                }
            }
            (Type::List(items), Value::List(_)) => {
                for child in field.items() {
                    self.visit(&child, schema.get(*items));
                }
            }
            _ => self.scalar(field, node, of_type),
        }
    }

    fn scalar(&mut self, field: &Field<'_, '_>, node: &Node, of_type: &Type) {
        let whole = node.as_i64();
        let fits = match of_type {
            Type::Any => true,
            Type::Text => node.as_str().is_some(),
            Type::Time => node.as_str().is_some_and(|text| parse_time(text).is_some()),
            Type::Bool => node.as_bool().is_some(),
            Type::Int32 => whole.is_some_and(|number| i32::try_from(number).is_ok()),
            Type::Int64 => whole.is_some(),
            Type::Number => matches!(node.value, Value::Int(_) | Value::Float(_)),
            Type::Quantity => parse_quantity(node).is_some(),
            Type::IntOrText => node.as_str().is_some() || whole.is_some_and(|n| i32::try_from(n).is_ok()),
            Type::List(_) | Type::Map(_) | Type::Structure { .. } => false,
        };
        if !fits {
            let message = format!("{field}: expected {}, found {}", expected(of_type), found(node));
            self.issues.add(field, message, hint(node, of_type));
        }
    }
}

fn expected(of_type: &Type) -> &'static str {
    match of_type {
        Type::Any => "anything",
        Type::Text => "a string",
        Type::Time => "a time as in RFC 3339, such as \"2026-01-31T12:00:00Z\"",
        Type::Bool => "true or false",
        Type::Int32 => "an integer of 32 bits",
        Type::Int64 => "an integer of 64 bits",
        Type::Number => "a number",
        Type::Quantity => "a quantity, such as \"40Gi\"",
        Type::IntOrText => "an integer or a string",
        Type::List(_) => "a list",
        Type::Map(_) | Type::Structure { .. } => "a map",
    }
}

fn found(node: &Node) -> String {
    match &node.value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => format!("the truth value {truth}"),
        Value::Int(number) => format!("the number {number}"),
        Value::Float(number) => format!("the number {number}"),
        Value::String(text) if text.chars().count() > 60 => "a string".to_owned(),
        Value::String(text) => format!("the string {}", quoted(text)),
        Value::List(_) => "a list".to_owned(),
        Value::Map(_) => "a map".to_owned(),
    }
}

fn hint(node: &Node, of_type: &Type) -> Option<String> {
    match (of_type, &node.value) {
        (Type::Text, Value::Bool(_) | Value::Int(_) | Value::Float(_)) => Some(
            "in YAML, put it in quotes: unquoted numbers and yes, no, on, off, true, false are not strings"
                .to_owned(),
        ),
        (Type::Int32 | Type::Int64 | Type::Bool, Value::String(_)) => {
            Some("write it without quotes".to_owned())
        }
        (Type::List(_), Value::Map(_)) => Some("begin each item of the list with `- `".to_owned()),
        (Type::Structure { fields, .. }, Value::String(_)) if fields.len() == 1 => {
            fields.keys().next().map(|field| format!("write it one level deeper, as `{field}:`"))
        }
        (Type::Structure { .. } | Type::Map(_), Value::List(_)) => {
            Some("write it without the `- `".to_owned())
        }
        _ => None,
    }
}
