//! What an allocation says beside its devices: configuration for drivers, and the nodes in reach.

use std::collections::{BTreeMap, BTreeSet};

use super::answer::Answer;
use super::{Given, World};
use crate::model::selection::Requirement;
use crate::model::{
    AllocatedConfig, ClaimSpec, ClassName, ConfigSource, Name, NodeSelector, NodeSelectorTerm,
};

/// The configuration that classes and claim make: that of each class once, then the claim's own
/// as far as it concerns a request or an alternative that was chosen. Entries for every request of
/// the claim name none.
pub(super) fn config(spec: &ClaimSpec, answers: &[Answer<'_>]) -> Vec<AllocatedConfig> {
    let mut names_of_class: BTreeMap<&ClassName, Vec<Name>> = BTreeMap::new();
    for answer in answers {
        names_of_class.entry(&answer.class.name).or_default().push(answer.name.clone());
    }
    let mut entries = Vec::new();
    for answer in answers {
        let Some(names) = names_of_class.remove(&answer.class.name) else { continue };
        entries.extend(answer.class.config.iter().map(|config| AllocatedConfig {
            source: ConfigSource::Class,
            requests: names.clone().into(),
            opaque: config.opaque.clone(),
        }));
    }
    let concerned = spec.config.iter().filter(|config| {
        config.requests.is_empty() || answers.iter().any(|answer| answer.is_named_in(&config.requests))
    });
    entries.extend(concerned.map(|config| AllocatedConfig {
        source: ConfigSource::Claim,
        requests: config.requests.clone(),
        opaque: config.opaque.clone(),
    }));
    for entry in &mut entries {
        if answers.iter().all(|answer| answer.is_named_in(&entry.requests)) {
            entry.requests = Box::default();
        }
    }
    entries
}

/// The nodes from which all devices are in reach: this one alone if any device is local to it or
/// ties the claim to it, else what the selectors of all devices ask together.
///
/// # Errors
/// A selector has that many terms, which cannot be merged.
pub(super) fn node_selector(world: &World<'_>, given: &[Given<'_>]) -> Result<Option<NodeSelector>, usize> {
    let mut term = NodeSelectorTerm::default();
    for one in given {
        let per_device = one.slice.per_device_node_selection == Some(true);
        let placement = if per_device { &one.device.placement } else { &one.slice.placement };
        if placement.node_name.is_some() || one.device.binds_to_node {
            return Ok(Some(NodeSelector::of_node(&world.node.name)));
        }
        match placement.node_selector.as_ref().map(|selector| &*selector.terms) {
            None | Some([]) => {}
            Some([only]) => {
                merge(&mut term.match_fields, &only.match_fields);
                merge(&mut term.match_expressions, &only.match_expressions);
            }
            Some(terms) => return Err(terms.len()),
        }
    }
    Ok((!term.is_empty()).then(|| NodeSelector { terms: Box::new([term]) }))
}

fn merge(into: &mut Box<[Requirement]>, more: &[Requirement]) {
    let values = |requirement: &Requirement| requirement.values.iter().cloned().collect::<BTreeSet<Name>>();
    let mut merged = std::mem::take(into).into_vec();
    for requirement in more {
        let same = |other: &Requirement| {
            other.key == requirement.key
                && other.operator == requirement.operator
                && values(other) == values(requirement)
        };
        if !merged.iter().any(same) {
            merged.push(requirement.clone());
        }
    }
    *into = merged.into();
}
