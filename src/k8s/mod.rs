//! API objects to model and back, with the checks of a real API server; no network, no files.
//!
//! - [`tree`]: YAML and JSON as values that know their place;
//! - [`read()`] and [`Reader`]: whole files of objects, each checked, and decoded if it passes;
//! - [`decode`]: objects of an API server, or checked ones, as the model's nouns;
//! - [`encode`]: the nouns as the API writes them;
//! - [`mistakes`]: what was probably meant by a selector or name that leads nowhere.

mod convert;
pub mod decode;
pub mod encode;
mod field;
mod finding;
mod kind;
pub mod mistakes;
mod nearest;
mod read;
mod schema;
pub mod tree;
mod validate;

/// The annotation of claims that a scheduler made for the extended resources of a pod (KEP-5004).
pub const EXTENDED_RESOURCE_CLAIM: &str = "resource.kubernetes.io/extended-resource-claim";

pub use decode::{Interner, Namespace, Workload, WorkloadKind};
pub use field::Field;
pub use finding::{Finding, Issue, Issues};
pub use kind::{Kind, Version};
pub use nearest::nearest;
pub use read::{Objects, Read, ReadError, Reader, Source, read};
pub use tree::{Documents, Place, SyntaxError};

#[cfg(test)]
mod tests;
