//! `spec` of a `ResourceClaim` or template, and of a `DeviceClass`.

use std::collections::{BTreeMap, BTreeSet};

use super::devices::{self, cel_expression, unique};
use super::meta::{invalid_all, json};
use super::{COST_MAX, Context, names};
use crate::k8s::field::Field;
use crate::model::FeatureGate;

const REQUESTS_MAX: usize = 32;
const CONSTRAINTS_MAX: usize = 32;
const CONFIG_MAX: usize = 32;
const SELECTORS_MAX: usize = 32;
const ALTERNATIVES_MAX: usize = 8;
const DERIVED_MAX: usize = 32;
const PARAMETERS_MAX: usize = 10 * 1024;

const REFERENCE_TEXT: &str =
    "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'";

/// The names of requests, each with those of its subrequests.
pub(super) struct RequestNames<'n>(BTreeMap<&'n str, BTreeSet<&'n str>>);

impl<'n> RequestNames<'n> {
    /// The names of `spec.devices.requests`.
    pub(super) fn of(requests: &Field<'n, '_>) -> Self {
        let names = requests.items().map(|request| {
            let alternatives = request.child("firstAvailable");
            let inner = alternatives.items().map(|item| item.child("name").text()).collect();
            (request.child("name").text(), inner)
        });
        Self(names.collect())
    }

    fn has(&self, reference: &str) -> bool {
        let mut segments = reference.split('/');
        let request = segments.next().unwrap_or_default();
        let Some(inner) = self.0.get(request) else { return false };
        segments.next().is_none_or(|name| inner.contains(name) && segments.next().is_none())
    }

    /// Checks one reference to a request.
    pub(super) fn check(&self, reference: &Field<'_, '_>, cx: &mut Context<'_>) {
        let text = reference.text();
        if text.split('/').count() > 2 {
            cx.issues.invalid(reference, text, REFERENCE_TEXT);
            return;
        }
        for segment in text.split('/') {
            invalid_all(reference, segment, names::dns_label(segment), cx.issues);
        }
        if !self.has(text) {
            cx.issues.invalid(reference, text, REFERENCE_TEXT);
        }
    }

    /// Checks a list of references.
    pub(super) fn check_all(&self, list: &Field<'_, '_>, cx: &mut Context<'_>) {
        if devices::too_many(list, REQUESTS_MAX, cx) {
            return;
        }
        list.items().for_each(|reference| self.check(&reference, cx));
        unique(list, |item| item.text().to_owned(), cx);
    }
}

/// `spec` of a claim.
pub(super) fn claim_spec(spec: &Field<'_, '_>, cx: &mut Context<'_>) {
    let devices = spec.child("devices");
    let requests = devices.child("requests");
    let constraints = devices.child("constraints");
    let names = RequestNames::of(&requests);
    if !devices::too_many(&requests, REQUESTS_MAX, cx) {
        requests.items().for_each(|item| request(&item, &constraints, cx));
        unique(&requests, |item| item.child("name").text().to_owned(), cx);
    }
    if !devices::too_many(&constraints, CONSTRAINTS_MAX, cx) {
        constraints.items().for_each(|item| constraint(&item, &names, cx));
    }
    let config = devices.child("config");
    if !devices::too_many(&config, CONFIG_MAX, cx) {
        for item in config.items() {
            names.check_all(&item.child("requests"), cx);
            configuration(&item, cx);
        }
    }
    if std::mem::take(&mut cx.derived_cost) > COST_MAX {
        let detail =
            "too complex, total cost of derived attribute CEL expressions in the claim exceeds cost limit";
        cx.issues.forbidden(&devices, detail);
    }
}

fn request(request: &Field<'_, '_>, constraints: &Field<'_, '_>, cx: &mut Context<'_>) {
    let name = request.child("name");
    devices::device_name(&name, cx);
    let exactly = request.child("exactly");
    let alternatives = request.child("firstAvailable");
    match (exactly.is_set(), !alternatives.is_empty()) {
        (false, false) => {
            cx.issues.required(request, "exactly one of `exactly` or `firstAvailable` is required");
        }
        (true, true) => {
            let detail =
                "exactly one of `exactly` or `firstAvailable` is required, but multiple fields are set";
            cx.issues.invalid_value(request, "null", detail);
            declared(&exactly, cx);
            declared_alternatives(&alternatives, cx);
        }
        (true, false) => requirement(&exactly, name.text(), constraints, cx),
        (false, true) if devices::too_many(&alternatives, ALTERNATIVES_MAX, cx) => {}
        (false, true) => {
            for alternative in alternatives.items() {
                let inner = alternative.child("name");
                devices::device_name(&inner, cx);
                let full = format!("{}/{}", name.text(), inner.text());
                requirement(&alternative, &full, constraints, cx);
            }
            unique(&alternatives, |item| item.child("name").text().to_owned(), cx);
        }
    }
}

/// The rules that upstream declares on the type itself: they hold wherever it stands, even in a
/// request that should not have it.
fn declared(field: &Field<'_, '_>, cx: &mut Context<'_>) {
    devices::too_many(&field.child("selectors"), SELECTORS_MAX, cx);
    known_mode(&field.child("allocationMode"), cx);
    for toleration in field.child("tolerations").items() {
        devices::declared_toleration(&toleration, cx);
    }
}

fn declared_alternatives(alternatives: &Field<'_, '_>, cx: &mut Context<'_>) {
    if devices::too_many(alternatives, ALTERNATIVES_MAX, cx) {
        return;
    }
    for alternative in alternatives.items() {
        class_name(&alternative.child("deviceClassName"), cx);
        declared(&alternative, cx);
    }
    unique(alternatives, |item| item.child("name").text().to_owned(), cx);
}

fn class_name(class: &Field<'_, '_>, cx: &mut Context<'_>) {
    if class.text().is_empty() {
        cx.issues.required(class, "");
    } else {
        invalid_all(class, class.text(), names::dns_subdomain(class.text()), cx.issues);
    }
}

fn requirement(field: &Field<'_, '_>, name: &str, constraints: &Field<'_, '_>, cx: &mut Context<'_>) {
    class_name(&field.child("deviceClassName"), cx);
    selectors(&field.child("selectors"), cx);
    derived_attributes(&field.child("derivedAttributes"), name, constraints, cx);
    allocation_mode(field, cx);
    for toleration in field.child("tolerations").items() {
        devices::toleration(&toleration, cx);
    }
}

/// The mode and count as they are after the API server's defaulting.
fn allocation_mode(field: &Field<'_, '_>, cx: &mut Context<'_>) {
    let mode = field.child("allocationMode");
    let count = field.child("count");
    let number = count.int().unwrap_or(0);
    match mode.text() {
        "All" if number != 0 => {
            cx.issues.invalid_value(&count, number, "must not be specified when allocationMode is 'All'");
        }
        "" | "ExactCount" if number < 0 => {
            cx.issues.invalid_value(&count, number, "must be greater than zero");
        }
        _ => known_mode(&mode, cx),
    }
}

fn known_mode(mode: &Field<'_, '_>, cx: &mut Context<'_>) {
    if !matches!(mode.text(), "" | "ExactCount" | "All") {
        cx.issues.unsupported(mode, mode.text(), &["All", "ExactCount"]);
    }
}

/// Selectors of a request or class.
pub(super) fn selectors(selectors: &Field<'_, '_>, cx: &mut Context<'_>) {
    if devices::too_many(selectors, SELECTORS_MAX, cx) {
        return;
    }
    for selector in selectors.items() {
        let cel = selector.child("cel");
        if cel.is_set() {
            cel_expression(&cel.child("expression"), cx);
        } else {
            cx.issues.required(&cel, "");
        }
    }
}

fn derived_attributes(
    attributes: &Field<'_, '_>,
    request: &str,
    constraints: &Field<'_, '_>,
    cx: &mut Context<'_>,
) {
    if devices::too_many(attributes, DERIVED_MAX, cx) {
        return;
    }
    for attribute in attributes.items() {
        let name = attribute.child("name");
        if name.text().is_empty() {
            cx.issues.required(&name, "");
        } else {
            devices::attribute_reference(&name, cx);
            if !is_constrained(name.text(), request, constraints) {
                let detail = "must be referenced by at least one matchAttribute or distinctAttribute constraint targeting this request";
                cx.issues.invalid(&name, name.text(), detail);
            }
        }
        let expression = attribute.child("expression");
        if expression.text().is_empty() {
            cx.issues.required(&expression, "");
        } else if expression.text().len() > devices::EXPRESSION_MAX {
            cx.issues.too_long(&expression, devices::EXPRESSION_MAX);
        } else if !cx.stored {
            derived_expression(&expression, cx);
        }
    }
    unique(attributes, |item| item.child("name").text().to_owned(), cx);
}

fn derived_expression(expression: &Field<'_, '_>, cx: &mut Context<'_>) {
    match cx.expressions.derived(expression.text()) {
        Ok(cost) => {
            if cost > COST_MAX {
                cx.issues.forbidden(expression, devices::TOO_COMPLEX);
            }
            // Upstream's sum wraps.
            cx.derived_cost = cx.derived_cost.wrapping_add(cost);
        }
        Err(wrong) => cx.issues.invalid(expression, expression.text(), &wrong),
    }
}

/// Whether a constraint over this request, or `request/subrequest`, is about the attribute.
fn is_constrained(attribute: &str, request: &str, constraints: &Field<'_, '_>) -> bool {
    let parent = request.split('/').next().unwrap_or(request);
    constraints.items().any(|constraint| {
        let (matched, distinct) = (constraint.child("matchAttribute"), constraint.child("distinctAttribute"));
        let about = if matched.is_set() { matched.text() } else { distinct.text() };
        let over = constraint.child("requests");
        let targets = over.is_empty() || over.items().any(|name| [request, parent].contains(&name.text()));
        about == attribute && targets
    })
}

fn constraint(constraint: &Field<'_, '_>, names: &RequestNames<'_>, cx: &mut Context<'_>) {
    names.check_all(&constraint.child("requests"), cx);
    let matched = constraint.child("matchAttribute");
    let distinct = constraint.child("distinctAttribute");
    for attribute in [&matched, &distinct].into_iter().filter(|attribute| attribute.is_set()) {
        devices::attribute_reference(attribute, cx);
    }
    if matched.is_set() || distinct.is_set() {
        return;
    }
    if cx.features.has(FeatureGate::DRAConsumableCapacity) {
        let detail = "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required";
        cx.issues.required(constraint, detail);
    } else {
        cx.issues.required(&matched, "");
    }
}

/// Parameters for a driver, in a claim, class or allocation.
pub(super) fn configuration(config: &Field<'_, '_>, cx: &mut Context<'_>) {
    let opaque = config.child("opaque");
    if !opaque.is_set() {
        cx.issues.required(&opaque, "");
        return;
    }
    devices::driver_name(&opaque.child("driver"), cx);
    raw_extension(&opaque.child("parameters"), PARAMETERS_MAX, cx);
}

/// A JSON object that only a driver reads.
pub(super) fn raw_extension(field: &Field<'_, '_>, max: usize, cx: &mut Context<'_>) {
    match field.node() {
        None => cx.issues.required(field, ""),
        Some(_) if !cx.stored && json(field).len() > max => cx.issues.too_long(field, max),
        Some(node) if matches!(node.value, crate::k8s::tree::Value::Map(_)) => {}
        Some(_) => cx.issues.invalid(field, "<value omitted>", "must be a valid JSON object"),
    }
}

/// `spec` of a `DeviceClass`.
pub(super) fn class_spec(spec: &Field<'_, '_>, cx: &mut Context<'_>) {
    selectors(&spec.child("selectors"), cx);
    let config = spec.child("config");
    if !devices::too_many(&config, CONFIG_MAX, cx) {
        config.items().for_each(|item| configuration(&item, cx));
    }
    let name = spec.child("extendedResourceName");
    if name.is_set() {
        invalid_all(&name, name.text(), names::extended_resource(name.text()), cx.issues);
    }
}
