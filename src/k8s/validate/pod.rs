//! Pods and pod templates: what decides about their place. Probes, volumes' contents, security
//! contexts and the like are held to their types only.

use std::collections::BTreeSet;

use super::meta::{self, invalid_all, json};
use super::{Context, affinity, container, names, resources};
use crate::k8s::field::Field;

/// A pod.
pub(super) fn pod(object: &Field<'_, '_>, cx: &mut Context<'_>) {
    let spec = object.child("spec");
    pod_spec(&spec, cx);
    let node_name = spec.child("nodeName");
    if !cx.stored && !spec.child("schedulingGates").is_empty() && !node_name.text().is_empty() {
        cx.issues.forbidden(&node_name, "cannot be set until all schedulingGates have been cleared");
    }
    let ephemeral = spec.child("ephemeralContainers");
    if !cx.stored && !ephemeral.is_empty() {
        cx.issues.forbidden(&ephemeral, "cannot be set on create");
    }
    for list in [spec.child("containers"), spec.child("initContainers")] {
        for container in list.items() {
            let image = container.child("image");
            if image.text().trim() != image.text() {
                cx.issues.invalid(&image, image.text(), "must not have leading or trailing whitespace");
            }
        }
    }
    claim_statuses(object, cx);
    let status = object.child("status");
    let nominated = status.child("nominatedNodeName");
    if !nominated.text().is_empty() {
        invalid_all(&nominated, nominated.text(), names::dns_subdomain(nominated.text()), cx.issues);
    }
    extended_claim_status(&status.child("extendedResourceClaimStatus"), &spec, cx);
}

/// A pod template of a workload.
pub(super) fn template(template: &Field<'_, '_>, cx: &mut Context<'_>) {
    let metadata = template.child("metadata");
    meta::labels(&metadata.child("labels"), cx.issues);
    meta::annotations(&metadata.child("annotations"), cx.issues);
    let spec = template.child("spec");
    pod_spec(&spec, cx);
    let ephemeral = spec.child("ephemeralContainers");
    if !ephemeral.is_empty() {
        cx.issues.forbidden(&ephemeral, "ephemeral containers not allowed in pod template");
    }
}

fn pod_spec(spec: &Field<'_, '_>, cx: &mut Context<'_>) {
    let claims = spec.child("resourceClaims");
    resource_claims(&claims, cx);
    let names: BTreeSet<_> = claims.items().map(|claim| claim.child("name").text()).collect();
    container::containers(spec, &names, cx);
    let pod_level = spec.child("resources");
    if pod_level.is_set() {
        resources::pod_level(&pod_level, spec, cx);
    }
    enumerated(&spec.child("restartPolicy"), &["Always", "OnFailure", "Never"], cx);
    enumerated(&spec.child("preemptionPolicy"), &["PreemptLowerPriority", "Never"], cx);
    meta::labels(&spec.child("nodeSelector"), cx.issues);
    affinity::affinity(&spec.child("affinity"), cx);
    scheduling_gates(&spec.child("schedulingGates"), cx);
    affinity::topology_spread(&spec.child("topologySpreadConstraints"), cx);
    for name in ["serviceAccountName", "nodeName", "priorityClassName", "runtimeClassName"] {
        let field = spec.child(name);
        if !field.text().is_empty() {
            invalid_all(&field, field.text(), names::dns_subdomain(field.text()), cx.issues);
        }
    }
    for name in ["hostname", "subdomain"] {
        let field = spec.child(name);
        if !field.text().is_empty() {
            invalid_all(&field, field.text(), names::dns_label(field.text()), cx.issues);
        }
    }
    let deadline = spec.child("activeDeadlineSeconds");
    if let Some(number) = deadline.int().filter(|number| !(1..=i64::from(i32::MAX)).contains(number)) {
        cx.issues.invalid_value(&deadline, number, "must be between 1 and 2147483647, inclusive");
    }
    for toleration in spec.child("tolerations").items() {
        affinity::toleration(&toleration, cx);
    }
    resources::overhead(&spec.child("overhead"), cx);
    volumes(&spec.child("volumes"), cx);
}

/// A text that may only be one of a few, if it is there.
pub(super) fn enumerated(field: &Field<'_, '_>, supported: &[&str], cx: &mut Context<'_>) {
    let text = field.text();
    if !text.is_empty() && !supported.contains(&text) {
        cx.issues.unsupported(field, text, supported);
    }
}

fn resource_claims(claims: &Field<'_, '_>, cx: &mut Context<'_>) {
    let mut seen = BTreeSet::new();
    for claim in claims.items() {
        let name = claim.child("name");
        if name.text().is_empty() {
            cx.issues.required(&name, "");
        } else if seen.contains(name.text()) {
            cx.issues.duplicate(&name, name.text());
        } else {
            invalid_all(&name, name.text(), names::dns_label(name.text()), cx.issues);
            seen.insert(name.text());
        }
        let (by_name, by_template) =
            (claim.child("resourceClaimName"), claim.child("resourceClaimTemplateName"));
        let detail = match (by_name.is_set(), by_template.is_set()) {
            (true, true) => {
                "at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified"
            }
            (false, false) => "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`",
            _ => "",
        };
        if !detail.is_empty() {
            cx.issues.invalid_value(&claim, json(&claim), detail);
        }
        for field in [by_name, by_template].iter().filter(|field| field.is_set()) {
            invalid_all(field, field.text(), names::dns_subdomain(field.text()), cx.issues);
        }
    }
}

fn scheduling_gates(gates: &Field<'_, '_>, cx: &mut Context<'_>) {
    let mut seen = BTreeSet::new();
    for gate in gates.items() {
        let name = gate.child("name").text();
        invalid_all(&gate, name, names::label_key(name), cx.issues);
        if !seen.insert(name) {
            cx.issues.duplicate(&gate, name);
        }
    }
}

fn volumes(volumes: &Field<'_, '_>, cx: &mut Context<'_>) {
    let mut seen = BTreeSet::new();
    for volume in volumes.items() {
        let name = volume.child("name");
        if name.text().is_empty() {
            cx.issues.required(&name, "");
        } else {
            invalid_all(&name, name.text(), names::dns_label(name.text()), cx.issues);
        }
        if !seen.insert(name.text()) {
            cx.issues.duplicate(&name, name.text());
        }
        let sources = volume.fields().filter(|(key, source)| *key != "name" && source.is_set());
        for (_, source) in sources.skip(1) {
            cx.issues.forbidden(&source, "may not specify more than 1 volume type");
        }
    }
}

/// `status.resourceClaimStatuses`.
fn claim_statuses(object: &Field<'_, '_>, cx: &mut Context<'_>) {
    let (spec, status) = (object.child("spec"), object.child("status"));
    let claims = spec.child("resourceClaims");
    let mut seen = BTreeSet::new();
    for entry in status.child("resourceClaimStatuses").items() {
        let name = entry.child("name");
        if !claims.items().any(|claim| claim.child("name").text() == name.text()) {
            let detail = "must match the name of an entry in `spec.resourceClaims`";
            cx.issues.invalid(&name, name.text(), detail);
        }
        if !seen.insert(name.text()) {
            cx.issues.duplicate(&name, name.text());
        }
        let claim = entry.child("resourceClaimName");
        if claim.is_set() {
            invalid_all(&claim, claim.text(), names::dns_subdomain(claim.text()), cx.issues);
        }
    }
}

/// `status.extendedResourceClaimStatus`: which request serves which resource of which container.
fn extended_claim_status(status: &Field<'_, '_>, spec: &Field<'_, '_>, cx: &mut Context<'_>) {
    if !status.is_set() {
        return;
    }
    let mappings = status.child("requestMappings");
    if mappings.is_empty() {
        cx.issues.required(&mappings, "at least one request mapping is required");
    }
    let (containers, inits) = (spec.child("containers"), spec.child("initContainers"));
    let mut seen = BTreeSet::new();
    for mapping in mappings.items() {
        let [container, resource, request] =
            ["containerName", "resourceName", "requestName"].map(|name| mapping.child(name));
        let mut all = containers.items().chain(inits.items());
        match all.find(|known| known.child("name").text() == container.text()) {
            None => {
                let detail =
                    "must match the name of an entry in spec.initContainers.name or spec.containers.name";
                cx.issues.invalid(&container, container.text(), detail);
            }
            // What is limited is requested by default.
            Some(known) if !resources::names(&known.child("resources")).contains(resource.text()) => {
                let detail = "must match the extended resource name of an entry in \
                              spec.initContainers.resources.requests or spec.containers.resources.requests";
                cx.issues.invalid(&resource, resource.text(), detail);
            }
            Some(_) => {}
        }
        // Upstream names no mapping here.
        invalid_all(
            &status.child("requestName"),
            request.text(),
            names::dns_label(request.text()),
            cx.issues,
        );
        if !seen.insert((container.text(), resource.text(), request.text())) {
            for field in [&container, &resource, &request] {
                cx.issues.duplicate(field, field.text());
            }
        }
    }
    let claim = status.child("resourceClaimName");
    if claim.text().is_empty() {
        cx.issues.required(&claim, "");
    } else {
        invalid_all(&claim, claim.text(), names::dns_subdomain(claim.text()), cx.issues);
    }
}
