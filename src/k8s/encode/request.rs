//! `spec` of a claim.

use serde_json::{Value, json};

use super::{Object, name, opaque, quantities, toleration};
use crate::model::{
    AllocationMode, ClaimSpec, ConstraintKind, DerivedAttribute, DeviceConfig, DeviceConstraint,
    DeviceRequest, DeviceRequirement, DeviceSelector, RequestKind, Subrequest,
};

/// `spec` of a claim.
pub fn claim_spec(spec: &ClaimSpec) -> Value {
    let devices = Object::default()
        .list("requests", &spec.requests, request)
        .list("constraints", &spec.constraints, constraint)
        .list("config", &spec.config, config)
        .done();
    json!({"devices": devices})
}

fn request(request: &DeviceRequest) -> Value {
    let object = Object::default().set("name", request.name.as_str());
    match &request.kind {
        RequestKind::Exactly(requirement) => object.set("exactly", required(Object::default(), requirement)),
        RequestKind::FirstAvailable(alternatives) => object.list("firstAvailable", alternatives, subrequest),
        RequestKind::Unknown => object,
    }
    .done()
}

fn subrequest(subrequest: &Subrequest) -> Value {
    required(Object::default().set("name", subrequest.name.as_str()), &subrequest.requirement)
}

fn required(object: Object, requirement: &DeviceRequirement) -> Value {
    let (mode, count) = match &requirement.mode {
        AllocationMode::ExactCount(count) => ("ExactCount", Some(*count)),
        AllocationMode::All => ("All", None),
        AllocationMode::Other(mode) => (mode.as_str(), None),
    };
    let capacity = requirement.capacity.as_deref().map(|requests| {
        if requests.is_empty() { json!({}) } else { json!({"requests": quantities(requests)}) }
    });
    object
        .set("deviceClassName", requirement.class.as_str())
        .list("selectors", &requirement.selectors, selector)
        .set("allocationMode", mode)
        .set_if("count", count)
        .set_if("adminAccess", requirement.admin_access)
        .list("tolerations", &requirement.tolerations, toleration)
        .set_if("capacity", capacity)
        .list("derivedAttributes", &requirement.derived_attributes, derived)
        .done()
}

fn selector(selector: &DeviceSelector) -> Value {
    match &selector.expression {
        Some(expression) => json!({"cel": {"expression": &**expression}}),
        None => json!({}),
    }
}

fn derived(attribute: &DerivedAttribute) -> Value {
    json!({"name": attribute.name.as_str(), "expression": &*attribute.expression})
}

fn constraint(constraint: &DeviceConstraint) -> Value {
    let object = Object::default().list("requests", &constraint.requests, name);
    match &constraint.kind {
        ConstraintKind::MatchAttribute(attribute) => object.set("matchAttribute", attribute.as_str()),
        ConstraintKind::DistinctAttribute(attribute) => object.set("distinctAttribute", attribute.as_str()),
        ConstraintKind::Unknown => object,
    }
    .done()
}

fn config(config: &DeviceConfig) -> Value {
    Object::default()
        .list("requests", &config.requests, name)
        .set_if("opaque", config.opaque.as_ref().map(opaque))
        .done()
}
