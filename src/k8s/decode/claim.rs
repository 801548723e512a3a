//! `ResourceClaim`, `ResourceClaimTemplate`, `DeviceClass`, `DeviceTaintRule`.

use std::sync::Arc;

use super::{Interner, Result, allocation, boolean, int, name, names, optional_name, quantities};
use super::{taint, text, timestamp, tolerations, typed, uid, wrong};
use crate::k8s::EXTENDED_RESOURCE_CLAIM;
use crate::k8s::field::Field;
use crate::k8s::tree::Node as Tree;
use crate::model::taint_rule::{DeviceTaintRule, DeviceTaintSelector};
use crate::model::{
    AllocationMode, CLAIM_FINALIZER, ClaimKey, ClaimSpec, ClassName, ConstraintKind, DerivedAttribute,
    DeviceClass, DeviceConfig, DeviceConstraint, DeviceRequest, DeviceRequirement, DeviceSelector, Name,
    OpaqueConfig, OwnerReference, RequestKind, ResourceClaim, ResourceClaimTemplate, Subrequest,
};

/// A `ResourceClaim` of `resource.k8s.io/v1`.
///
/// # Errors
/// A field of a type that the API does not have there.
pub fn claim(object: &Tree, interner: &mut Interner) -> Result<ResourceClaim> {
    let object = Field::root(object);
    let metadata = object.child("metadata");
    let status = object.child("status");
    let allocated = status.child("allocation");
    let annotations = metadata.child("annotations");
    Ok(ResourceClaim {
        key: claim_key(&metadata, interner)?,
        uid: uid(&metadata.child("uid"))?,
        resource_version: Name::from(text(&metadata.child("resourceVersion"))?.unwrap_or_default()),
        controller: controller(&metadata, interner)?,
        for_extended_resources: annotations.node().and_then(|map| map.text(EXTENDED_RESOURCE_CLAIM))
            == Some("true"),
        has_finalizer: metadata.child("finalizers").items().any(|item| item.str() == Some(CLAIM_FINALIZER)),
        deleting: metadata.child("deletionTimestamp").is_set(),
        spec: claim_spec(&object.child("spec"), interner)?,
        allocation: (allocated.is_set())
            .then(|| allocation::allocation(&allocated, interner))
            .transpose()?
            .map(Arc::new),
        reserved_for: allocation::reserved_for(&status.child("reservedFor"), interner)?,
        devices: allocation::device_statuses(&status.child("devices"), interner)?,
    })
}

/// A `ResourceClaimTemplate` of `resource.k8s.io/v1`.
///
/// # Errors
/// A field of a type that the API does not have there.
pub fn template(object: &Tree, interner: &mut Interner) -> Result<ResourceClaimTemplate> {
    let object = Field::root(object);
    Ok(ResourceClaimTemplate {
        key: claim_key(&object.child("metadata"), interner)?,
        spec: claim_spec(&object.child("spec").child("spec"), interner)?,
    })
}

/// A `DeviceClass` of `resource.k8s.io/v1`.
///
/// # Errors
/// A field of a type that the API does not have there.
pub fn class(object: &Tree, interner: &mut Interner) -> Result<DeviceClass> {
    let object = Field::root(object);
    let metadata = object.child("metadata");
    let spec = object.child("spec");
    Ok(DeviceClass {
        name: ClassName(name(&metadata.child("name"), interner)?),
        created: timestamp(&metadata.child("creationTimestamp"))?,
        selectors: selectors(&spec.child("selectors"), interner)?,
        config: configs(&spec.child("config"), interner)?,
        extended_resource_name: optional_name(&spec.child("extendedResourceName"), interner)?,
    })
}

/// A `DeviceTaintRule` of `resource.k8s.io/v1`, `v1beta2` or `v1alpha3`.
///
/// A selector with a criterion that this release does not know, such as `deviceClassName` of
/// `v1alpha3`, matches no device: tainting what was not meant would evict pods.
///
/// # Errors
/// A field of a type that the API does not have there.
pub fn taint_rule(object: &Tree, interner: &mut Interner) -> Result<DeviceTaintRule> {
    let object = Field::root(object);
    let spec = object.child("spec");
    let selector = spec.child("deviceSelector");
    let known = |key: &str| matches!(key, "driver" | "pool" | "device");
    let is_known = selector.entries().all(|(key, field)| known(key) || !field.is_set());
    Ok(DeviceTaintRule {
        name: name(&object.child("metadata").child("name"), interner)?,
        selector: (selector.is_set() && is_known).then(|| taint_selector(&selector, interner)).transpose()?,
        taint: taint(&spec.child("taint"), interner)?,
    })
}

fn taint_selector(selector: &Field<'_, '_>, interner: &mut Interner) -> Result<DeviceTaintSelector> {
    Ok(DeviceTaintSelector {
        driver: optional_name(&selector.child("driver"), interner)?,
        pool: optional_name(&selector.child("pool"), interner)?,
        device: optional_name(&selector.child("device"), interner)?,
    })
}

fn claim_key(metadata: &Field<'_, '_>, interner: &mut Interner) -> Result<ClaimKey> {
    let namespace = name(&metadata.child("namespace"), interner)?;
    Ok(ClaimKey { namespace, name: Name::from(text(&metadata.child("name"))?.unwrap_or_default()) })
}

/// The owner that controls the object.
pub(super) fn controller(
    metadata: &Field<'_, '_>,
    interner: &mut Interner,
) -> Result<Option<OwnerReference>> {
    let owners = metadata.child("ownerReferences");
    let Some(owner) = owners.items().find(|owner| owner.child("controller").is_true()) else {
        return Ok(None);
    };
    Ok(Some(OwnerReference {
        api_version: name(&owner.child("apiVersion"), interner)?,
        kind: name(&owner.child("kind"), interner)?,
        name: name(&owner.child("name"), interner)?,
        uid: uid(&owner.child("uid"))?,
    }))
}

fn claim_spec(spec: &Field<'_, '_>, interner: &mut Interner) -> Result<Arc<ClaimSpec>> {
    let devices = spec.child("devices");
    let requests = devices.child("requests");
    let constraints = devices.child("constraints");
    let spec = ClaimSpec {
        requests: requests.items().map(|item| request(&item, interner)).collect::<Result<_>>()?,
        constraints: constraints.items().map(|item| constraint(&item, interner)).collect::<Result<_>>()?,
        config: configs(&devices.child("config"), interner)?,
    };
    Ok(interner.spec(spec))
}

fn request(field: &Field<'_, '_>, interner: &mut Interner) -> Result<DeviceRequest> {
    let exactly = field.child("exactly");
    let alternatives = field.child("firstAvailable");
    let kind = if exactly.is_set() {
        RequestKind::Exactly(requirement(&exactly, interner)?)
    } else if alternatives.is_empty() {
        RequestKind::Unknown
    } else {
        let subrequests = alternatives.items().map(|item| {
            let name = name(&item.child("name"), interner)?;
            Ok(Subrequest { name, requirement: requirement(&item, interner)? })
        });
        RequestKind::FirstAvailable(subrequests.collect::<Result<_>>()?)
    };
    Ok(DeviceRequest { name: name(&field.child("name"), interner)?, kind })
}

fn requirement(field: &Field<'_, '_>, interner: &mut Interner) -> Result<DeviceRequirement> {
    let capacity = field.child("capacity");
    let derived = field.child("derivedAttributes");
    let derived = derived.items().map(|item| {
        Ok(DerivedAttribute {
            name: name(&item.child("name"), interner)?,
            expression: interner.text(text(&item.child("expression"))?.unwrap_or_default()),
        })
    });
    let derived_attributes = derived.collect::<Result<_>>()?;
    Ok(DeviceRequirement {
        class: ClassName(name(&field.child("deviceClassName"), interner)?),
        selectors: selectors(&field.child("selectors"), interner)?,
        mode: allocation_mode(field, interner)?,
        admin_access: boolean(&field.child("adminAccess"))?,
        tolerations: tolerations(&field.child("tolerations"), interner)?,
        capacity: (capacity.is_set())
            .then(|| quantities(&capacity.child("requests"), interner))
            .transpose()?,
        derived_attributes,
    })
}

/// The mode with the API server's defaults: `ExactCount`, and of that one.
fn allocation_mode(field: &Field<'_, '_>, interner: &mut Interner) -> Result<AllocationMode> {
    let count = int(&field.child("count"))?;
    Ok(match text(&field.child("allocationMode"))?.unwrap_or_default() {
        "" | "ExactCount" => AllocationMode::ExactCount(count.filter(|count| *count != 0).unwrap_or(1)),
        "All" => AllocationMode::All,
        other => AllocationMode::Other(interner.name(other)),
    })
}

fn selectors(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Box<[DeviceSelector]>> {
    let selector = |item: Field<'_, '_>| {
        let expression = text(&item.child("cel").child("expression"))?;
        Ok(DeviceSelector { expression: expression.map(|text| interner.text(text)) })
    };
    field.items().map(selector).collect()
}

fn constraint(field: &Field<'_, '_>, interner: &mut Interner) -> Result<DeviceConstraint> {
    let matched = optional_name(&field.child("matchAttribute"), interner)?;
    let distinct = optional_name(&field.child("distinctAttribute"), interner)?;
    // Upstream lets both be set, and then only the first counts.
    let kind = matched
        .map(ConstraintKind::MatchAttribute)
        .or(distinct.map(ConstraintKind::DistinctAttribute))
        .unwrap_or(ConstraintKind::Unknown);
    Ok(DeviceConstraint { requests: names(&field.child("requests"), interner)?, kind })
}

fn configs(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Box<[DeviceConfig]>> {
    let config = |item: Field<'_, '_>| {
        Ok(DeviceConfig {
            requests: names(&item.child("requests"), interner)?,
            opaque: opaque(&item.child("opaque"), interner)?,
        })
    };
    field.items().map(config).collect()
}

/// Parameters for a driver, as JSON text.
pub(super) fn opaque(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Option<OpaqueConfig>> {
    if !field.is_set() {
        return Ok(None);
    }
    let parameters = typed(&field.child("parameters"), |node| Some(node.to_json().to_string()), "an object")?;
    let Some(parameters) = parameters else { return wrong(&field.child("parameters"), "an object") };
    let driver = name(&field.child("driver"), interner)?;
    Ok(Some(OpaqueConfig { driver, parameters: interner.text(&parameters) }))
}
