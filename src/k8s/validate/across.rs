//! Rules that need more than one object.

use std::collections::BTreeMap;

use crate::k8s::finding::Issue;
use crate::k8s::read::Objects;
use crate::k8s::tree::Place;
use crate::model::{DeviceRequest, Name, RequestKind};

/// Takes out claims that ask for `adminAccess` in a namespace without the label that permits it
/// (KEP-5018). What was allocated already was permitted at that time.
pub(in crate::k8s) fn across_objects(objects: &mut Objects) {
    let permits: BTreeMap<Name, bool> = objects
        .namespaces
        .iter()
        .map(|read| (read.object.name.clone(), read.object.permits_admin_access()))
        .collect();
    let is_refused = |namespace: &Name| !permits.get(namespace).copied().unwrap_or(false);
    let mut findings = Vec::new();
    objects.claims.retain(|read| {
        let claim = &read.object;
        let request = admin_index(&claim.spec.requests).filter(|_| claim.allocation.is_none());
        let Some(request) = request.filter(|_| is_refused(&claim.key.namespace)) else { return true };
        let name = format!("ResourceClaim/{}", claim.key);
        let field = format!("spec.devices.requests[{request}].exactly.adminAccess");
        findings.push(read.source.finding(&name, forbidden(field, &claim.key.namespace)));
        false
    });
    objects.templates.retain(|read| {
        let template = &read.object;
        let request = admin_index(&template.spec.requests);
        let Some(request) = request.filter(|_| is_refused(&template.key.namespace)) else { return true };
        let name = format!("ResourceClaimTemplate/{}", template.key);
        let field = format!("spec.spec.devices.requests[{request}].exactly.adminAccess");
        findings.push(read.source.finding(&name, forbidden(field, &template.key.namespace)));
        false
    });
    objects.invalid.extend(findings);
}

/// The first request with `adminAccess`.
fn admin_index(requests: &[DeviceRequest]) -> Option<usize> {
    let asks = |kind: &RequestKind| match kind {
        RequestKind::Exactly(requirement) => requirement.admin_access == Some(true),
        _ => false,
    };
    requests.iter().position(|request| asks(&request.kind))
}

fn forbidden(field: String, namespace: &Name) -> Issue {
    const LABEL: &str = crate::k8s::Namespace::ADMIN_ACCESS_LABEL;
    let detail =
        format!("admin access to devices requires the `{LABEL}: true` label on the containing namespace");
    let hint = format!("give Namespace {namespace} the label {LABEL}: \"true\"");
    let message = format!("{field}: Forbidden: {detail}");
    Issue { field, message, hint: Some(hint), place: Place::default(), expression: None }
}
