//! Where a pod wants to be: affinities, tolerations, topology spread.

use super::Context;
use super::meta::invalid_all;
use super::names;
use super::pod::enumerated;
use super::selector::{label_selector, node_selector, node_selector_term};
use crate::k8s::field::Field;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// `spec.affinity`.
pub(super) fn affinity(affinity: &Field<'_, '_>, cx: &mut Context<'_>) {
    let node = affinity.child("nodeAffinity");
    let required = node.child(REQUIRED);
    if required.is_set() {
        node_selector(&required, cx.issues);
    }
    for term in node.child(PREFERRED).items() {
        weight(&term, cx);
        node_selector_term(&term.child("preference"), false, cx.issues);
    }
    for pods in [affinity.child("podAffinity"), affinity.child("podAntiAffinity")] {
        for term in pods.child(REQUIRED).items() {
            pod_affinity_term(&term, cx);
        }
        for weighted in pods.child(PREFERRED).items() {
            weight(&weighted, cx);
            pod_affinity_term(&weighted.child("podAffinityTerm"), cx);
        }
    }
}

fn weight(term: &Field<'_, '_>, cx: &mut Context<'_>) {
    let weight = term.child("weight");
    let number = weight.int().unwrap_or(0);
    if !(1..=100).contains(&number) {
        cx.issues.invalid_value(&weight, number, "must be in the range 1-100");
    }
}

fn pod_affinity_term(term: &Field<'_, '_>, cx: &mut Context<'_>) {
    for selector in [term.child("labelSelector"), term.child("namespaceSelector")] {
        label_selector(&selector, cx.issues);
    }
    for namespace in term.child("namespaces").items() {
        invalid_all(&namespace, namespace.text(), names::dns_label(namespace.text()), cx.issues);
    }
    let key = term.child("topologyKey");
    if key.text().is_empty() {
        cx.issues.required(&key, "can not be empty");
    }
    invalid_all(&key, key.text(), names::label_key(key.text()), cx.issues);
}

/// A toleration of node taints.
pub(super) fn toleration(toleration: &Field<'_, '_>, cx: &mut Context<'_>) {
    let key = toleration.child("key");
    if !key.text().is_empty() {
        invalid_all(&key, key.text(), names::label_key(key.text()), cx.issues);
    }
    let operator = toleration.child("operator");
    if key.text().is_empty() && operator.text() != "Exists" {
        let detail =
            "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
        cx.issues.invalid(&operator, operator.text(), detail);
    }
    let effect = toleration.child("effect");
    if toleration.child("tolerationSeconds").is_set() && effect.text() != "NoExecute" {
        let detail = "effect must be 'NoExecute' when `tolerationSeconds` is set";
        cx.issues.invalid(&effect, effect.text(), detail);
    }
    let value = toleration.child("value").text();
    match operator.text() {
        "" | "Equal" => {
            let wrong = names::label_value(value);
            if !wrong.is_empty() {
                cx.issues.invalid(&operator, value, &wrong.join(";"));
            }
        }
        "Exists" if !value.is_empty() => {
            cx.issues.invalid(&operator, value, "value must be empty when `operator` is 'Exists'");
        }
        "Exists" => {}
        other => cx.issues.unsupported(&operator, other, &["Equal", "Exists"]),
    }
    enumerated(&effect, &["NoSchedule", "PreferNoSchedule", "NoExecute"], cx);
}

/// `spec.taints` of a node.
pub(super) fn node_taints(taints: &Field<'_, '_>, cx: &mut Context<'_>) {
    let mut seen = std::collections::BTreeSet::new();
    for taint in taints.items() {
        let (key, value, effect) = (taint.child("key"), taint.child("value"), taint.child("effect"));
        invalid_all(&key, key.text(), names::label_key(key.text()), cx.issues);
        let wrong = names::label_value(value.text());
        if !wrong.is_empty() {
            cx.issues.invalid(&value, value.text(), &wrong.join(";"));
        }
        if effect.text().is_empty() {
            cx.issues.required(&effect, "");
        }
        enumerated(&effect, &["NoSchedule", "PreferNoSchedule", "NoExecute"], cx);
        if !seen.insert((key.text(), effect.text())) {
            let json = super::meta::json(&taint);
            let message =
                format!("{taint}: Duplicate value: {json}: taints must be unique by key and effect pair");
            cx.issues.add(&taint, message, None);
        }
    }
}

/// `spec.topologySpreadConstraints`.
pub(super) fn topology_spread(constraints: &Field<'_, '_>, cx: &mut Context<'_>) {
    for (index, constraint) in constraints.items().enumerate() {
        let skew = constraint.child("maxSkew");
        let number = skew.int().unwrap_or(0);
        if number <= 0 {
            cx.issues.invalid_value(&skew, number, "must be greater than zero");
        }
        let key = constraint.child("topologyKey");
        if key.text().is_empty() {
            cx.issues.required(&key, "can not be empty");
        } else {
            invalid_all(&key, key.text(), names::label_key(key.text()), cx.issues);
        }
        let action = constraint.child("whenUnsatisfiable");
        if !matches!(action.text(), "DoNotSchedule" | "ScheduleAnyway") {
            cx.issues.unsupported(&action, action.text(), &["DoNotSchedule", "ScheduleAnyway"]);
        }
        let pair = |constraint: &Field<'_, '_>| {
            format!(
                "{{{}, {}}}",
                constraint.child("topologyKey").text(),
                constraint.child("whenUnsatisfiable").text()
            )
        };
        let this = pair(&constraint);
        if constraints.items().skip(index + 1).any(|later| pair(&later) == this) {
            cx.issues.duplicate(&constraint.child("{topologyKey, whenUnsatisfiable}"), &this);
        }
        label_selector(&constraint.child("labelSelector"), cx.issues);
    }
}
