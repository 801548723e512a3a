//! Containers: names, ports, resources and the claims that they use.

use std::collections::BTreeSet;

use super::meta::invalid_all;
use super::{Context, names, resources};
use crate::k8s::field::Field;

/// All containers of a pod whose claims have these names.
pub(super) fn containers(spec: &Field<'_, '_>, claims: &BTreeSet<&str>, cx: &mut Context<'_>) {
    let containers = spec.child("containers");
    if containers.is_empty() {
        cx.issues.required(&containers, "");
    }
    let mut seen = BTreeSet::new();
    let mut ports = BTreeSet::new();
    for item in containers.items() {
        container(&item, claims, cx);
        let name = item.child("name");
        if !seen.insert(name.text()) {
            cx.issues.duplicate(&name, name.text());
        }
        host_ports(&item, &mut ports, cx);
    }
    for item in spec.child("initContainers").items() {
        container(&item, claims, cx);
        let name = item.child("name");
        if !name.text().is_empty() && !seen.insert(name.text()) {
            cx.issues.duplicate(&name, name.text());
        }
        // They run one after another.
        host_ports(&item, &mut BTreeSet::new(), cx);
        if item.child("restartPolicy").text() != "Always" {
            for name in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
                let field = item.child(name);
                if field.is_set() {
                    let detail = "may not be set for init containers without restartPolicy=Always";
                    cx.issues.forbidden(&field, detail);
                }
            }
        }
    }
}

fn container(container: &Field<'_, '_>, claims: &BTreeSet<&str>, cx: &mut Context<'_>) {
    let name = container.child("name");
    if name.text().is_empty() {
        cx.issues.required(&name, "");
    } else {
        invalid_all(&name, name.text(), names::dns_label(name.text()), cx.issues);
    }
    let image = container.child("image");
    if image.text().is_empty() {
        cx.issues.required(&image, "");
    }
    ports(&container.child("ports"), cx);
    super::pod::enumerated(&container.child("imagePullPolicy"), &["Always", "IfNotPresent", "Never"], cx);
    super::pod::enumerated(&container.child("restartPolicy"), &["Always", "Never", "OnFailure"], cx);
    let requirements = container.child("resources");
    resources::container(&requirements, cx);
    claim_names(&requirements.child("claims"), claims, cx);
}

fn ports(ports: &Field<'_, '_>, cx: &mut Context<'_>) {
    let mut seen = BTreeSet::new();
    for port in ports.items() {
        let name = port.child("name");
        if !name.text().is_empty() {
            let wrong = names::port_name(name.text());
            if !wrong.is_empty() {
                invalid_all(&name, name.text(), wrong, cx.issues);
            } else if !seen.insert(name.text()) {
                cx.issues.duplicate(&name, name.text());
            }
        }
        let number = port.child("containerPort");
        if number.int().unwrap_or(0) == 0 {
            cx.issues.required(&number, "");
        }
        for field in [number, port.child("hostPort")] {
            if let Some(number) = field.int().filter(|n| *n != 0 && !(1..=65535).contains(n)) {
                cx.issues.invalid_value(&field, number, "must be between 1 and 65535, inclusive");
            }
        }
        super::pod::enumerated(&port.child("protocol"), &["SCTP", "TCP", "UDP"], cx);
    }
}

/// Ports of the node that the container occupies; each may be occupied once.
fn host_ports(container: &Field<'_, '_>, seen: &mut BTreeSet<String>, cx: &mut Context<'_>) {
    for port in container.child("ports").items() {
        let host_port = port.child("hostPort");
        let Some(number) = host_port.int().filter(|number| *number != 0) else { continue };
        let protocol = Some(port.child("protocol").text()).filter(|text| !text.is_empty()).unwrap_or("TCP");
        let key = format!("{protocol}/{}/{number}", port.child("hostIP").text());
        if seen.contains(&key) {
            cx.issues.duplicate(&host_port, &key);
        }
        seen.insert(key);
    }
}

/// `resources.claims`.
fn claim_names(list: &Field<'_, '_>, claims: &BTreeSet<&str>, cx: &mut Context<'_>) {
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    for item in list.items() {
        let name = item.child("name").text();
        if name.is_empty() {
            cx.issues.required(&item, "");
            continue;
        }
        let request = item.child("request");
        if !request.text().is_empty() && !seen.contains(&(name, "")) {
            invalid_all(&request, request.text(), names::dns_label(request.text()), cx.issues);
        }
        // A claim as a whole overlaps with each of its requests.
        let key = (name, request.text());
        if seen.contains(&(name, ""))
            || (request.text().is_empty() && seen.iter().any(|(other, _)| *other == name))
        {
            cx.issues.duplicate(&item, name);
        } else if seen.contains(&key) {
            cx.issues.duplicate(&item, &format!("{name}/{}", request.text()));
        }
        seen.insert(key);
        if !claims.contains(name) {
            let known: Vec<_> = claims.iter().copied().collect();
            let which = if known.is_empty() {
                " which is empty".to_owned()
            } else {
                format!(": {}", known.join(", "))
            };
            cx.issues.not_found(
                &item,
                name,
                &format!("must be one of the names in pod.spec.resourceClaims{which}"),
            );
        }
    }
}
