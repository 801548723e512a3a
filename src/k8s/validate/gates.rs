//! Fields of features that are off. An API server drops them without a word when an object is
//! created, which leaves an object that asks for something else than its author meant.

use super::Context;
use crate::k8s::field::Field;
use crate::k8s::kind::Kind;
use crate::model::FeatureGate;
use crate::model::FeatureGate::{
    DRAAdminAccess, DRAConsumableCapacity, DRADerivedAttributes, DRADeviceBindingConditions,
    DRADeviceCompatibilityGroups, DRADeviceTaints, DRAExtendedResource, DRAListTypeAttributes,
    DRAOptionalNodeOperations, DRAPartitionableDevices, DRAPrioritizedList,
};

/// Reports every field that the gates of this release make an API server drop. What a server
/// stored already keeps such fields.
pub(super) fn dropped_fields(kind: Kind, object: &Field<'_, '_>, cx: &mut Context<'_>) {
    if cx.stored {
        return;
    }
    let spec = object.child("spec");
    match kind {
        Kind::ResourceClaim => claim(&spec, cx),
        Kind::ResourceClaimTemplate => claim(&spec.child("spec"), cx),
        Kind::ResourceSlice => slice(&spec, cx),
        Kind::DeviceClass => drop(dropped(&spec, "extendedResourceName", DRAExtendedResource, cx)),
        _ => {}
    }
}

/// Reports one field if it is set while its gate is off.
fn dropped(parent: &Field<'_, '_>, name: &'static str, gate: FeatureGate, cx: &mut Context<'_>) -> bool {
    let field = parent.child(name);
    let is_dropped = field.is_set() && !cx.features.has(gate);
    if is_dropped {
        let (gate, version) = (gate.name(), cx.features.version);
        let message =
            format!("{field}: Forbidden: an API server drops this field, as feature gate {gate} is off");
        let hint = format!("if your Kubernetes {version} has it on, pass --feature-gates={gate}=true");
        cx.issues.add(&field, message, Some(hint));
    }
    is_dropped
}

fn claim(spec: &Field<'_, '_>, cx: &mut Context<'_>) {
    let devices = spec.child("devices");
    for request in devices.child("requests").items() {
        let exactly = request.child("exactly");
        dropped(&exactly, "adminAccess", DRAAdminAccess, cx);
        requirement(&exactly, cx);
        if !dropped(&request, "firstAvailable", DRAPrioritizedList, cx) {
            for alternative in request.child("firstAvailable").items() {
                requirement(&alternative, cx);
            }
        }
    }
    for constraint in devices.child("constraints").items() {
        dropped(&constraint, "distinctAttribute", DRAConsumableCapacity, cx);
    }
}

fn requirement(field: &Field<'_, '_>, cx: &mut Context<'_>) {
    dropped(field, "tolerations", DRADeviceTaints, cx);
    dropped(field, "capacity", DRAConsumableCapacity, cx);
    dropped(field, "derivedAttributes", DRADerivedAttributes, cx);
}

fn slice(spec: &Field<'_, '_>, cx: &mut Context<'_>) {
    for name in ["sharedCounters", "perDeviceNodeSelection"] {
        dropped(spec, name, DRAPartitionableDevices, cx);
    }
    dropped(spec, "skipNodeOperations", DRAOptionalNodeOperations, cx);
    for device in spec.child("devices").items() {
        for name in ["consumesCounters", "nodeName", "nodeSelector", "allNodes"] {
            dropped(&device, name, DRAPartitionableDevices, cx);
        }
        for consumption in device.child("consumesCounters").items() {
            dropped(&consumption, "compatibilityGroups", DRADeviceCompatibilityGroups, cx);
        }
        for name in ["bindsToNode", "bindingConditions", "bindingFailureConditions"] {
            dropped(&device, name, DRADeviceBindingConditions, cx);
        }
        dropped(&device, "taints", DRADeviceTaints, cx);
        dropped(&device, "allowMultipleAllocations", DRAConsumableCapacity, cx);
        for (_, capacity) in device.child("capacity").entries() {
            dropped(&capacity, "requestPolicy", DRAConsumableCapacity, cx);
        }
        if !cx.features.has(DRAListTypeAttributes) {
            for (_, attribute) in device.child("attributes").entries() {
                for name in ["bools", "ints", "strings", "versions"] {
                    dropped(&attribute, name, DRAListTypeAttributes, cx);
                }
            }
        }
    }
}
