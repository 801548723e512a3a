//! From a solution to allocations, as they are written to the claims.

use crate::model::selection::{NodeSelector, NodeSelectorTerm, Requirement};
use crate::model::slice::Placement;
use crate::model::{AllocatedConfig, Allocation, ConfigSource, DeviceResult, Name, NodeName, ShareId};

use super::candidate::Stock;
use super::errors::{Failure, FatalReason};
use super::ledger::Placed;
use super::request::{DeviceOption, Query};
use super::rules::NodeOperations;
use super::search::Solution;

/// One allocation for each claim.
///
/// A share's identity is its position among all results, which is unique within the answer only.
///
/// # Errors
/// A node selector that an allocation cannot hold.
pub(super) fn allocations(
    stock: Stock<'_>,
    query: &Query,
    solution: &Solution,
    node: &NodeName,
) -> Result<Vec<Allocation>, Failure> {
    let mut placed = solution.placed.as_slice();
    let mut allocations = Vec::with_capacity(query.claims.len());
    for claim in 0..query.claims.len() {
        let of_claim = placed.iter().take_while(|placed| query.options[placed.option].claim == claim).count();
        let (own, rest) = placed.split_at(of_claim);
        let first = solution.placed.len() - placed.len();
        placed = rest;
        let results = own.iter().enumerate().map(|(at, placed)| result(stock, query, placed, first + at));
        let chosen: Vec<_> =
            solution.chosen[claim].iter().filter_map(|option| query.options.get(*option)).collect();
        allocations.push(Allocation {
            results: results.collect(),
            config: config(stock, query, claim, &chosen).into(),
            node_selector: node_selector(stock, own, node)
                .map_err(|terms| Failure::of_claim(claim, FatalReason::SelectorTerms { terms }))?,
            timestamp: None,
        });
    }
    Ok(allocations)
}

/// Checks that [`allocations`] can be made of a solution.
///
/// # Errors
/// A node selector that an allocation cannot hold.
pub(super) fn check(stock: Stock<'_>, query: &Query, solution: &Solution) -> Result<(), Failure> {
    let has_terms = |placed: &&Placed| {
        placement(stock, placed).node_selector.as_ref().is_some_and(|selector| selector.terms.len() > 1)
    };
    // Such placements are rare; whether one is in the way depends on the devices before it.
    if solution.placed.iter().any(|placed| has_terms(&placed)) {
        allocations(stock, query, solution, &NodeName::default())?;
    }
    Ok(())
}

fn placement<'s>(stock: Stock<'s>, placed: &Placed) -> &'s Placement {
    let (_, slice, device) = stock.pools.device(placed.device);
    match slice.per_device_node_selection {
        Some(true) => &device.placement,
        _ => &slice.placement,
    }
}

fn result(stock: Stock<'_>, query: &Query, placed: &Placed, ordinal: usize) -> DeviceResult {
    let option = &query.options[placed.option];
    let (pool, slice, device) = stock.pools.device(placed.device);
    let conditions = |conditions: &Option<Box<[Name]>>| {
        if stock.rules.binding_conditions { conditions.clone() } else { None }
    };
    DeviceResult {
        request: option.name.clone(),
        device: pool.id.device(device.name.clone()),
        admin_access: option.admin,
        tolerations: option.tolerations.clone(),
        binding_conditions: conditions(&device.binding_conditions),
        binding_failure_conditions: conditions(&device.binding_failure_conditions),
        share_id: placed.share.as_ref().map(|_| ShareId::from(format!("share-{ordinal}"))),
        consumed_capacity: placed
            .share
            .as_ref()
            .filter(|amounts| !amounts.is_empty())
            .map(|amounts| amounts.iter().cloned().collect()),
        skip_node_operations: if stock.rules.node_operations == NodeOperations::IfDeclared {
            slice.skip_node_operations.clone()
        } else {
            Box::default()
        },
    }
}

/// Class configuration once for each class, then what the claim says for the options chosen.
fn config(stock: Stock<'_>, query: &Query, claim: usize, chosen: &[&DeviceOption]) -> Vec<AllocatedConfig> {
    let spec = &query.claims[claim].spec;
    let mut entries: Vec<(AllocatedConfig, Vec<Name>)> = Vec::new();
    for (at, option) in chosen.iter().enumerate() {
        let same_class = chosen[..at].iter().position(|other| other.class.name == option.class.name);
        if let Some(first) = same_class.filter(|_| !stock.rules.config_per_request) {
            let name = chosen[first].name.clone();
            for (_, requests) in entries.iter_mut().filter(|(_, requests)| requests.first() == Some(&name)) {
                requests.push(option.name.clone());
            }
            continue;
        }
        entries.extend(option.class.config.iter().map(|config| {
            let opaque = config.opaque.clone();
            let entry = AllocatedConfig { source: ConfigSource::Class, requests: Box::default(), opaque };
            (entry, vec![option.name.clone()])
        }));
    }
    let parent = |option: &DeviceOption| spec.requests[option.request].name.clone();
    let names = |listed: &[Name], option: &DeviceOption| {
        listed.contains(&option.name) || listed.contains(&parent(option))
    };
    for config in &spec.config {
        if config.requests.is_empty() || chosen.iter().any(|option| names(&config.requests, option)) {
            let opaque = config.opaque.clone();
            let entry = AllocatedConfig { source: ConfigSource::Claim, requests: Box::default(), opaque };
            entries.push((entry, config.requests.to_vec()));
        }
    }
    let covers_all = |listed: &[Name]| chosen.iter().all(|option| names(listed, option));
    let keeps = stock.rules.config_keeps_requests;
    let finished = entries.into_iter().map(|(entry, requests)| {
        let requests = if !keeps && covers_all(&requests) { Vec::new() } else { requests };
        AllocatedConfig { requests: requests.into(), ..entry }
    });
    finished.collect()
}

/// From which nodes the devices of one claim are in reach; none means from every node. The error is
/// the number of terms that a selector has too many.
fn node_selector(
    stock: Stock<'_>,
    placed: &[Placed],
    node: &NodeName,
) -> Result<Option<NodeSelector>, usize> {
    let (mut fields, mut expressions) = (Vec::new(), Vec::new());
    for placed in placed {
        let (_, _, device) = stock.pools.device(placed.device);
        let placement = placement(stock, placed);
        if placement.node_name.is_some() || device.binds_to_node {
            return Ok(Some(NodeSelector::of_node(node)));
        }
        match placement.node_selector.as_ref().map(|selector| &selector.terms[..]) {
            None | Some([]) => {}
            Some([term]) => {
                merge(&mut fields, &term.match_fields);
                merge(&mut expressions, &term.match_expressions);
            }
            Some(terms) => return Err(terms.len()),
        }
    }
    if fields.is_empty() && expressions.is_empty() {
        return Ok(None);
    }
    let term = NodeSelectorTerm { match_expressions: expressions.into(), match_fields: fields.into() };
    Ok(Some(NodeSelector { terms: Box::new([term]) }))
}

/// Adds the requirements that are not there yet; the order of values does not matter.
fn merge(requirements: &mut Vec<Requirement>, added: &[Requirement]) {
    let same_values = |a: &[Name], b: &[Name]| {
        a.iter().all(|value| b.contains(value)) && b.iter().all(|value| a.contains(value))
    };
    for new in added {
        let known = requirements.iter().any(|old| {
            old.key == new.key && old.operator == new.operator && same_values(&old.values, &new.values)
        });
        if !known {
            requirements.push(new.clone());
        }
    }
}
