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
const NO_PLACE: [&str; 10] = [
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

pub const DIFFERENCES: [Difference; 7] = [
    Difference {
        name: "dropped-field",
        what: "A field of a feature that is off is refused; an API server drops it in silence.",
        why: "An object that asks for something else than its author wrote should not be scheduled.",
        link: DECISION,
        applies: |side, _, message| side == Side::Ours && message.contains("an API server drops this field"),
    },
    Difference {
        name: "selector-cost",
        what: "Selectors above the cost limit are accepted.",
        why: "Their cost is not estimated yet.",
        link: DECISION,
        applies: |side, _, message| {
            side == Side::Theirs && message.contains("too complex, exceeds cost limit")
        },
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
        what: "Taints of a node are named `spec.taints`, overheads `spec.overhead[cpu]`, labels of a template `spec.template.metadata.labels`, admin access in full; upstream says `metadata.taints`, `spec.overhead.limits[cpu]`, `spec.template.labels` and, of a claim template, `spec.devices.requests[0].adminAccess`.",
        why: "Paths say where the fault is.",
        link: DECISION,
        applies: |_, _, _| false, // the paths are brought into one form
    },
    Difference {
        name: "once",
        what: "A fault is named once: not again where a server copied it, from limits to requests, from capacity to allocatable or from a namespace's name to its label, nor for a selector as a whole.",
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
        name: "no-place",
        what: "The rules of probes, lifecycles, security contexts, environments, volumes and the like are not checked.",
        why: "They decide nothing about a pod's place; a pod that breaks them never reaches a scheduler.",
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
        let verdict = once(better_paths(without(side, verdict)), object["kind"] == "Namespace");
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
        let field = match field.strip_suffix(".exactly.adminAccess") {
            Some(request) => format!("{}.adminAccess", request.replace("spec.spec.", "spec.")),
            None => field,
        };
        field.strip_prefix("metadata.taints").map_or(field.clone(), |rest| format!("spec.taints{rest}"))
    })
}

/// See the entry `once`.
fn once(verdict: Verdict, is_namespace: bool) -> Verdict {
    let Verdict::Invalid(mut fields) = verdict else { return verdict };
    let all = fields.clone();
    let is_said = |field: &str, message: &str| all.get(field).is_some_and(|known| known.contains(message));
    // `Invalid value: "the name": …`
    let value = |message: &str| message.split('"').nth(1).map(str::to_owned);
    let names: BTreeSet<_> =
        all.get("metadata.name").into_iter().flatten().filter_map(|m| value(m)).collect();
    fields.retain(|field, messages| {
        if is_namespace && field == "metadata.labels" {
            messages.retain(|message| value(message).is_none_or(|value| !names.contains(&value)));
        }
        let copied = field
            .replace(".resources.requests[", ".resources.limits[")
            .replace("status.allocatable.", "status.capacity.");
        messages.retain(|message| copied == *field || !is_said(&copied, message));
        let inside = format!("{field}.");
        let is_selector =
            field.ends_with("spec.selector") && all.keys().any(|other| other.starts_with(&inside));
        !messages.is_empty() && !is_selector
    });
    Verdict::Invalid(fields)
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
