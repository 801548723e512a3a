//! `metadata`.

use std::collections::BTreeSet;

use super::names;
use crate::k8s::field::Field;
use crate::k8s::finding::Issues;
use crate::k8s::kind::Kind;
use crate::k8s::tree::Node;

/// Most bytes of all annotations of an object together.
const ANNOTATIONS_MAX: usize = 256 * 1024;

/// The metadata of an object as a whole.
pub(super) fn object_meta(kind: Kind, metadata: &Field<'_, '_>, issues: &mut Issues) {
    let name = metadata.child("name");
    let form = match kind {
        // The pods of a StatefulSet have its name in theirs, which are names of hosts.
        Kind::Namespace | Kind::StatefulSet => names::dns_label,
        _ => names::dns_subdomain,
    };
    if name.text().is_empty() {
        issues.required(&name, "name or generateName is required");
    } else {
        invalid_all(&name, name.text(), form(name.text()), issues);
    }
    let namespace = metadata.child("namespace");
    // Of what has no namespace, an API server drops it.
    if kind.is_namespaced() {
        invalid_all(&namespace, namespace.text(), names::dns_label(namespace.text()), issues);
    }
    labels(&metadata.child("labels"), issues);
    annotations(&metadata.child("annotations"), issues);
    owners(&metadata.child("ownerReferences"), issues);
    let finalizers = metadata.child("finalizers");
    for finalizer in finalizers.items() {
        let text = finalizer.text();
        invalid_all(&finalizers, text, names::label_key(text), issues);
        if !text.contains('/') && !matches!(text, "kubernetes" | "orphan" | "foregroundDeletion") {
            let detail = "name is neither a standard finalizer name nor is it fully qualified";
            issues.invalid(&finalizer, text, detail);
        }
    }
}

/// The metadata of a template: labels and annotations only.
pub(super) fn template_meta(metadata: &Field<'_, '_>, issues: &mut Issues) {
    annotations(&metadata.child("annotations"), issues);
    labels(&metadata.child("labels"), issues);
    for (key, field) in metadata.fields() {
        if !matches!(key, "labels" | "annotations") && field.is_set() {
            issues.forbidden(&field, "cannot be set");
        }
    }
}

/// Reports each text as a reason why the value is wrong.
pub(super) fn invalid_all(field: &Field<'_, '_>, value: &str, wrong: Vec<String>, issues: &mut Issues) {
    for detail in wrong {
        issues.invalid(field, value, &detail);
    }
}

pub(super) fn labels(labels: &Field<'_, '_>, issues: &mut Issues) {
    for (key, value) in labels.entries() {
        invalid_all(labels, key, names::label_key(key), issues);
        invalid_all(labels, value.text(), names::label_value(value.text()), issues);
    }
}

pub(super) fn annotations(annotations: &Field<'_, '_>, issues: &mut Issues) {
    let mut size = 0;
    for (key, value) in annotations.entries() {
        invalid_all(annotations, key, names::label_key(&key.to_lowercase()), issues);
        size += key.len() + value.text().len();
    }
    if size > ANNOTATIONS_MAX {
        issues.too_long(annotations, ANNOTATIONS_MAX);
    }
}

fn owners(owners: &Field<'_, '_>, issues: &mut Issues) {
    let mut controller: Option<String> = None;
    let mut seen: Vec<serde_json::Value> = Vec::new();
    for owner in owners.items() {
        // An API server keeps one of equal references.
        let content = owner.node().map_or(serde_json::Value::Null, Node::to_json);
        if seen.contains(&content) {
            continue;
        }
        seen.push(content);
        for name in ["apiVersion", "kind", "name", "uid"] {
            let field = owner.child(name);
            if field.text().is_empty() {
                issues.required(&field, "must not be empty");
            }
        }
        let api_version = owner.child("apiVersion");
        if api_version.text().matches('/').count() > 1 || api_version.text().ends_with('/') {
            issues.invalid(&api_version, api_version.text(), "must be <group>/<version> or <version>");
        }
        if owner.child("controller").is_true() {
            let name = format!("{}/{}", owner.child("kind").text(), owner.child("name").text());
            if let Some(first) = &controller {
                let both = format!("Found \"true\" in references for {first} and {name}");
                let detail = format!("Only one reference can have Controller set to true. {both}");
                issues.invalid_value(owners, json(owners), &detail);
            } else {
                controller = Some(name);
            }
        }
    }
}

/// A structure as upstream prints it in messages.
pub(super) fn json(field: &Field<'_, '_>) -> String {
    field.node().map_or_else(|| "null".to_owned(), |node| node.to_json().to_string())
}

/// `status.conditions` of `metav1.Condition`, which must differ in type.
pub(super) fn conditions(conditions: &Field<'_, '_>, max: usize, issues: &mut Issues) {
    if conditions.len() > max {
        issues.too_many(conditions, conditions.len(), max);
    }
    let mut types = BTreeSet::new();
    for condition in conditions.items() {
        let of_type = condition.child("type");
        if !types.insert(of_type.text()) {
            issues.duplicate(&condition, of_type.text());
        }
        if of_type.text().is_empty() {
            issues.required(&of_type, "must be set");
        } else {
            invalid_all(&of_type, of_type.text(), names::label_key(of_type.text()), issues);
        }
        let status = condition.child("status");
        if !matches!(status.text(), "True" | "False" | "Unknown") {
            issues.unsupported(&status, status.text(), &["False", "True", "Unknown"]);
        }
        if !condition.child("lastTransitionTime").is_set() {
            issues.required(&condition.child("lastTransitionTime"), "must be set");
        }
        if let Some(generation) = condition.child("observedGeneration").int().filter(|value| *value < 0) {
            let detail = "must be greater than or equal to zero";
            issues.invalid_value(&condition.child("observedGeneration"), generation, detail);
        }
        condition_texts(&condition, issues);
    }
}

/// The most bytes of a condition's reason.
const REASON_MAX: usize = 1024;
const REASON_TEXT: &str = "a condition reason must start with alphabetic character, optionally followed by a string of \
     alphanumeric characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  \
     or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is \
     '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')";
/// The most bytes of a condition's message.
const MESSAGE_MAX: usize = 32 * 1024;

fn condition_texts(condition: &Field<'_, '_>, issues: &mut Issues) {
    let (reason, message) = (condition.child("reason"), condition.child("message"));
    let text = reason.text();
    if text.is_empty() {
        issues.required(&reason, "must be set");
    } else if !is_reason(text) {
        issues.invalid(&reason, text, REASON_TEXT);
    }
    if text.len() > REASON_MAX {
        issues.too_long(&reason, REASON_MAX);
    }
    if message.text().len() > MESSAGE_MAX {
        issues.too_long(&message, MESSAGE_MAX);
    }
}

fn is_reason(text: &str) -> bool {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | ',' | ':');
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && text.chars().all(is_inner)
}
