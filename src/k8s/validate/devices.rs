//! What claims and slices have in common: names of drivers, pools and devices, qualified names,
//! taints and tolerations.

use std::collections::BTreeSet;

use super::meta::invalid_all;
use super::{COST_MAX, Context, names};
use crate::k8s::field::Field;

/// Longest CEL expression, in bytes.
pub(super) const EXPRESSION_MAX: usize = 10 * 1024;
/// What is said of an expression that may cost too much.
pub(super) const TOO_COMPLEX: &str = "too complex, exceeds cost limit";
const DRIVER_MAX: usize = 63;
const POOL_MAX: usize = 253;
const IDENTIFIER_MAX: usize = 32;
const BINDING_CONDITIONS_MAX: usize = 4;

/// Reports a list or map that is too long; then its entries are not looked at.
pub(super) fn too_many(list: &Field<'_, '_>, max: usize, cx: &mut Context<'_>) -> bool {
    let count = list.len();
    if count > max {
        cx.issues.too_many(list, count, max);
    }
    count > max
}

/// Reports every item whose key an earlier one has.
pub(super) fn unique<'n>(list: &Field<'n, '_>, key: impl Fn(&Field<'n, '_>) -> String, cx: &mut Context<'_>) {
    if list.len() < 2 {
        return;
    }
    let mut seen = BTreeSet::new();
    for item in list.items() {
        let key = key(&item);
        if seen.contains(&key) {
            cx.issues.duplicate(&item, &key);
        } else {
            seen.insert(key);
        }
    }
}

/// A device, request or counter set name: a DNS label.
pub(super) fn device_name(name: &Field<'_, '_>, cx: &mut Context<'_>) {
    invalid_all(name, name.text(), names::dns_label(name.text()), cx.issues);
}

/// A DNS label that is required by that word.
pub(super) fn required_label(name: &Field<'_, '_>, cx: &mut Context<'_>) {
    if name.text().is_empty() {
        cx.issues.required(name, "");
    } else {
        device_name(name, cx);
    }
}

pub(super) fn driver_name(name: &Field<'_, '_>, cx: &mut Context<'_>) {
    driver_text(name, name.text(), cx);
}

fn driver_text(field: &Field<'_, '_>, text: &str, cx: &mut Context<'_>) {
    if text.is_empty() {
        cx.issues.required(field, "");
        return;
    }
    if text.len() > DRIVER_MAX {
        cx.issues.too_long(field, DRIVER_MAX);
    }
    invalid_all(field, text, names::dns_subdomain(&text.to_lowercase()), cx.issues);
}

pub(super) fn pool_name(name: &Field<'_, '_>, cx: &mut Context<'_>) {
    let text = name.text();
    if text.is_empty() {
        cx.issues.required(name, "");
        return;
    }
    if text.len() > POOL_MAX {
        cx.issues.too_long(name, POOL_MAX);
    }
    for part in text.split('/') {
        invalid_all(name, part, names::dns_subdomain(part), cx.issues);
    }
}

pub(super) fn node_name(name: &Field<'_, '_>, cx: &mut Context<'_>) {
    invalid_all(name, name.text(), names::dns_subdomain(name.text()), cx.issues);
}

/// A name of an attribute or capacity, `domain/identifier` or `identifier`. Upstream lets names
/// with more than one slash pass, and so must we.
pub(super) fn qualified_name(field: &Field<'_, '_>, name: &str, cx: &mut Context<'_>) {
    let mut parts = name.split('/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(identifier), None, _) => c_identifier(field, identifier, cx),
        (Some(domain), Some(identifier), None) => {
            if domain.is_empty() {
                cx.issues.invalid(field, "", "the domain must not be empty");
            } else {
                driver_text(field, domain, cx);
            }
            if identifier.is_empty() {
                cx.issues.invalid(field, "", "the name must not be empty");
            } else {
                c_identifier(field, identifier, cx);
            }
        }
        _ => {}
    }
}

fn c_identifier(field: &Field<'_, '_>, identifier: &str, cx: &mut Context<'_>) {
    if identifier.len() > IDENTIFIER_MAX {
        cx.issues.too_long(field, IDENTIFIER_MAX);
    }
    if let Some(wrong) = names::c_identifier(identifier) {
        cx.issues.invalid(field, identifier, wrong);
    }
}

/// A qualified name with a domain.
pub(super) fn fully_qualified_name(name: &Field<'_, '_>, cx: &mut Context<'_>) {
    qualified_name(name, name.text(), cx);
    if !name.text().contains('/') {
        let detail = "a fully qualified name must be a domain and a name separated by a slash";
        cx.issues.invalid(name, name.text(), detail);
    }
}

/// The name of an attribute in a claim: its domain may have no capitals, unlike a driver's.
pub(super) fn attribute_reference(name: &Field<'_, '_>, cx: &mut Context<'_>) {
    fully_qualified_name(name, cx);
    let Some((domain, _)) = name.text().split_once('/') else { return };
    if domain.to_lowercase() != domain {
        let wrong = names::dns_subdomain(domain).into_iter().map(|text| format!("prefix: {text}"));
        invalid_all(name, domain, wrong.collect(), cx.issues);
    }
}

/// An identity in the form of RFC 4122.
pub(super) fn uuid(field: &Field<'_, '_>, cx: &mut Context<'_>) {
    let text = field.text();
    // Plain, in braces, as a URN, or without hyphens.
    if ![32, 36, 38, 45].contains(&text.len()) {
        let detail = format!("error validating uid: invalid UUID length: {}", text.len());
        cx.issues.invalid(field, text, &detail);
        return;
    }
    let groups: Vec<_> = text.split('-').map(str::len).collect();
    let hex = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f' | b'-'));
    if groups != [8, 4, 4, 4, 12] || !hex {
        let detail = "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with \
                      lowercase hexadecimal characters";
        cx.issues.invalid(field, text, detail);
    }
}

/// A CEL expression of a selector.
pub(super) fn cel_expression(field: &Field<'_, '_>, cx: &mut Context<'_>) {
    if cx.stored {
        return;
    }
    if field.text().len() > EXPRESSION_MAX {
        cx.issues.too_long(field, EXPRESSION_MAX);
        return;
    }
    match cx.expressions.selector(field.text()) {
        Ok(cost) if cost > COST_MAX => cx.issues.forbidden(field, TOO_COMPLEX),
        Ok(_) => {}
        Err(wrong) => cx.issues.uncompiled(field, field.text(), &wrong),
    }
}

/// A taint of a device.
pub(super) fn taint(taint: &Field<'_, '_>, cx: &mut Context<'_>) {
    let key = taint.child("key");
    invalid_all(&key, key.text(), names::label_key(key.text()), cx.issues);
    let value = taint.child("value");
    invalid_all(&value, value.text(), names::label_value(value.text()), cx.issues);
    let effect = taint.child("effect");
    if effect.text().is_empty() {
        cx.issues.required(&effect, "");
    } else {
        taint_effect(&effect, cx);
    }
}

fn taint_effect(effect: &Field<'_, '_>, cx: &mut Context<'_>) {
    if !matches!(effect.text(), "NoExecute" | "NoSchedule" | "None") {
        cx.issues.unsupported(effect, effect.text(), &["NoExecute", "NoSchedule", "None"]);
    }
}

/// A toleration of device taints. Its operator is `Equal` by default.
pub(super) fn toleration(toleration: &Field<'_, '_>, cx: &mut Context<'_>) {
    let value = toleration.child("value");
    match toleration.child("operator").text() {
        "Exists" if !value.text().is_empty() => {
            cx.issues.invalid(&value, value.text(), "must be empty for operator `Exists`");
        }
        "" | "Equal" => invalid_all(&value, value.text(), names::label_value(value.text()), cx.issues),
        _ => {}
    }
    declared_toleration(toleration, cx);
}

/// What upstream declares on the type of a toleration.
pub(super) fn declared_toleration(toleration: &Field<'_, '_>, cx: &mut Context<'_>) {
    let key = toleration.child("key");
    if !key.text().is_empty() {
        invalid_all(&key, key.text(), names::label_key(key.text()), cx.issues);
    }
    let operator = toleration.child("operator");
    if !matches!(operator.text(), "" | "Equal" | "Exists") {
        cx.issues.unsupported(&operator, operator.text(), &["Equal", "Exists"]);
    }
    let effect = toleration.child("effect");
    if !effect.text().is_empty() {
        taint_effect(&effect, cx);
    }
}

/// `bindingConditions` and `bindingFailureConditions` of a device or result.
pub(super) fn binding_conditions(device: &Field<'_, '_>, cx: &mut Context<'_>) {
    let conditions = device.child("bindingConditions");
    let failures = device.child("bindingFailureConditions");
    for list in [&conditions, &failures] {
        if !too_many(list, BINDING_CONDITIONS_MAX, cx) {
            for item in list.items() {
                invalid_all(&item, item.text(), names::label_key(item.text()), cx.issues);
            }
        }
        unique(list, |item| item.text().to_owned(), cx);
    }
    for failure in failures.items() {
        if conditions.items().any(|condition| condition.text() == failure.text()) {
            let detail = "bindingFailureConditions must not overlap with bindingConditions";
            cx.issues.invalid(&failure, failure.text(), detail);
        }
    }
    let list = super::meta::json;
    match (conditions.is_empty(), failures.is_empty()) {
        (true, false) => {
            let detail = "bindingConditions are required to use bindingFailureConditions";
            cx.issues.invalid_value(&conditions, list(&conditions), detail);
        }
        (false, true) => {
            let detail = "bindingFailureConditions are required to use bindingConditions";
            cx.issues.invalid_value(&failures, list(&failures), detail);
        }
        _ => {}
    }
}

/// Kubelet calls that a driver does without.
pub(super) fn skip_node_operations(list: &Field<'_, '_>, cx: &mut Context<'_>) {
    const PREPARE: &str = "NodePrepareResources";
    const UNPREPARE: &str = "NodeUnprepareResources";
    let has = |name: &str| list.items().any(|item| item.text() == name);
    for item in list.items() {
        if !matches!(item.text(), PREPARE | UNPREPARE | "*") {
            cx.issues.unsupported(&item, item.text(), &["*", PREPARE, UNPREPARE]);
        }
    }
    unique(list, |item| item.text().to_owned(), cx);
    if has(PREPARE) && !has(UNPREPARE) && !has("*") {
        let detail = "NodePrepareResources cannot be skipped unless NodeUnprepareResources is also skipped";
        cx.issues.invalid_value(list, super::meta::json(list), detail);
    }
}
