//! Our verdict, through the reader of files.

use serde_json::Value;
use stowplan::k8s::{Finding, read};
use stowplan::model::Features;

use crate::bases::NAMESPACES;
use crate::verdict::Verdict;

/// What our reader says about an object.
pub fn verdict(object: &Value, features: &Features) -> Verdict {
    let text = object.to_string();
    match read([("namespaces", NAMESPACES), ("object", &text)], features) {
        Ok(objects) => from_findings(&objects.invalid),
        Err(error) => Verdict::WrongType(vec![error.to_string()]),
    }
}

fn from_findings(findings: &[Finding]) -> Verdict {
    // The words of the decoder, not of a rule.
    let wrong_type =
        |finding: &&Finding| finding.message.starts_with(&format!("{}: expected ", finding.field));
    let types: Vec<_> = findings.iter().filter(wrong_type).map(|finding| finding.field.clone()).collect();
    if !types.is_empty() {
        return Verdict::WrongType(types);
    }
    let unknown = findings.iter().filter(|finding| finding.message.starts_with("unknown field "));
    let unknown: std::collections::BTreeSet<_> = unknown.map(|finding| finding.field.clone()).collect();
    if !unknown.is_empty() {
        return Verdict::Unknown(unknown);
    }
    Verdict::invalid(findings.iter().map(|finding| {
        let message = finding.message.strip_prefix(&format!("{}: ", finding.field));
        (finding.field.clone(), message.unwrap_or(&finding.message).to_owned())
    }))
}
