//! Workloads: their template, and that they select the pods that it makes.

use super::meta::{invalid_all, json};
use super::{Context, names, pod, selector};
use crate::k8s::field::Field;
use crate::k8s::kind::Kind;

/// `spec` of a Deployment, `ReplicaSet`, `StatefulSet`, `DaemonSet` or Job.
pub(super) fn workload(kind: Kind, spec: &Field<'_, '_>, cx: &mut Context<'_>) {
    for name in ["replicas", "minReadySeconds", "parallelism", "completions", "progressDeadlineSeconds"] {
        let field = spec.child(name);
        if let Some(number) = field.int().filter(|number| *number < 0) {
            cx.issues.invalid_value(&field, number, "must be greater than or equal to 0");
        }
    }
    let service = spec.child("serviceName");
    if kind == Kind::StatefulSet && !service.text().is_empty() {
        invalid_all(&service, service.text(), names::dns_label(service.text()), cx.issues);
    }
    if kind == Kind::Deployment {
        progress_deadline(spec, cx);
    }
    let template = spec.child("template");
    // The selector of a Job is made by the API server.
    let selects = kind == Kind::Job || selection(kind, &spec.child("selector"), &template, cx);
    if !selects && matches!(kind, Kind::Deployment | Kind::ReplicaSet | Kind::StatefulSet) {
        return; // upstream looks at their template with a selector only
    }
    pod::template(&template, cx);
    let template = template.child("spec");
    let policy = template.child("restartPolicy");
    match (kind, policy.text()) {
        (Kind::Job, "" | "Always") => {
            cx.issues.required(&policy, "valid values: \"OnFailure\", \"Never\"");
        }
        (Kind::Job, "OnFailure" | "Never") | (_, "" | "Always") => {}
        (Kind::Job, other) => cx.issues.unsupported(&policy, other, &["OnFailure", "Never"]),
        (_, other @ ("OnFailure" | "Never")) => cx.issues.unsupported(&policy, other, &["Always"]),
        _ => {}
    }
    let deadline = template.child("activeDeadlineSeconds");
    if kind != Kind::Job && deadline.is_set() {
        // Upstream names the ReplicaSet that a Deployment makes.
        let owner = if kind == Kind::Deployment { Kind::ReplicaSet } else { kind };
        let detail = format!("activeDeadlineSeconds in {} is not Supported", owner.as_str());
        cx.issues.forbidden(&deadline, &detail);
    }
}

/// A Deployment that must be ready for longer than its rollout may take.
fn progress_deadline(spec: &Field<'_, '_>, cx: &mut Context<'_>) {
    let deadline = spec.child("progressDeadlineSeconds");
    let seconds = deadline.int().unwrap_or(600);
    if seconds <= spec.child("minReadySeconds").int().unwrap_or(0) {
        cx.issues.invalid_value(&deadline, seconds, "must be greater than minReadySeconds");
    }
}

/// The name of a Job is a label of its pods.
pub(super) fn job_name(metadata: &Field<'_, '_>, spec: &Field<'_, '_>, cx: &mut Context<'_>) {
    if spec.child("manualSelector").is_true() {
        return;
    }
    let name = metadata.child("name");
    let template = spec.child("template");
    let labels = template.child("metadata");
    invalid_all(&labels.child("labels"), name.text(), names::label_value(name.text()), cx.issues);
}

/// Whether the selector has the form of one, if there is any.
fn selection(kind: Kind, field: &Field<'_, '_>, template: &Field<'_, '_>, cx: &mut Context<'_>) -> bool {
    let metadata = template.child("metadata");
    let labels = metadata.child("labels");
    let unmatched = "`selector` does not match template `labels`";
    if !field.is_set() {
        if kind != Kind::DaemonSet {
            cx.issues.required(field, "");
        }
        cx.issues.invalid_value(&labels, json(&labels), unmatched);
        return true;
    }
    let before = cx.issues.list().len();
    selector::label_selector(field, cx.issues);
    let is_formed = cx.issues.list().len() == before;
    if field.child("matchLabels").is_empty() && field.child("matchExpressions").is_empty() {
        let detail = format!("empty selector is invalid for {}", kind.as_str().to_lowercase());
        cx.issues.invalid_value(field, json(field), &detail);
    }
    if cx.issues.list().len() == before && !selector::selects(field, &labels) {
        cx.issues.invalid_value(&labels, json(&labels), unmatched);
    }
    is_formed
}
