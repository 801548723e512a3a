//! `Node` and `Namespace`.

use super::{Interner, Result, boolean, labels, name, names, resources, taint};
use crate::k8s::field::Field;
use crate::k8s::tree::Node as Tree;
use crate::model::resources::PODS;
use crate::model::{Labels, Name, Node, NodeName, ResourceAmounts};

/// A namespace, for what its labels permit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Namespace {
    /// `metadata.name`.
    pub name: Name,
    /// `metadata.labels`.
    pub labels: Labels,
}

impl Namespace {
    /// The label that permits claims with `adminAccess` (KEP-5018).
    pub const ADMIN_ACCESS_LABEL: &str = "resource.kubernetes.io/admin-access";

    /// Whether claims of this namespace may ask for `adminAccess`.
    pub fn permits_admin_access(&self) -> bool {
        self.labels.get(Self::ADMIN_ACCESS_LABEL).is_some_and(|value| *value == "true")
    }
}

/// A `Namespace` of `v1`.
///
/// # Errors
/// A field of a type that the API does not have there.
pub fn namespace(object: &Tree, interner: &mut Interner) -> Result<Namespace> {
    let object = Field::root(object);
    let metadata = object.child("metadata");
    Ok(Namespace {
        name: name(&metadata.child("name"), interner)?,
        labels: labels(&metadata.child("labels"), interner)?,
    })
}

/// A `Node` of `v1`.
///
/// # Errors
/// A field of a type that the API does not have there.
pub fn node(object: &Tree, interner: &mut Interner) -> Result<Node> {
    let object = Field::root(object);
    let metadata = object.child("metadata");
    let spec = object.child("spec");
    let taints = spec.child("taints");
    let status = object.child("status");
    let allocatable = status.child("allocatable");
    // As an API server defaults it.
    let allocatable = if allocatable.is_set() { allocatable } else { status.child("capacity") };
    let allocatable = resources(&allocatable, interner)?;
    let pods = allocatable.iter().find(|(name, _)| *name == PODS);
    Ok(Node {
        name: NodeName(name(&metadata.child("name"), interner)?),
        labels: labels(&metadata.child("labels"), interner)?,
        unschedulable: boolean(&spec.child("unschedulable"))?.unwrap_or(false),
        taints: taints.items().map(|item| taint(&item, interner)).collect::<Result<_>>()?,
        allocatable_pods: pods.map_or(0, |(_, quantity)| quantity.value()),
        allocatable: ResourceAmounts::of(&allocatable),
        declared_features: names(&status.child("declaredFeatures"), interner)?,
    })
}
