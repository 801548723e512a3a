//! The world as the API server last showed it, with our own decisions laid over it until the
//! server shows them too.
//!
//! Each claim and pod is kept as it was last seen; what decisions look at, the [`Snapshot`], has
//! it with the placements that are still on their way. When such a placement is written or given
//! up, or the server shows something newer, the object is laid out anew from what was seen. So no
//! order of events and answers makes a device look free that is not.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tracing::error;

use super::condition::SeenCondition;
use super::effect::{self, Effect};
use super::overlay::with_placements;
use super::untyped::{ObjectKey, Untyped};
use super::watch::{Change, Kind};
use crate::k8s::decode::{self, DecodeError, Interner};
use crate::k8s::tree::Node as Tree;
use crate::model::{
    ClaimKey, ClassName, Features, Name, NodeName, Pod, PodKey, ResourceClaim, Snapshot, Uid,
};
use crate::scheduling::Placement;
use crate::scheduling::assume::{Commit, assume};

/// After how many changes the names that nobody uses any more are forgotten.
const SWEEP: u32 = 100_000;

/// A pod as it was last seen.
#[derive(Clone, Debug)]
pub struct SeenPod {
    /// What the server showed.
    pub pod: Arc<Pod>,
    /// Its condition `PodScheduled`.
    pub condition: SeenCondition,
    /// What the snapshot counts: the same, on the node that was chosen for it.
    effective: Arc<Pod>,
}

/// A claim as it was last seen.
#[derive(Clone, Debug)]
struct SeenClaim {
    object: Arc<Untyped>,
    claim: Arc<ResourceClaim>,
}

/// A placement that the server has not shown yet.
#[derive(Clone, Debug)]
struct Assumed {
    placement: Arc<Placement>,
    /// All of it was written; only the pod's own event is missing.
    written: bool,
}

/// The world as far as this scheduler knows it.
#[derive(Debug)]
pub struct Cache {
    snapshot: Snapshot,
    interner: Interner,
    changes: u32,
    served: BTreeSet<Name>,
    pods: BTreeMap<PodKey, SeenPod>,
    claims: BTreeMap<ClaimKey, SeenClaim>,
    /// Placements by the identity of their pod.
    assumed: BTreeMap<Uid, Assumed>,
    /// Uids of claims that vanished while placements are on their way: an answer to one of our
    /// writes that comes late must not bring them back.
    vanished: BTreeSet<String>,
}

impl Cache {
    /// An empty world, in which pods of these scheduler names are served.
    pub fn new(features: Features, served: impl IntoIterator<Item = Name>) -> Self {
        Self {
            snapshot: Snapshot::new(features),
            interner: Interner::default(),
            changes: 0,
            served: served.into_iter().collect(),
            pods: BTreeMap::new(),
            claims: BTreeMap::new(),
            assumed: BTreeMap::new(),
            vanished: BTreeSet::new(),
        }
    }

    /// What decisions look at.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// A pod as it was last seen.
    pub fn pod(&self, key: &PodKey) -> Option<&SeenPod> {
        self.pods.get(key)
    }

    /// A claim as the server sent it.
    pub fn object(&self, key: &ClaimKey) -> Option<&Arc<Untyped>> {
        self.claims.get(key).map(|seen| &seen.object)
    }

    /// Takes in what the server showed, and says what it means for pods that wait.
    pub fn take(&mut self, change: Change) -> Vec<Effect> {
        self.changes += 1;
        if self.changes >= SWEEP {
            self.changes = 0;
            self.interner.sweep();
        }
        let result = match change {
            Change::Set(kind, object) => {
                let key = object.key();
                self.set(kind, object).map_err(|error| (kind, key, error))
            }
            Change::Removed(kind, key) => Ok(self.remove(kind, key)),
            Change::Listed(_) => Ok(Vec::new()),
        };
        result.unwrap_or_else(|(kind, ObjectKey { namespace, name }, error)| {
            // The server checked it, so this is a fault of ours. As good as absent, but said.
            error!(?kind, namespace, name, %error, "cannot read an object");
            Vec::new()
        })
    }

    fn set(&mut self, kind: Kind, object: Untyped) -> Result<Vec<Effect>, DecodeError> {
        let tree = Tree::from(object.json());
        let interner = &mut self.interner;
        match kind {
            Kind::Pod => {
                let pod = decode::pod(&tree, interner)?;
                return Ok(self.set_pod(pod, SeenCondition::of(object.json())));
            }
            Kind::ResourceClaim => {
                let claim = decode::claim(&tree, interner)?;
                return Ok(self.set_claim(object, claim));
            }
            Kind::Node => {
                let node = decode::node(&tree, interner)?;
                if self.snapshot.nodes().get(&node.name).is_some_and(|before| *before.node == node) {
                    return Ok(Vec::new()); // a heartbeat
                }
                self.snapshot.set_node(node);
            }
            Kind::DeviceClass => self.snapshot.set_class(decode::class(&tree, interner)?),
            Kind::ResourceSlice => self.snapshot.set_slice(decode::slice(&tree, interner)?),
            Kind::DeviceTaintRule => self.snapshot.set_taint_rule(decode::taint_rule(&tree, interner)?),
        }
        Ok(vec![Effect::MayHelpAny])
    }

    fn remove(&mut self, kind: Kind, ObjectKey { namespace, name }: ObjectKey) -> Vec<Effect> {
        match kind {
            Kind::Pod => return self.remove_pod(&PodKey::new(namespace, name)),
            Kind::ResourceClaim => return self.remove_claim(&ClaimKey::new(namespace, name)),
            Kind::Node => self.snapshot.remove_node(&NodeName::from(name)),
            Kind::DeviceClass => self.snapshot.remove_class(&ClassName::from(name)),
            Kind::ResourceSlice => self.snapshot.remove_slice(&Name::from(name)),
            Kind::DeviceTaintRule => self.snapshot.remove_taint_rule(&Name::from(name)),
        }
        vec![Effect::MayHelpAny]
    }

    fn set_pod(&mut self, pod: Pod, condition: SeenCondition) -> Vec<Effect> {
        let before = self.pods.get(&pod.key).cloned();
        let mut effects = Vec::new();
        if before.as_ref().is_some_and(|before| before.pod.uid != pod.uid) {
            // The deletion was missed.
            effects.extend(self.remove_pod(&pod.key));
        }
        let before = before.filter(|before| before.pod.uid == pod.uid);
        let pod = Arc::new(pod);
        let is_placed = pod.node_name.is_none() && self.assumed.contains_key(&pod.uid);
        if !is_placed {
            effects.extend(effect::of_pod(before.as_ref().map(|seen| &*seen.pod), &pod, &self.served));
            self.drop_if_written(&pod.uid);
        }
        let effective = self.on_assumed_node(&pod);
        self.snapshot.set_pod(&effective, before.as_ref().map(|seen| &*seen.effective));
        self.pods.insert(pod.key.clone(), SeenPod { pod, condition, effective });
        effects
    }

    fn on_assumed_node(&self, pod: &Arc<Pod>) -> Arc<Pod> {
        match self.assumed.get(&pod.uid) {
            Some(assumed) if pod.node_name.is_none() => {
                Arc::new(Pod { node_name: Some(assumed.placement.node.clone()), ..(**pod).clone() })
            }
            _ => Arc::clone(pod),
        }
    }

    fn remove_pod(&mut self, key: &PodKey) -> Vec<Effect> {
        let Some(seen) = self.pods.remove(key) else { return Vec::new() };
        self.snapshot.remove_pod(&seen.effective);
        self.drop_if_written(&seen.pod.uid);
        effect::of_removed_pod(&seen.effective)
    }

    /// The server shows what became of a pod: its placement has served, if it was written.
    fn drop_if_written(&mut self, pod: &Uid) {
        if self.assumed.get(pod).is_some_and(|assumed| assumed.written) {
            self.assumed.remove(pod);
        }
    }

    fn set_claim(&mut self, object: Untyped, claim: ResourceClaim) -> Vec<Effect> {
        let key = claim.key.clone();
        let before = self.claims.get(&key).filter(|seen| seen.object.uid() == object.uid());
        if before.is_some_and(|seen| seen.object.version() >= object.version()) {
            return Vec::new(); // seen already, in the answer to a write
        }
        let effects = effect::of_claim(before.map(|seen| &*seen.claim), &claim);
        self.claims.insert(key.clone(), SeenClaim { object: Arc::new(object), claim: Arc::new(claim) });
        self.lay_out_claim(&key);
        effects
    }

    fn remove_claim(&mut self, key: &ClaimKey) -> Vec<Effect> {
        let Some(seen) = self.claims.remove(key) else { return Vec::new() };
        if self.assumed.values().any(|assumed| !assumed.written) {
            self.vanished.insert(seen.object.uid().to_owned());
        }
        self.snapshot.remove_claim(key);
        effect::of_removed_claim(&seen.claim)
    }

    /// Puts a claim into the snapshot as it was last seen, with the placements that are on their
    /// way.
    fn lay_out_claim(&mut self, key: &ClaimKey) {
        let Some(seen) = self.claims.get(key) else {
            self.snapshot.remove_claim(key);
            return;
        };
        let on_their_way =
            self.assumed.values().filter(|assumed| !assumed.written).map(|assumed| &*assumed.placement);
        let (claim, in_flight) = with_placements(&seen.claim, on_their_way);
        self.snapshot.set_in_flight(&claim.uid, in_flight);
        self.snapshot.set_claim(claim);
    }

    /// The pod is on its way to its node, with the devices chosen.
    pub fn assume(&mut self, placement: &Arc<Placement>) {
        self.snapshot = assume(&self.snapshot, placement, Commit::InFlight);
        let assumed = Assumed { placement: Arc::clone(placement), written: false };
        self.assumed.insert(placement.pod.uid.clone(), assumed);
        self.lay_out_pod(&placement.pod);
    }

    /// The placement of this pod was written.
    pub fn written(&mut self, pod: &Uid) {
        let Some(assumed) = self.assumed.get_mut(pod) else { return };
        assumed.written = true;
        let placement = Arc::clone(&assumed.placement);
        let seen = self.pods.get(&placement.pod.key).filter(|seen| seen.pod.uid == *pod);
        if seen.is_none_or(|seen| seen.pod.node_name.is_some()) {
            self.assumed.remove(pod); // its event came first
        }
        self.lay_out_claims(&placement);
    }

    /// The placement of this pod was given up.
    pub fn forget(&mut self, pod: &Uid) {
        let Some(Assumed { placement, .. }) = self.assumed.remove(pod) else { return };
        self.lay_out_claims(&placement);
        self.lay_out_pod(&placement.pod);
    }

    fn lay_out_claims(&mut self, placement: &Placement) {
        for placed in &placement.claims {
            self.lay_out_claim(&placed.claim.key);
        }
        if let Some(extended) = &placement.extended {
            self.snapshot.remove_claim(&extended.placeholder);
        }
        if self.assumed.values().all(|assumed| assumed.written) {
            self.vanished.clear();
        }
    }

    fn lay_out_pod(&mut self, Pod { key, uid, .. }: &Pod) {
        let Some(seen) = self.pods.get(key).filter(|seen| seen.pod.uid == *uid) else { return };
        let effective = self.on_assumed_node(&seen.pod);
        self.snapshot.set_pod(&effective, Some(&seen.effective));
        if let Some(seen) = self.pods.get_mut(key) {
            seen.effective = effective;
        }
    }

    /// Takes in the server's answers to our writes, which may come before or after the events of
    /// the same writes.
    pub fn answered(&mut self, claims: Vec<Untyped>) -> Vec<Effect> {
        let mut effects = Vec::new();
        for object in claims {
            if self.vanished.contains(object.uid()) {
                continue;
            }
            match decode::claim(&Tree::from(object.json()), &mut self.interner) {
                Ok(claim) => effects.extend(self.set_claim(object, claim)),
                Err(error) => error!(%error, "cannot read the answer to a write"),
            }
        }
        effects
    }
}
