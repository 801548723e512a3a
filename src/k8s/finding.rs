//! What is wrong with an object, in the words of an API server.

use std::fmt::{Display, Write as _};

use serde::Serialize;

use super::field::Field;
use super::tree::Place;

/// One reason why an API server would refuse an object, or silently drop a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// `Kind/namespace/name`, or `Kind/name` of what has no namespace.
    pub object: String,
    /// The field, as upstream's paths print.
    pub field: String,
    /// What is wrong; complete without the field.
    pub message: String,
    /// The right form, where the mistake is known.
    pub hint: Option<String>,
    /// The file.
    pub file: String,
    /// The line in it; 0 if the object has no place in a file.
    pub line: u32,
}

/// One finding inside an object that is being checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The field.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// The right form.
    pub hint: Option<String>,
    /// Where.
    pub place: Place,
    /// The CEL expression that does not compile; what was meant is known when all devices are.
    pub expression: Option<Box<str>>,
}

/// Collects issues; the methods are upstream's constructors of `field.Error` and print alike.
#[derive(Clone, Debug, Default)]
pub struct Issues {
    list: Vec<Issue>,
}

impl Issues {
    /// All issues, in the order in which they were found.
    pub fn into_list(self) -> Vec<Issue> {
        self.list
    }

    /// The issues so far.
    pub fn list(&self) -> &[Issue] {
        &self.list
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Adds an issue.
    pub fn add(&mut self, field: &Field<'_, '_>, message: String, hint: Option<String>) {
        self.list.push(Issue { field: field.path(), message, hint, place: field.place(), expression: None });
    }

    /// Adds an issue that has no field of its own.
    pub fn push(&mut self, issue: Issue) {
        self.list.push(issue);
    }

    /// A CEL expression does not compile.
    pub fn uncompiled(&mut self, field: &Field<'_, '_>, expression: &str, detail: &str) {
        self.invalid(field, expression, detail);
        if let Some(issue) = self.list.last_mut() {
            issue.expression = Some(expression.into());
        }
    }

    /// A value is missing.
    pub fn required(&mut self, field: &Field<'_, '_>, detail: &str) {
        self.detailed(field, "Required value".to_owned(), detail);
    }

    /// A text is wrong.
    pub fn invalid(&mut self, field: &Field<'_, '_>, value: &str, detail: &str) {
        self.detailed(field, format!("Invalid value: {}", quoted(value)), detail);
    }

    /// A number, truth value or structure is wrong.
    pub fn invalid_value(&mut self, field: &Field<'_, '_>, value: impl Display, detail: &str) {
        self.detailed(field, format!("Invalid value: {value}"), detail);
    }

    /// A value may not be there.
    pub fn forbidden(&mut self, field: &Field<'_, '_>, detail: &str) {
        self.detailed(field, "Forbidden".to_owned(), detail);
    }

    /// A value is there already.
    pub fn duplicate(&mut self, field: &Field<'_, '_>, value: &str) {
        self.detailed(field, format!("Duplicate value: {}", quoted(value)), "");
    }

    /// A reference leads nowhere.
    pub fn not_found(&mut self, field: &Field<'_, '_>, value: &str, detail: &str) {
        self.detailed(field, format!("Not found: {}", quoted(value)), detail);
    }

    /// A value is none of those allowed.
    pub fn unsupported(&mut self, field: &Field<'_, '_>, value: &str, supported: &[&str]) {
        let supported: Vec<_> = supported.iter().map(|value| quoted(value)).collect();
        let detail = format!("supported values: {}", supported.join(", "));
        self.detailed(field, format!("Unsupported value: {}", quoted(value)), &detail);
    }

    /// A text is too long.
    pub fn too_long(&mut self, field: &Field<'_, '_>, max: usize) {
        self.detailed(field, "Too long".to_owned(), &format!("may not be more than {max} bytes"));
    }

    /// A list or map has too many entries.
    pub fn too_many(&mut self, field: &Field<'_, '_>, count: usize, max: usize) {
        let items = if max == 1 { "item" } else { "items" };
        self.detailed(field, format!("Too many: {count}"), &format!("must have at most {max} {items}"));
    }

    fn detailed(&mut self, field: &Field<'_, '_>, mut message: String, detail: &str) {
        if !detail.is_empty() {
            message.push_str(": ");
            message.push_str(detail);
        }
        self.add(field, format!("{field}: {message}"), None);
    }
}

/// A text in quotes as Go's `%q` prints it.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => drop(write!(quoted, "\\x{:02x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
