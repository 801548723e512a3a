//! `ResourceSlice`.

use super::allocation::optional_names;
use super::{Interner, Result, boolean, int, name, names, optional_name, quantity};
use super::{selector, sorted, taint};
use crate::k8s::field::Field;
use crate::k8s::tree::Node as Tree;
use crate::model::{
    AttributeValue, Capacity, CounterConsumption, CounterSet, Device, DeviceContent, Name, NodeName,
    Placement, PoolId, Quantity, RequestPolicy, ResourceSlice, ValidAmounts,
};

/// A `ResourceSlice` of `resource.k8s.io/v1`.
///
/// # Errors
/// A field of a type that the API does not have there.
pub fn slice(object: &Tree, interner: &mut Interner) -> Result<ResourceSlice> {
    let object = Field::root(object);
    let spec = object.child("spec");
    let pool = spec.child("pool");
    let devices = spec.child("devices");
    let shared_counters = spec.child("sharedCounters");
    Ok(ResourceSlice {
        name: name(&object.child("metadata").child("name"), interner)?,
        pool: PoolId {
            driver: name(&spec.child("driver"), interner)?,
            pool: name(&pool.child("name"), interner)?,
        },
        generation: int(&pool.child("generation"))?.unwrap_or(0),
        slice_count: int(&pool.child("resourceSliceCount"))?.unwrap_or(0),
        placement: placement(&spec, interner)?,
        per_device_node_selection: boolean(&spec.child("perDeviceNodeSelection"))?,
        devices: devices.items().map(|item| device(&item, interner)).collect::<Result<_>>()?,
        shared_counters: shared_counters
            .items()
            .map(|item| counter_set(&item, interner))
            .collect::<Result<_>>()?,
        skip_node_operations: names(&spec.child("skipNodeOperations"), interner)?,
    })
}

fn placement(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Placement> {
    Ok(Placement {
        node_name: optional_name(&field.child("nodeName"), interner)?.map(NodeName),
        node_selector: selector::node_selector(&field.child("nodeSelector"), interner)?,
        all_nodes: boolean(&field.child("allNodes"))?.unwrap_or(false),
    })
}

fn device(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Device> {
    let content = DeviceContent {
        attributes: sorted(&field.child("attributes"), interner, attribute)?,
        capacity: sorted(&field.child("capacity"), interner, |field, _| capacity(field))?,
        allow_multiple_allocations: boolean(&field.child("allowMultipleAllocations"))?.unwrap_or(false),
    };
    let consumes = field.child("consumesCounters");
    let taints = field.child("taints");
    Ok(Device {
        name: name(&field.child("name"), interner)?,
        content: interner.content(content),
        consumes_counters: consumes
            .items()
            .map(|item| consumption(&item, interner))
            .collect::<Result<_>>()?,
        placement: placement(field, interner)?,
        taints: taints.items().map(|item| taint(&item, interner)).collect::<Result<_>>()?,
        binds_to_node: boolean(&field.child("bindsToNode"))?.unwrap_or(false),
        binding_conditions: optional_names(&field.child("bindingConditions"), interner)?,
        binding_failure_conditions: optional_names(&field.child("bindingFailureConditions"), interner)?,
    })
}

fn attribute(field: &Field<'_, '_>, interner: &mut Interner) -> Result<AttributeValue> {
    let set = field.entries().filter(|(_, value)| value.is_set());
    for (kind, value) in set {
        return Ok(match kind {
            "int" => int(&value)?.map_or(AttributeValue::Unsupported, AttributeValue::Int),
            "bool" => boolean(&value)?.map_or(AttributeValue::Unsupported, AttributeValue::Bool),
            "string" => AttributeValue::String(name(&value, interner)?),
            "version" => AttributeValue::Version(name(&value, interner)?),
            "ints" => {
                AttributeValue::Ints(value.items().map(|i| Ok(int(&i)?.unwrap_or(0))).collect::<Result<_>>()?)
            }
            "bools" => AttributeValue::Bools(
                value.items().map(|item| Ok(boolean(&item)?.unwrap_or(false))).collect::<Result<_>>()?,
            ),
            "strings" => AttributeValue::Strings(names(&value, interner)?),
            "versions" => AttributeValue::Versions(names(&value, interner)?),
            _ => continue,
        });
    }
    Ok(AttributeValue::Unsupported)
}

fn capacity(field: &Field<'_, '_>) -> Result<Capacity> {
    let policy = field.child("requestPolicy");
    Ok(Capacity {
        value: quantity(&field.child("value"))?.unwrap_or_default(),
        policy: policy.is_set().then(|| request_policy(&policy)).transpose()?,
    })
}

fn request_policy(field: &Field<'_, '_>) -> Result<RequestPolicy> {
    let values = field.child("validValues");
    let range = field.child("validRange");
    let valid = if !values.is_empty() {
        let values = values.items().map(|item| Ok(quantity(&item)?.unwrap_or_default()));
        ValidAmounts::Values(values.collect::<Result<_>>()?)
    } else if range.is_set() {
        ValidAmounts::Range {
            min: quantity(&range.child("min"))?,
            max: quantity(&range.child("max"))?,
            step: quantity(&range.child("step"))?,
        }
    } else {
        ValidAmounts::Any
    };
    Ok(RequestPolicy { default: quantity(&field.child("default"))?, valid })
}

/// A map of counters, each `{value: quantity}`.
fn counters(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Box<[(Name, Quantity)]>> {
    sorted(field, interner, |counter, _| Ok(quantity(&counter.child("value"))?.unwrap_or_default()))
}

fn counter_set(field: &Field<'_, '_>, interner: &mut Interner) -> Result<CounterSet> {
    Ok(CounterSet {
        name: name(&field.child("name"), interner)?,
        counters: counters(&field.child("counters"), interner)?,
    })
}

fn consumption(field: &Field<'_, '_>, interner: &mut Interner) -> Result<CounterConsumption> {
    Ok(CounterConsumption {
        counter_set: name(&field.child("counterSet"), interner)?,
        counters: counters(&field.child("counters"), interner)?,
        compatibility_groups: names(&field.child("compatibilityGroups"), interner)?,
    })
}
