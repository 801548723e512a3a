//! `status` of a `ResourceClaim`.

use std::collections::BTreeSet;
use std::net::IpAddr;

use super::claim::{RequestNames, configuration, raw_extension};
use super::devices::{self, unique};
use super::meta::conditions;
use super::{Context, selector};
use crate::k8s::field::Field;
use crate::k8s::finding::quoted;
use crate::model::{ALLOCATION_RESULTS_MAX, RESERVED_FOR_MAX};

const CONFIG_MAX: usize = 64;
const CONDITIONS_MAX: usize = 8;
const DATA_MAX: usize = 10 * 1024;

/// `status` of a claim with that `spec`.
pub(super) fn claim_status(status: &Field<'_, '_>, spec: &Field<'_, '_>, cx: &mut Context<'_>) {
    let devices = spec.child("devices");
    let requests = devices.child("requests");
    let names = RequestNames::of(&requests);
    let allocation = status.child("allocation");
    reserved_for(&status.child("reservedFor"), allocation.is_set(), cx);
    device_statuses(&status.child("devices"), &allocation, cx);
    if allocation.is_set() {
        allocated(&allocation, &names, cx);
    }
}

fn reserved_for(list: &Field<'_, '_>, is_allocated: bool, cx: &mut Context<'_>) {
    if !devices::too_many(list, RESERVED_FOR_MAX, cx) {
        for consumer in list.items() {
            for name in ["resource", "name", "uid"] {
                let field = consumer.child(name);
                if field.text().is_empty() {
                    cx.issues.required(&field, "");
                }
            }
        }
        unique(list, |consumer| consumer.child("uid").text().to_owned(), cx);
    }
    if !list.is_empty() && !is_allocated {
        cx.issues.forbidden(list, "may not be specified when `allocated` is not set");
    }
}

fn allocated(allocation: &Field<'_, '_>, names: &RequestNames<'_>, cx: &mut Context<'_>) {
    let devices = allocation.child("devices");
    let results = devices.child("results");
    if !devices::too_many(&results, ALLOCATION_RESULTS_MAX, cx) {
        results.items().for_each(|item| result(&item, names, cx));
    }
    let config = devices.child("config");
    if !devices::too_many(&config, CONFIG_MAX, cx) {
        for item in config.items() {
            let source = item.child("source");
            match source.text() {
                "" => cx.issues.required(&source, ""),
                "FromClass" | "FromClaim" => {}
                other => cx.issues.unsupported(&source, other, &["FromClaim", "FromClass"]),
            }
            names.check_all(&item.child("requests"), cx);
            configuration(&item, cx);
        }
    }
    let selector = allocation.child("nodeSelector");
    if selector.is_set() {
        selector::node_selector(&selector, cx.issues);
    }
}

fn result(result: &Field<'_, '_>, names: &RequestNames<'_>, cx: &mut Context<'_>) {
    names.check(&result.child("request"), cx);
    device_id(result, cx);
    devices::binding_conditions(result, cx);
    for toleration in result.child("tolerations").items() {
        devices::toleration(&toleration, cx);
    }
    devices::skip_node_operations(&result.child("skipNodeOperations"), cx);
}

fn device_id(field: &Field<'_, '_>, cx: &mut Context<'_>) {
    devices::driver_name(&field.child("driver"), cx);
    devices::pool_name(&field.child("pool"), cx);
    devices::device_name(&field.child("device"), cx);
    let share = field.child("shareID");
    if share.is_set() {
        devices::uuid(&share, cx);
    }
}

/// `driver/pool/device`, and the share if there is one.
fn key(field: &Field<'_, '_>) -> String {
    let part = |name| field.child(name).text();
    let share = part("shareID");
    let slash = if share.is_empty() { "" } else { "/" };
    format!("{}/{}/{}{slash}{share}", part("driver"), part("pool"), part("device"))
}

fn device_statuses(list: &Field<'_, '_>, allocation: &Field<'_, '_>, cx: &mut Context<'_>) {
    let devices = allocation.child("devices");
    let results = devices.child("results");
    let held: BTreeSet<String> = results.items().map(|result| key(&result)).collect();
    for status in list.items() {
        device_id(&status, cx);
        let device = key(&status);
        if !held.contains(&device) {
            cx.issues.invalid(&status, &device, "must be an allocated device in the claim");
        }
        conditions(&status.child("conditions"), CONDITIONS_MAX, cx.issues);
        if status.child("data").is_set() {
            raw_extension(&status.child("data"), DATA_MAX, cx);
        }
        network_data(&status.child("networkData"), cx);
    }
    unique(list, key, cx);
}

fn network_data(data: &Field<'_, '_>, cx: &mut Context<'_>) {
    for (name, max) in [("interfaceName", 256), ("hardwareAddress", 128)] {
        let field = data.child(name);
        if field.text().len() > max {
            cx.issues.too_long(&field, max);
        }
    }
    let ips = data.child("ips");
    if devices::too_many(&ips, 16, cx) {
        return;
    }
    for ip in ips.items() {
        let text = ip.text();
        match canonical_address(text) {
            None => {
                let detail = "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)";
                cx.issues.invalid(&ip, text, detail);
            }
            Some(canonical) if canonical != text => {
                let detail = format!("must be in canonical form ({})", quoted(&canonical));
                cx.issues.invalid(&ip, text, &detail);
            }
            Some(_) => {}
        }
    }
    unique(&ips, |item| item.text().to_owned(), cx);
}

/// An address with the length of its network's prefix, as it should be written.
fn canonical_address(text: &str) -> Option<String> {
    let (address, length) = text.split_once('/')?;
    let address: IpAddr = address.parse().ok()?;
    let length: u8 = length.parse().ok()?;
    if length > if address.is_ipv4() { 32 } else { 128 } {
        return None;
    }
    // An IPv4 address within IPv6 is written as the former.
    let plain = address.to_canonical();
    let length = if plain.is_ipv4() && length > 32 { length - 96 } else { length };
    Some(format!("{plain}/{length}"))
}
