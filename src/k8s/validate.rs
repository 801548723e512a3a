//! The rules of each kind.

use super::finding::Issues;
use super::kind::Kind;
use super::read::Objects;
use super::tree::Node;
use crate::model::Features;

pub(super) fn object(_kind: Kind, _tree: &Node, _features: &Features, _issues: &mut Issues) {}

pub(super) fn across_objects(_objects: &mut Objects) {}
