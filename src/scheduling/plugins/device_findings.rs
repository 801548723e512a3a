//! Why the devices of nodes do not meet a pod's claims. Looked at once for each kind of node, and
//! only for a pod that fits nowhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::allocator::funnel::{DeviceObstacle, RequestFunnel};
use crate::allocator::{Allocator, NodeKind, PoolStatus};
use crate::model::{ClaimKey, Name, NodeInfo, PoolId, Snapshot};
use crate::scheduling::decision::{DeviceFindings, NodeFunnel, PublishedSlices};

use super::dynamic_resources::Filter;
use super::extended_resources::ServedByDra;

/// Most kinds of nodes that are looked at.
const KINDS_MOST: usize = 16;

/// What tells nodes apart: what they serve by DRA, and the state of their devices; nodes that share
/// no state are each of their own kind.
type Kind<'a> = (ServedByDra, Result<NodeKind, &'a Name>);

/// The findings on nodes that could not meet the claims, at most [`KINDS_MOST`] kinds of them.
pub(crate) fn device_findings(
    filter: &mut Filter<'_>,
    allocator: &mut Allocator,
    snapshot: &Snapshot,
    nodes: &[&Arc<NodeInfo>],
) -> DeviceFindings {
    let mut kinds: BTreeMap<Kind<'_>, Vec<&Arc<NodeInfo>>> = BTreeMap::new();
    for info in nodes {
        let Ok(served) = filter.served(info) else { continue };
        let kind = filter.node_kind(allocator, info, served.clone()).ok_or(&info.node.name.0);
        kinds.entry((served, kind)).or_default().push(info);
    }
    let mut kinds: Vec<_> = kinds.into_iter().map(|((served, _), nodes)| (served, nodes)).collect();
    kinds.sort_by_key(|(_, nodes)| std::cmp::Reverse(nodes.len()));
    let others = kinds.get(KINDS_MOST..).unwrap_or_default().iter().map(|(_, nodes)| nodes.len()).sum();
    kinds.truncate(KINDS_MOST);
    kinds.sort_by(|a, b| a.1[0].node.name.cmp(&b.1[0].node.name));

    let mut funnels: Vec<NodeFunnel> = Vec::new();
    for (served, nodes) in kinds {
        let requests = filter.funnel(allocator, nodes[0], served);
        let names = nodes.iter().map(|info| info.node.name.clone());
        match funnels.iter_mut().find(|funnel| funnel.requests == requests) {
            Some(funnel) => funnel.nodes.extend(names),
            None => funnels.push(NodeFunnel { nodes: names.collect(), requests }),
        }
    }
    let requests = || funnels.iter().flat_map(|funnel| &funnel.requests);
    DeviceFindings {
        users: users(snapshot, requests()),
        pools: incomplete_pools(snapshot, requests()),
        specs: filter.pending().iter().map(|claim| (claim.key.clone(), Arc::clone(&claim.spec))).collect(),
        funnels: funnels.into(),
        others,
    }
}

/// The pods that use the claims which funnels name.
fn users<'a>(
    snapshot: &Snapshot,
    funnels: impl Iterator<Item = &'a RequestFunnel>,
) -> BTreeMap<ClaimKey, Box<[Name]>> {
    let claims: BTreeSet<&ClaimKey> =
        funnels.flat_map(|funnel| &funnel.steps).flat_map(|step| holders(&step.obstacle)).collect();
    let users = |key: &ClaimKey| {
        let claim = snapshot.claims().get(key)?;
        let name = |user: &Name| Name::from(format!("{}/{user}", key.namespace));
        Some((key.clone(), claim.reserved_for.iter().map(|user| name(&user.name)).collect()))
    };
    claims.into_iter().filter_map(users).collect()
}

fn holders(obstacle: &DeviceObstacle) -> &[ClaimKey] {
    match obstacle {
        DeviceObstacle::InUse { claims }
        | DeviceObstacle::Counter { claims, .. }
        | DeviceObstacle::CompatibilityGroups { claims, .. }
        | DeviceObstacle::CapacityLeft { claims, .. } => claims,
        _ => &[],
    }
}

/// How complete the pools are of which slices are missing.
fn incomplete_pools<'a>(
    snapshot: &Snapshot,
    funnels: impl Iterator<Item = &'a RequestFunnel>,
) -> BTreeMap<PoolId, PublishedSlices> {
    let unusable = funnels.flat_map(|funnel| &funnel.unusable);
    let incomplete = unusable.filter(|pool| pool.status == PoolStatus::Incomplete);
    incomplete.filter_map(|pool| Some((pool.pool.clone(), published(snapshot, &pool.pool)?))).collect()
}

fn published(snapshot: &Snapshot, pool: &PoolId) -> Option<PublishedSlices> {
    let slices = snapshot.slices().by_pool.get(pool)?;
    let generation = slices.values().map(|slice| slice.generation).max()?;
    let newest: Vec<_> = slices.values().filter(|slice| slice.generation == generation).collect();
    let expected = newest.first()?.slice_count;
    Some(PublishedSlices { generation, published: newest.len(), expected })
}
