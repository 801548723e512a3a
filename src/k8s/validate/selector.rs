//! Node selectors and label selectors.

use super::meta::invalid_all;
use super::names;
use crate::k8s::field::Field;
use crate::k8s::finding::Issues;

/// A `core/v1 NodeSelector` that is there.
pub(super) fn node_selector(selector: &Field<'_, '_>, issues: &mut Issues) {
    let terms = selector.child("nodeSelectorTerms");
    if terms.is_empty() {
        issues.required(&terms, "must have at least one node selector term");
    }
    for term in terms.items() {
        node_selector_term(&term, true, issues);
    }
}

/// One term; preferences may name values that no label can have.
pub(super) fn node_selector_term(term: &Field<'_, '_>, strict_values: bool, issues: &mut Issues) {
    for requirement in term.child("matchExpressions").items() {
        label_requirement(&requirement, strict_values, issues);
    }
    for requirement in term.child("matchFields").items() {
        field_requirement(&requirement, issues);
    }
}

fn label_requirement(requirement: &Field<'_, '_>, strict_values: bool, issues: &mut Issues) {
    let operator = requirement.child("operator");
    let values = requirement.child("values");
    match operator.text() {
        "In" | "NotIn" if values.is_empty() => {
            issues.required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
        }
        "Exists" | "DoesNotExist" if !values.is_empty() => {
            issues.forbidden(&values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
        }
        "Gt" | "Lt" if values.len() != 1 => {
            issues.required(&values, "must be specified single value when `operator` is 'Lt' or 'Gt'");
        }
        "In" | "NotIn" | "Exists" | "DoesNotExist" | "Gt" | "Lt" => {}
        other => issues.invalid(&operator, other, "not a valid selector operator"),
    }
    let key = requirement.child("key");
    invalid_all(&key, key.text(), names::label_key(key.text()), issues);
    if strict_values {
        for value in values.items() {
            invalid_all(&value, value.text(), names::label_value(value.text()), issues);
        }
    }
}

fn field_requirement(requirement: &Field<'_, '_>, issues: &mut Issues) {
    let operator = requirement.child("operator");
    let values = requirement.child("values");
    match operator.text() {
        "In" | "NotIn" if values.len() == 1 => {}
        "In" | "NotIn" => issues.required(
            &values,
            "must be only one value when `operator` is 'In' or 'NotIn' for node field selector",
        ),
        other => issues.invalid(&operator, other, "not a valid selector operator"),
    }
    let key = requirement.child("key");
    if key.text() == "metadata.name" {
        for value in values.items() {
            invalid_all(&value, value.text(), names::dns_subdomain(value.text()), issues);
        }
    } else {
        issues.invalid(&key, key.text(), "not a valid field selector key");
    }
}

/// A `metav1.LabelSelector` that is there.
pub(super) fn label_selector(selector: &Field<'_, '_>, issues: &mut Issues) {
    super::meta::labels(&selector.child("matchLabels"), issues);
    for requirement in selector.child("matchExpressions").items() {
        let operator = requirement.child("operator");
        let values = requirement.child("values");
        match operator.text() {
            "In" | "NotIn" if values.is_empty() => {
                issues.required(&values, "must be specified when `operator` is 'In' or 'NotIn'");
            }
            "Exists" | "DoesNotExist" if !values.is_empty() => {
                issues
                    .forbidden(&values, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            other => issues.invalid(&operator, other, "not a valid selector operator"),
        }
        let key = requirement.child("key");
        invalid_all(&key, key.text(), names::label_key(key.text()), issues);
        for value in values.items() {
            invalid_all(&value, value.text(), names::label_value(value.text()), issues);
        }
    }
}

/// Whether a valid label selector selects these labels.
pub(super) fn selects(selector: &Field<'_, '_>, labels: &Field<'_, '_>) -> bool {
    let label = |key: &str| labels.node().and_then(|labels| labels.text(key));
    let exact = selector.child("matchLabels").entries().all(|(key, value)| label(key) == Some(value.text()));
    exact
        && selector.child("matchExpressions").items().all(|requirement| {
            let actual = label(requirement.child("key").text());
            let among = || {
                let values = requirement.child("values");
                values.items().any(|value| Some(value.text()) == actual)
            };
            match requirement.child("operator").text() {
                "In" => among(),
                "NotIn" => actual.is_none() || !among(),
                "Exists" => actual.is_some(),
                _ => actual.is_none(),
            }
        })
}
