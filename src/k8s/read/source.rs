//! Where an object came from.

use std::sync::Arc;

use crate::k8s::finding::{Finding, Issue};
use crate::k8s::tree::SyntaxError;

/// The place of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file, as it was named.
    pub file: Arc<str>,
    /// The line in which the object begins.
    pub line: u32,
}

/// An object with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read<T> {
    /// The object.
    pub object: T,
    /// Its place.
    pub source: Source,
}

/// A file that is not YAML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The file, as it was named.
    pub file: Arc<str>,
    /// Where and why.
    pub error: SyntaxError,
}

impl std::error::Error for ReadError {}

impl Source {
    pub(super) fn keep<T>(&self, list: &mut Vec<Read<T>>, object: T) {
        list.push(Read { object, source: self.clone() });
    }

    /// An issue of an object from here.
    pub(in crate::k8s) fn finding(&self, object: &str, issue: Issue) -> Finding {
        Finding {
            object: object.to_owned(),
            field: issue.field,
            message: issue.message,
            hint: issue.hint,
            file: self.file.to_string(),
            line: if issue.place.line == 0 { self.line } else { issue.place.line },
        }
    }
}
