//! The model's nouns in the form of the API, for writing them to a server and for `-o yaml`.
//!
//! What is encoded here has the same form in `resource.k8s.io/v1` and `v1beta2`, and in `v1beta1`
//! but for requests.

mod request;

use serde_json::{Map, Value, json};

use super::decode::format_time;
use crate::model::selection::Requirement;
use crate::model::{
    AllocatedConfig, Allocation, ClaimSpec, ConfigSource, ConsumerReference, DeviceResult, Name,
    NodeSelector, NodeSelectorTerm, OpaqueConfig, OwnerReference, Quantity, ResourceClaim, ShareId, Taint,
    Toleration,
};

pub use request::claim_spec;

/// A map that leaves out what is not set, as the API's `omitempty` does.
#[derive(Default)]
struct Object(Map<String, Value>);

impl Object {
    fn set(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }

    fn set_if(self, key: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.set(key, value),
            None => self,
        }
    }

    fn text(self, key: &str, text: &str) -> Self {
        if text.is_empty() { self } else { self.set(key, text) }
    }

    fn list<'t, T: 't>(
        self,
        key: &str,
        items: impl IntoIterator<Item = &'t T>,
        of: impl Fn(&T) -> Value,
    ) -> Self {
        let items: Vec<_> = items.into_iter().map(of).collect();
        if items.is_empty() { self } else { self.set(key, items) }
    }

    fn done(self) -> Value {
        Value::Object(self.0)
    }
}

fn name(name: &Name) -> Value {
    name.as_str().into()
}

fn quantities(list: &[(Name, Quantity)]) -> Value {
    list.iter().map(|(key, quantity)| (key.to_string(), Value::from(quantity.to_string()))).collect()
}

/// `status.allocation` of a claim.
pub fn allocation(allocation: &Allocation) -> Value {
    let devices = Object::default()
        .list("results", &allocation.results, device_result)
        .list("config", &allocation.config, allocated_config)
        .done();
    Object::default()
        .set("devices", devices)
        .set_if("nodeSelector", allocation.node_selector.as_ref().map(node_selector))
        .set_if("allocationTimestamp", allocation.timestamp.map(format_time))
        .done()
}

/// An entry of `status.allocation.devices.results`.
pub fn device_result(result: &DeviceResult) -> Value {
    Object::default()
        .set("request", result.request.as_str())
        .set("driver", result.device.pool.driver.as_str())
        .set("pool", result.device.pool.pool.as_str())
        .set("device", result.device.device.as_str())
        .set_if("adminAccess", result.admin_access.then_some(true))
        .list("tolerations", &result.tolerations, toleration)
        .list("bindingConditions", result.binding_conditions.iter().flatten(), name)
        .list("bindingFailureConditions", result.binding_failure_conditions.iter().flatten(), name)
        .set_if("shareID", result.share_id.as_ref().map(ShareId::as_str))
        .set_if("consumedCapacity", result.consumed_capacity.as_deref().map(quantities))
        .list("skipNodeOperations", &result.skip_node_operations, name)
        .done()
}

fn allocated_config(config: &AllocatedConfig) -> Value {
    let source = match config.source {
        ConfigSource::Class => "FromClass",
        ConfigSource::Claim => "FromClaim",
    };
    Object::default()
        .set("source", source)
        .list("requests", &config.requests, name)
        .set_if("opaque", config.opaque.as_ref().map(opaque))
        .done()
}

fn opaque(config: &OpaqueConfig) -> Value {
    // Parameters are JSON text that was decoded from JSON.
    let parameters: Value = serde_json::from_str(&config.parameters).unwrap_or_default();
    json!({"driver": config.driver.as_str(), "parameters": parameters})
}

/// A device toleration, written back as it came.
pub fn toleration(toleration: &Toleration) -> Value {
    use crate::model::TolerationOperator::{Equal, Exists, Other};
    let operator = match &toleration.operator {
        Equal => "Equal",
        Exists => "Exists",
        Other(operator) => operator.as_str(),
    };
    Object::default()
        .text("key", &toleration.key)
        .text("operator", if toleration.operator_given { operator } else { "" })
        .text("value", &toleration.value)
        .text("effect", toleration.effect.as_ref().map_or("", |effect| effect.as_str()))
        .set_if("tolerationSeconds", toleration.toleration_seconds)
        .done()
}

/// A taint of a node or device.
pub fn taint(taint: &Taint) -> Value {
    Object::default()
        .set("key", taint.key.as_str())
        .text("value", &taint.value)
        .set("effect", taint.effect.as_str())
        .set_if("timeAdded", taint.time_added.map(format_time))
        .done()
}

/// A `core/v1 NodeSelector`.
pub fn node_selector(selector: &NodeSelector) -> Value {
    json!({"nodeSelectorTerms": selector.terms.iter().map(node_selector_term).collect::<Vec<_>>()})
}

fn node_selector_term(term: &NodeSelectorTerm) -> Value {
    Object::default()
        .list("matchExpressions", &term.match_expressions, requirement)
        .list("matchFields", &term.match_fields, requirement)
        .done()
}

fn requirement(requirement: &Requirement) -> Value {
    Object::default()
        .set("key", requirement.key.as_str())
        .set("operator", requirement.operator.as_str())
        .list("values", &requirement.values, name)
        .done()
}

/// An entry of `status.reservedFor`.
pub fn consumer_reference(consumer: &ConsumerReference) -> Value {
    Object::default()
        .text("apiGroup", &consumer.api_group)
        .set("resource", consumer.resource.as_str())
        .set("name", consumer.name.as_str())
        .set("uid", consumer.uid.as_str())
        .done()
}

/// `metadata.ownerReferences` of an object that `owner` controls.
pub fn controller(owner: &OwnerReference) -> Value {
    json!([{
        "apiVersion": owner.api_version.as_str(),
        "kind": owner.kind.as_str(),
        "name": owner.name.as_str(),
        "uid": owner.uid.as_str(),
        "controller": true,
    }])
}

/// A claim as a whole, for people to read.
pub fn claim(claim: &ResourceClaim) -> Value {
    let metadata = Object::default()
        .set("name", claim.key.name.as_str())
        .set("namespace", claim.key.namespace.as_str())
        .text("uid", claim.uid.as_str())
        .set_if("ownerReferences", claim.controller.as_ref().map(controller))
        .done();
    let status = Object::default()
        .set_if("allocation", claim.allocation.as_deref().map(allocation))
        .list("reservedFor", &claim.reserved_for, consumer_reference)
        .done();
    json!({
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": metadata,
        "spec": claim_spec(&claim.spec),
        "status": status,
    })
}

/// The claim to create for the extended resources of a pod (KEP-5004). The server makes the name.
pub fn extended_resource_claim(namespace: &Name, owner: &OwnerReference, spec: &ClaimSpec) -> Value {
    json!({
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {
            "generateName": format!("{}-extended-resources-", owner.name),
            "namespace": namespace.as_str(),
            "annotations": {super::EXTENDED_RESOURCE_CLAIM: "true"},
            "ownerReferences": controller(owner),
        },
        "spec": claim_spec(spec),
    })
}
