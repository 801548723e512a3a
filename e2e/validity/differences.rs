//! Where our verdict is another one on purpose. What is not in this list is a fault.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::verdict::{Verdict, stripped};

/// A difference on purpose.
pub struct Difference {
    pub name: &'static str,
    pub what: &'static str,
    pub why: &'static str,
    pub link: &'static str,
    /// Whether this entry is about what one side says of that field.
    applies: fn(Side, &str, &str) -> bool,
}

/// Who says it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Ours,
    Theirs,
}

const DECISION: &str = "docs/adr/003-input-checks.md";

/// Fields that say nothing about a pod's place: their types are checked, their rules are not.
const NO_PLACE: [&str; 11] = [
    "spec.podCIDR",
    "Probe.",
    ".lifecycle.",
    ".securityContext",
    ".env",
    ".volumes",
    ".volumeMounts",
    ".volumeDevices",
    ".dnsConfig",
    ".hostAliases",
    ".ephemeralContainers",
];

pub const DIFFERENCES: [Difference; 9] = [
    Difference {
        name: "dropped-field",
        what: "A field of a feature that is off is refused; an API server drops it in silence.",
        why: "An object that asks for something else than its author wrote should not be scheduled.",
        link: DECISION,
        applies: |side, _, message| side == Side::Ours && message.contains("an API server drops this field"),
    },
    Difference {
        name: "old-paths",
        what: "Fields of `v1beta1` requests and devices are named as `v1` has them.",
        why: "So does upstream, except where a rule was declared for `v1beta1` itself.",
        link: DECISION,
        applies: |_, _, _| false, // the paths are brought into one form
    },
    Difference {
        name: "better-paths",
        what: "Taints of a node are named `spec.taints`, overheads `spec.overhead[cpu]`, labels of a template `spec.template.metadata.labels`, attributes as they are written, admin access in full; upstream says `metadata.taints`, `spec.overhead.limits[cpu]`, `spec.template.labels`, attributes with the driver's name and, of a claim template, `spec.devices.requests[0].adminAccess`.",
        why: "Paths say where the fault is.",
        link: DECISION,
        applies: |_, _, _| false, // the paths are brought into one form
    },
    Difference {
        name: "once",
        what: "A fault is named once: not again where a server copied it, from limits to requests, from capacity to allocatable, from a name to a label or from a template's labels to a Job's, nor for a selector as a whole.",
        why: "The author wrote it once.",
        link: DECISION,
        applies: |_, _, _| false, // the second one is left out
    },
    Difference {
        name: "admin-results",
        what: "Results with admin access are accepted in any namespace; writing them takes its label.",
        why: "A status in a file was written before, when the namespace had the label.",
        link: DECISION,
        applies: |side, field, _| {
            side == Side::Theirs && stripped(field) == "status.allocation.devices.results.adminAccess"
        },
    },
    Difference {
        name: "admin-access-last",
        what: "The label that admin access takes is asked for in an object that is right in itself.",
        why: "It is a matter of another object, the namespace.",
        link: DECISION,
        applies: |_, _, _| false, // beside other faults it is left out
    },
    Difference {
        name: "beyond-limit",
        what: "Items of a list that is too long are not looked at; upstream looks at some.",
        why: "The list must become shorter first.",
        link: DECISION,
        applies: |_, _, _| false, // such items are left out
    },
    Difference {
        name: "unknown-gates",
        what: "`nodeAllocatableResources` and `partitionTypeAttribute` are checked although their features may be off.",
        why: "Their gates change nothing that is decided here.",
        link: DECISION,
        applies: |_, _, _| false, // the objects of such fields meet an API server with the features on
    },
    Difference {
        name: "no-place",
        what: "The rules of probes, lifecycles, security contexts, environments, volumes, a node's pod network and the like are not checked.",
        why: "They decide nothing about a pod's place; what breaks them never reaches a scheduler.",
        link: DECISION,
        applies: |side, field, _| {
            side == Side::Theirs && NO_PLACE.iter().any(|part| stripped(field).contains(part))
        },
    },
];

/// Both verdicts without what the list explains, their paths in one form.
pub fn without_known(object: &Value, ours: Verdict, theirs: Verdict) -> (Verdict, Verdict) {
    let is_old = object["apiVersion"] == "resource.k8s.io/v1beta1";
    let both = [(Side::Ours, ours), (Side::Theirs, theirs)];
    let [ours, theirs] = both.map(|(side, verdict)| {
        let verdict = once(better_paths(without(side, verdict)), &object["kind"]);
        if is_old { in_one_form(verdict) } else { verdict }
    });
    (ours, theirs)
}

fn each_path(verdict: Verdict, change: impl Fn(&str) -> String) -> Verdict {
    let Verdict::Invalid(fields) = verdict else { return verdict };
    Verdict::invalid(fields.into_iter().flat_map(|(field, messages)| {
        let field = change(&field);
        messages.into_iter().map(move |message| (field.clone(), message))
    }))
}

/// See the entry `better-paths`.
fn better_paths(verdict: Verdict) -> Verdict {
    each_path(verdict, |field| {
        let field = field
            .replace("overhead.limits[", "overhead[")
            .replace("template.labels", "template.metadata.labels")
            .replace("template.annotations", "template.metadata.annotations");
        let field = match field.split_once(".attributes[") {
            Some((device, rest)) if rest.contains('/') => {
                format!("{device}.attributes[{}", rest.split_once('/').map_or(rest, |(_, name)| name))
            }
            _ => field,
        };
        let field = match field.strip_suffix(".exactly.adminAccess") {
            Some(request) => format!("{}.adminAccess", request.replace("spec.spec.", "spec.")),
            None => field,
        };
        field.strip_prefix("metadata.taints").map_or(field.clone(), |rest| format!("spec.taints{rest}"))
    })
}

const TEMPLATE_LABELS: &str = "spec.template.metadata.labels";

/// See the entries `once` and `beyond-limit`.
fn once(verdict: Verdict, kind: &Value) -> Verdict {
    let Verdict::Invalid(mut fields) = verdict else { return verdict };
    let all = fields.clone();
    let is_said = |field: &str, message: &str| all.get(field).is_some_and(|known| known.contains(message));
    // `Invalid value: "the name": …`
    let value = |message: &str| message.split('"').nth(1).map(str::to_owned);
    let names: BTreeSet<_> =
        all.get("metadata.name").into_iter().flatten().filter_map(|m| value(m)).collect();
    fields.retain(|field, messages| {
        let is_label = field == "metadata.labels" || kind == "Job" && field == TEMPLATE_LABELS;
        if is_label && (kind == "Namespace" || kind == "Job") {
            messages.retain(|message| value(message).is_none_or(|value| !names.contains(&value)));
            messages.retain(|message| field == TEMPLATE_LABELS || !is_said(TEMPLATE_LABELS, message));
        }
        // Upstream cuts long keys short in some paths.
        let is_cut = field
            .split_once("...")
            .is_some_and(|(start, _)| all.keys().any(|other| other != field && other.starts_with(start)));
        if is_cut || is_beyond_limit(field, &all) {
            return false;
        }
        let copied = field
            .replace(".resources.requests[", ".resources.limits[")
            .replace("status.allocatable.", "status.capacity.");
        messages.retain(|message| copied == *field || !is_said(&copied, message));
        if all.len() > 1 && field.ends_with("adminAccess") {
            messages.retain(|message| !message.contains("admin access to devices requires"));
        }
        let inside = format!("{field}.");
        let is_selector =
            field.ends_with("spec.selector") && all.keys().any(|other| other.starts_with(&inside));
        !messages.is_empty() && !is_selector
    });
    Verdict::Invalid(fields)
}

/// See the entry `beyond-limit`.
fn is_beyond_limit(field: &str, all: &BTreeMap<String, BTreeSet<String>>) -> bool {
    let lists = field.match_indices('[').map(|(at, _)| &field[..at]);
    lists.filter_map(|list| all.get(list)).flatten().any(|message| message.starts_with("Too many"))
}

/// Without the steps that only one of `v1beta1` and `v1` has: see the entry `old-paths`.
fn in_one_form(verdict: Verdict) -> Verdict {
    each_path(verdict, |field| field.replace(".exactly", "").replace(".basic", ""))
}

fn without(side: Side, verdict: Verdict) -> Verdict {
    let Verdict::Invalid(mut fields) = verdict else { return verdict };
    fields.retain(|field, messages: &mut BTreeSet<String>| {
        messages.retain(|message| !DIFFERENCES.iter().any(|known| (known.applies)(side, field, message)));
        !messages.is_empty()
    });
    let fields: BTreeMap<_, _> = fields;
    if fields.is_empty() { Verdict::Accepted } else { Verdict::Invalid(fields) }
}
