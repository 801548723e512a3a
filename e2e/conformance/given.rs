//! Allocations in the form of the cases, written and read.

use stowplan::model::selection::Requirement;
use stowplan::model::{
    AllocatedConfig, Allocation, ClaimKey, ConfigSource, DeviceId, DeviceResult, Name, NodeSelector, ShareId,
    Toleration, TolerationOperator,
};

use super::case::toleration as read_toleration;
use super::text::{Block, expand, names_and_rest};
use super::world;

/// An allocation as lines. Shares have random identities, so only their presence shows.
pub fn lines(claim: &ClaimKey, allocation: &Allocation) -> Vec<String> {
    let selector = allocation.node_selector.as_ref().map(|selector| format!(" | where {}", terms(selector)));
    let mut lines = vec![format!("given {}{}", claim.name, selector.unwrap_or_default())];
    lines.extend(allocation.results.iter().map(|result| format!("  {}", device(result))));
    lines.extend(allocation.config.iter().map(|entry| format!("  {}", config(entry))));
    lines
}

fn terms(selector: &NodeSelector) -> String {
    let text = |prefix: &str, requirement: &Requirement| {
        assert_eq!(requirement.operator.as_str(), "In");
        format!("{prefix}{}={}", requirement.key, requirement.values.join(","))
    };
    let terms = selector.terms.iter().map(|term| {
        let labels = term.match_expressions.iter().map(|requirement| text("", requirement));
        let fields = term.match_fields.iter().map(|requirement| text(".", requirement));
        labels.chain(fields).collect::<Vec<_>>().join(" ")
    });
    terms.collect::<Vec<_>>().join(" or ")
}

fn device(result: &DeviceResult) -> String {
    let mut clauses = vec![format!("{} {}", result.request, result.device)];
    if result.admin_access {
        clauses.push("admin=true".to_owned());
    }
    clauses.extend(result.tolerations.iter().map(toleration));
    let mut list = |keyword: &str, words: &[Name]| {
        let words = words.iter().map(Name::as_str);
        clauses.push(std::iter::once(keyword).chain(words).collect::<Vec<_>>().join(" "));
    };
    result.binding_conditions.iter().for_each(|names| list("waits-for", names));
    result.binding_failure_conditions.iter().for_each(|names| list("fails-on", names));
    result.share_id.iter().for_each(|_| list("share", &[]));
    if let Some(consumed) = &result.consumed_capacity {
        let amounts = consumed.iter().map(|(name, amount)| Name::from(format!("{name}={amount}")));
        list("cap", &amounts.collect::<Vec<_>>());
    }
    if !result.skip_node_operations.is_empty() {
        list("skips", &result.skip_node_operations);
    }
    clauses.join(" | ")
}

fn toleration(toleration: &Toleration) -> String {
    let value = match toleration.operator {
        TolerationOperator::Equal => format!("={}", toleration.value),
        _ => String::new(),
    };
    let effect = toleration.effect.as_ref().map_or("", |effect| effect.as_str());
    format!("tolerate {}{value}:{effect}", toleration.key)
}

fn config(entry: &AllocatedConfig) -> String {
    let source = match entry.source {
        ConfigSource::Class => "class",
        ConfigSource::Claim => "claim",
    };
    let requests =
        if entry.requests.is_empty() { String::new() } else { format!(" [{}]", entry.requests.join(",")) };
    let opaque = entry.opaque.as_ref().map(|opaque| format!(" {} {}", opaque.driver, opaque.parameters));
    format!("config {source}{requests}{}", opaque.unwrap_or_default())
}

/// The same with shares that nobody has: the identities of an answer are its own, and whoever writes it
/// replaces them.
pub fn with_new_shares(allocations: &[Allocation]) -> Vec<Allocation> {
    let mut allocations = allocations.to_vec();
    let results = allocations.iter_mut().flat_map(|allocation| &mut allocation.results);
    for (number, share) in results.filter_map(|result| result.share_id.as_mut()).enumerate() {
        *share = ShareId::from(format!("new-{number}"));
    }
    allocations
}

/// The allocation that a `given` block describes; shares without a name get new identities.
pub fn read(block: &Block<'_>) -> Allocation {
    let (config, results): (Vec<_>, Vec<_>) =
        block.children.iter().partition(|child| child.keyword() == "config");
    let results = results.into_iter().flat_map(|child| {
        expand(child.head).into_iter().map(|head| read_device(child, &head)).collect::<Vec<_>>()
    });
    let numbered = results.enumerate().map(|(index, mut result)| {
        let unnamed = result.share_id.as_ref().is_some_and(|share| share.as_str().is_empty());
        if unnamed {
            result.share_id = Some(ShareId::from(format!("{}-{index}", block.rest())));
        }
        result
    });
    Allocation {
        results: numbered.collect(),
        config: config.into_iter().map(read_config).collect(),
        node_selector: block.one("where").map(world::node_selector),
        timestamp: None,
    }
}

fn read_device(block: &Block<'_>, head: &str) -> DeviceResult {
    let (request, device) = head.split_once(' ').expect("request and device");
    let path: Vec<&str> = device.split('/').collect();
    DeviceResult {
        request: request.into(),
        device: DeviceId::new(path[0], path[1], path[2]),
        admin_access: block.clauses.contains(&"admin=true"),
        tolerations: block.all("tolerate").map(read_toleration).collect(),
        binding_conditions: block.one("waits-for").map(world::names),
        binding_failure_conditions: block.one("fails-on").map(world::names),
        share_id: block.one("share").map(ShareId::from),
        consumed_capacity: block.one("cap").map(world::quantities),
        skip_node_operations: block.one("skips").map(world::names).unwrap_or_default(),
    }
}

fn read_config(block: &Block<'_>) -> AllocatedConfig {
    let (source, rest) = block.rest().split_once(' ').expect("a source");
    let (requests, opaque) = names_and_rest(rest);
    AllocatedConfig {
        source: if source == "class" { ConfigSource::Class } else { ConfigSource::Claim },
        requests: requests.into_iter().map(Name::from).collect(),
        opaque: Some(world::opaque(opaque)),
    }
}
