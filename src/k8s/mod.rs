//! API objects to model and back, with the checks of a real API server; no network, no files.
//!
//! - [`tree`]: YAML and JSON as values that know their place;
//! - [`decode`]: objects of an API server, or checked ones, as the model's nouns.

pub mod decode;
mod field;
mod finding;
pub mod tree;

pub use decode::Interner;
pub use field::Field;
pub use finding::{Finding, Issue, Issues};
pub use tree::{Documents, Place, SyntaxError};
