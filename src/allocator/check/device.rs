//! Whether one device may be given to one request, whoever else has what.

use super::World;
use super::capacity;
use super::pool::in_reach;
use super::violation::DeviceFault;
use crate::model::taint::first_untolerated;
use crate::model::{
    Device, DeviceClass, DeviceRequirement, DeviceResult, DeviceSelector, FeatureGate, ResourceSlice,
};

/// The node feature without which a driver's kubelet calls cannot be skipped.
const OPTIONAL_NODE_OPERATIONS: &str = "DRAOptionalNodeOperations";

/// Whether class and request select the device on this node.
pub(super) fn check_selected(
    world: &World<'_>,
    slice: &ResourceSlice,
    device: &Device,
    class: &DeviceClass,
    requirement: &DeviceRequirement,
) -> Result<(), DeviceFault> {
    if device.waits_for_conditions() && !world.features.binding_conditions() {
        return Err(DeviceFault::GateOff(FeatureGate::DRADeviceBindingConditions));
    }
    let refusing = |selectors: &[DeviceSelector]| first_refusing(world, slice, device, selectors);
    if let Some(index) = refusing(&class.selectors)? {
        return Err(DeviceFault::RefusedByClass(index));
    }
    if let Some(index) = refusing(&requirement.selectors)? {
        return Err(DeviceFault::RefusedByRequest(index));
    }
    let per_device = slice.per_device_node_selection == Some(true);
    if per_device && !in_reach(world.node, &device.placement).unwrap_or(false) {
        return Err(DeviceFault::NotInReach);
    }
    Ok(())
}

fn first_refusing(
    world: &World<'_>,
    slice: &ResourceSlice,
    device: &Device,
    selectors: &[DeviceSelector],
) -> Result<Option<usize>, DeviceFault> {
    for (index, selector) in selectors.iter().enumerate() {
        let selected = world.selectors.select(selector, &slice.pool.driver, &device.content);
        if !selected.map_err(|error| DeviceFault::SelectorFailed { index, error })? {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// Whether device and node have all that the allocation needs, and taints are tolerated.
pub(super) fn check_usable(
    world: &World<'_>,
    slice: &ResourceSlice,
    device: &Device,
    requirement: &DeviceRequirement,
) -> Result<(), DeviceFault> {
    if !device.consumes_counters.is_empty() && !world.has(FeatureGate::DRAPartitionableDevices) {
        return Err(DeviceFault::GateOff(FeatureGate::DRAPartitionableDevices));
    }
    if !slice.skip_node_operations.is_empty()
        && world.has(FeatureGate::DRAOptionalNodeOperations)
        && !world.node.declared_features.iter().any(|feature| *feature == OPTIONAL_NODE_OPERATIONS)
    {
        return Err(DeviceFault::NodeCannotSkip);
    }
    match first_untolerated(&device.taints, &requirement.tolerations) {
        Some(taint) if world.has(FeatureGate::DRADeviceTaints) => Err(DeviceFault::Tainted(taint.clone())),
        _ => Ok(()),
    }
}

/// Whether the result says of the device what it must.
pub(super) fn check_fields(
    world: &World<'_>,
    slice: &ResourceSlice,
    device: &Device,
    requirement: &DeviceRequirement,
    result: &DeviceResult,
) -> Result<(), DeviceFault> {
    let multi = world.is_multi(device);
    let conditions = world.features.binding_conditions();
    let skips = world.has(FeatureGate::DRAOptionalNodeOperations);
    let consumed = capacity::amounts(world, device, requirement)?;
    let recorded = result.consumed_capacity.as_deref();
    let fields = [
        ("adminAccess", result.admin_access == (requirement.admin_access == Some(true))),
        ("tolerations", result.tolerations == requirement.tolerations),
        (
            "bindingConditions",
            result.binding_conditions == device.binding_conditions.clone().filter(|_| conditions),
        ),
        (
            "bindingFailureConditions",
            result.binding_failure_conditions
                == device.binding_failure_conditions.clone().filter(|_| conditions),
        ),
        ("shareID", result.share_id.is_some() == multi),
        ("consumedCapacity", capacity::is_record_of(recorded, &consumed, multi)),
        (
            "skipNodeOperations",
            result.skip_node_operations.iter().eq(slice.skip_node_operations.iter().filter(|_| skips)),
        ),
    ];
    match fields.into_iter().find(|(_, right)| !right) {
        Some((field, _)) => Err(DeviceFault::Field(field)),
        None => Ok(()),
    }
}
