//! `status` of a `ResourceClaim`.

use super::{Interner, Result, boolean, claim, name, names, quantities, selector, text, timestamp};
use super::{tolerations, uid};
use crate::k8s::field::Field;
use crate::model::{
    AllocatedConfig, Allocation, ConfigSource, ConsumerReference, DeviceId, DeviceResult, DeviceStatus, Name,
    PoolId, ShareId,
};

/// `status.allocation`.
pub(super) fn allocation(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Allocation> {
    let devices = field.child("devices");
    let results = devices.child("results");
    let config = devices.child("config");
    Ok(Allocation {
        results: results.items().map(|item| result(&item, interner)).collect::<Result<_>>()?,
        config: config.items().map(|item| allocated_config(&item, interner)).collect::<Result<_>>()?,
        node_selector: selector::node_selector(&field.child("nodeSelector"), interner)?,
        timestamp: timestamp(&field.child("allocationTimestamp"))?,
    })
}

fn device_id(field: &Field<'_, '_>, interner: &mut Interner) -> Result<DeviceId> {
    let pool = PoolId {
        driver: name(&field.child("driver"), interner)?,
        pool: name(&field.child("pool"), interner)?,
    };
    Ok(DeviceId { pool, device: name(&field.child("device"), interner)? })
}

fn share_id(field: &Field<'_, '_>) -> Result<Option<ShareId>> {
    Ok(text(&field.child("shareID"))?.map(ShareId::from))
}

fn result(field: &Field<'_, '_>, interner: &mut Interner) -> Result<DeviceResult> {
    let consumed = field.child("consumedCapacity");
    Ok(DeviceResult {
        request: name(&field.child("request"), interner)?,
        device: device_id(field, interner)?,
        admin_access: boolean(&field.child("adminAccess"))?.unwrap_or(false),
        tolerations: tolerations(&field.child("tolerations"), interner)?,
        binding_conditions: optional_names(&field.child("bindingConditions"), interner)?,
        binding_failure_conditions: optional_names(&field.child("bindingFailureConditions"), interner)?,
        share_id: share_id(field)?,
        consumed_capacity: consumed.is_set().then(|| quantities(&consumed, interner)).transpose()?,
        skip_node_operations: names(&field.child("skipNodeOperations"), interner)?,
    })
}

/// A list whose absence has a meaning of its own.
pub(super) fn optional_names(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Option<Box<[Name]>>> {
    field.is_set().then(|| names(field, interner)).transpose()
}

fn allocated_config(field: &Field<'_, '_>, interner: &mut Interner) -> Result<AllocatedConfig> {
    let source = match text(&field.child("source"))?.unwrap_or_default() {
        "FromClass" => ConfigSource::Class,
        "FromClaim" => ConfigSource::Claim,
        _ => return super::wrong(&field.child("source"), "FromClass or FromClaim"),
    };
    let requests = names(&field.child("requests"), interner)?;
    Ok(AllocatedConfig { source, requests, opaque: claim::opaque(&field.child("opaque"), interner)? })
}

/// `status.reservedFor`.
pub(super) fn reserved_for(
    field: &Field<'_, '_>,
    interner: &mut Interner,
) -> Result<Box<[ConsumerReference]>> {
    let consumer = |item: Field<'_, '_>| {
        Ok(ConsumerReference {
            api_group: name(&item.child("apiGroup"), interner)?,
            resource: name(&item.child("resource"), interner)?,
            name: Name::from(text(&item.child("name"))?.unwrap_or_default()),
            uid: uid(&item.child("uid"))?,
        })
    };
    field.items().map(consumer).collect()
}

/// `status.devices`.
pub(super) fn device_statuses(field: &Field<'_, '_>, interner: &mut Interner) -> Result<Box<[DeviceStatus]>> {
    let status = |item: Field<'_, '_>| {
        let conditions = item.child("conditions");
        let is_true = |condition: &Field<'_, '_>| condition.child("status").str() == Some("True");
        let true_conditions = conditions.items().filter(is_true);
        let true_conditions = true_conditions
            .map(|condition| name(&condition.child("type"), interner))
            .collect::<Result<_>>()?;
        Ok(DeviceStatus { device: device_id(&item, interner)?, share_id: share_id(&item)?, true_conditions })
    };
    field.items().map(status).collect()
}
