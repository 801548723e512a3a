//! Resource requests and limits.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use super::meta::invalid_all;
use super::{Context, names};
use crate::k8s::decode::parse_quantity;
use crate::k8s::field::Field;
use crate::model::Quantity;

const NOT_NEGATIVE: &str = "must be greater than or equal to 0";

/// Resources of Kubernetes' own that are counted in whole numbers.
const COUNTED: [&str; 9] = [
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "configmaps",
    "persistentvolumeclaims",
    "services.nodeports",
    "services.loadbalancers",
];

/// `resources` of a container.
pub(super) fn container(requirements: &Field<'_, '_>, cx: &mut Context<'_>) {
    requests_and_limits(requirements, container_resource, cx);
}

/// The resources that a container requests, by itself or by a limit.
pub(super) fn names<'n>(requirements: &Field<'n, '_>) -> BTreeSet<&'n str> {
    let (limits, requests) = (requirements.child("limits"), requirements.child("requests"));
    limits.entries().chain(requests.entries()).map(|(name, _)| name).collect()
}

/// What running the pod costs by itself.
pub(super) fn overhead(overhead: &Field<'_, '_>, cx: &mut Context<'_>) {
    for (name, amount) in overhead.entries() {
        container_resource(&amount, name, cx);
        resource_amount(&amount, name, cx);
    }
}

/// `resources` of the pod as a whole (KEP-2837).
pub(super) fn pod_level(requirements: &Field<'_, '_>, spec: &Field<'_, '_>, cx: &mut Context<'_>) {
    let claims = requirements.child("claims");
    if claims.is_set() {
        cx.issues.forbidden(&claims, "claims may not be set for Resources at pod-level");
    }
    requests_and_limits(requirements, pod_resource, cx);
    for (name, request) in requirements.child("requests").entries() {
        let total = aggregate(spec, name);
        if let Some(amount) = amount(&request).filter(|amount| total.compare(amount) == Ordering::Greater) {
            let detail = format!("must be greater than or equal to aggregate container requests of {total}");
            cx.issues.invalid(&request, &amount.to_string(), &detail);
        }
    }
    let limits = requirements.child("limits");
    for container in spec.child("containers").items() {
        let requirements = container.child("resources");
        for (name, limit) in requirements.child("limits").entries() {
            let (Some(amount), Some(of_pod)) = (amount(&limit), find(&limits, name)) else { continue };
            if amount.compare(&of_pod) == Ordering::Greater {
                let detail = format!("must be less than or equal to pod limits of {of_pod}");
                cx.issues.invalid(&limit, &amount.to_string(), &detail);
            }
        }
    }
}

fn amount(field: &Field<'_, '_>) -> Option<Quantity> {
    field.node().and_then(parse_quantity)
}

fn find(list: &Field<'_, '_>, name: &str) -> Option<Quantity> {
    // `null` is as good as zero.
    list.entries().find(|(key, _)| *key == name).map(|(_, field)| amount(&field).unwrap_or_default())
}

/// What the containers of a pod request of a resource in all, by the rules of init containers.
fn aggregate(spec: &Field<'_, '_>, name: &str) -> Quantity {
    let of = |container: &Field<'_, '_>| {
        let requirements = container.child("resources");
        let requested = find(&requirements.child("requests"), name);
        requested.or_else(|| find(&requirements.child("limits"), name)).unwrap_or_default()
    };
    let mut running = Quantity::zero();
    for container in spec.child("containers").items() {
        running = running.add(&of(&container));
    }
    let mut sidecars = Quantity::zero();
    let mut peak = Quantity::zero();
    for container in spec.child("initContainers").items() {
        let moment = sidecars.add(&of(&container));
        if container.child("restartPolicy").text() == "Always" {
            sidecars = moment.clone();
        }
        if moment.compare(&peak) == Ordering::Greater {
            peak = moment;
        }
    }
    running = running.add(&sidecars);
    if peak.compare(&running) == Ordering::Greater { peak } else { running }
}

fn requests_and_limits(
    requirements: &Field<'_, '_>,
    check_name: impl Fn(&Field<'_, '_>, &str, &mut Context<'_>),
    cx: &mut Context<'_>,
) {
    let (limits, requests) = (requirements.child("limits"), requirements.child("requests"));
    for (name, field) in limits.entries().chain(requests.entries()) {
        check_name(&field, name, cx);
        resource_amount(&field, name, cx);
    }
    for (name, request) in requests.entries() {
        let wanted = amount(&request).unwrap_or_default();
        let is_exact = !names::is_overcommitted(name);
        match find(&limits, name).map(|limit| (wanted.compare(&limit), limit)) {
            Some((Ordering::Less | Ordering::Greater, limit)) if is_exact => {
                let detail = format!("must be equal to {name} limit of {limit}");
                cx.issues.invalid(&requests, &wanted.to_string(), &detail);
            }
            Some((Ordering::Greater, limit)) => {
                let detail = format!("must be less than or equal to {name} limit of {limit}");
                cx.issues.invalid(&requests, &wanted.to_string(), &detail);
            }
            None if is_exact => {
                cx.issues.required(&limits, "Limit must be set for non overcommitable resources");
            }
            _ => {}
        }
    }
    let has = |test: fn(&str) -> bool| limits.entries().chain(requests.entries()).any(|(name, _)| test(name));
    if has(|name| name.starts_with("hugepages-")) && !has(|name| matches!(name, "cpu" | "memory")) {
        cx.issues.forbidden(requirements, "HugePages require cpu or memory");
    }
}

/// An amount of a resource: not negative, and whole where it is counted.
pub(super) fn resource_amount(field: &Field<'_, '_>, name: &str, cx: &mut Context<'_>) {
    let Some(amount) = amount(field) else { return };
    if amount.is_negative() {
        cx.issues.invalid(field, &amount.to_string(), NOT_NEGATIVE);
    }
    let is_counted = COUNTED.contains(&name) || names::is_extended_resource(name);
    if is_counted && amount.milli_value() % 1000 != 0 {
        cx.issues.invalid(field, &amount.to_string(), "must be an integer");
    }
}

fn is_container_resource(name: &str) -> bool {
    matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-")
}

fn container_resource(field: &Field<'_, '_>, name: &str, cx: &mut Context<'_>) {
    let wrong = names::label_key(name);
    let is_key = wrong.is_empty();
    invalid_all(field, name, wrong, cx.issues);
    if !name.contains('/') {
        if !is_container_resource(name) {
            if is_key && !is_standard_resource(name) {
                cx.issues.invalid(field, name, "must be a standard resource type or fully qualified");
            }
            cx.issues.invalid(field, name, "must be a standard resource for containers");
        }
    } else if !names::is_native_resource(name) && !names::is_extended_resource(name) {
        cx.issues.invalid(field, name, "doesn't follow extended resource name standard");
    }
}

fn is_standard_resource(name: &str) -> bool {
    let name = name.strip_prefix("requests.").or(name.strip_prefix("limits.")).unwrap_or(name);
    is_container_resource(name) || name == "storage" || COUNTED.contains(&name)
}

fn pod_resource(field: &Field<'_, '_>, name: &str, cx: &mut Context<'_>) {
    let wrong = names::label_key(name);
    let is_known = matches!(name, "cpu" | "memory") || name.starts_with("hugepages-");
    if !wrong.is_empty() {
        invalid_all(field, name, wrong, cx.issues);
    } else if !is_known {
        cx.issues.unsupported(field, name, &["cpu", "hugepages-", "memory"]);
    }
}
