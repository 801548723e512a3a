//! What differs between two snapshots, as far as nodes are concerned.

use std::collections::BTreeSet;
use std::sync::Arc;

use imbl::ordmap::DiffItem;

use super::ids::{NodeName, PoolId};
use super::snapshot::Snapshot;

/// The nodes of which `after` tells something else than `before`: the node, the pods on it, or who
/// holds devices that it may reach. `None` if it may be any node: nodes came or went, or slices,
/// classes or gates changed.
///
/// The work is proportional to what changed, for snapshots that share the rest.
pub fn changed_nodes(before: &Snapshot, after: &Snapshot) -> Option<BTreeSet<NodeName>> {
    if !has_same_devices(before, after) {
        return None;
    }
    let mut changed = BTreeSet::new();
    for change in before.nodes().diff(after.nodes()) {
        match change {
            DiffItem::Update { new: (name, _), .. } => changed.insert(name.clone()),
            DiffItem::Add(..) | DiffItem::Remove(..) => return None,
        };
    }
    for change in before.usage().by_pool().diff(after.usage().by_pool()) {
        let (DiffItem::Add(pool, _) | DiffItem::Remove(pool, _) | DiffItem::Update { new: (pool, _), .. }) =
            change;
        changed.extend(nodes_of(after, pool)?);
    }
    Some(changed)
}

/// Whether both know the very same slices and classes under the same gates.
pub fn has_same_devices(a: &Snapshot, b: &Snapshot) -> bool {
    a.slices().all.ptr_eq(&b.slices().all)
        && a.classes().ptr_eq(b.classes())
        && (std::ptr::eq(a.features(), b.features()) || a.features() == b.features())
}

/// The nodes that reach devices of a pool; `None` if it is not a pool of single nodes.
fn nodes_of(snapshot: &Snapshot, pool: &PoolId) -> Option<Vec<NodeName>> {
    let Some(slices) = snapshot.slices().by_pool.get(pool) else { return Some(Vec::new()) };
    let node = |slice: &Arc<super::slice::ResourceSlice>| {
        slice.placement.node_name.clone().filter(|node| !node.as_str().is_empty())
    };
    slices.values().map(node).collect()
}
