//! What is kept from one question to the next: the pools and holders of each node, and answers by
//! what they depend on. A change in the snapshot drops just what it touches.
//!
//! Purely a memo: dropping it changes no answer. Shared values in keys are kept alive by the memo,
//! so that an address never stands for two things.

use std::sync::Arc;

use imbl::OrdMap;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::model::selection::Labels;
use crate::model::snapshot::SlicesByName;
use crate::model::{Node, NodeName, PoolId, PoolUse, Snapshot};

use super::book::{Book, ProjectionId};
use super::errors::Failure;
use super::held::Held;
use super::pool::{NodePools, gather};
use super::rules::{NodeOperations, Rules};
use super::search::End;
use super::shape::{ShapeId, Shapes};

/// The number of a list of claims.
pub(super) type QueryId = usize;
/// The number of a state of a node's devices.
type HeldId = usize;

/// Most of anything kept for a small cluster before the memo starts anew.
const GENERATION: usize = 1 << 15;
/// Shapes kept with each node.
const SHAPES: usize = 8;
/// Answers kept with each node.
const ANSWERS: usize = 4;
/// The feature that a node declares when kubelet calls may be left out.
const NODE_OPERATIONS: &str = "DRAOptionalNodeOperations";

/// How a search ended, for all nodes of one state.
#[derive(Debug)]
pub(super) struct Answer {
    pub end: End,
    pub steps: u64,
}

/// What a node reaches, and who holds it.
#[derive(Debug)]
pub(super) struct Inventory {
    pub pools: NodePools,
    pub held: Arc<Held>,
    pub node_operations: bool,
    /// By projection.
    shapes: SmallVec<[(ProjectionId, Option<ShapeId>); 2]>,
    held_id: HeldId,
    /// The number of each pool, and the revision of its holders that `held` is of.
    tracks: SmallVec<[(usize, u64); 2]>,
    answers: SmallVec<[(QueryId, Arc<Answer>); 1]>,
}

/// A node with what its inventory was made from.
#[derive(Debug)]
struct Entry {
    revision: u64,
    own: Option<SlicesByName>,
    shared: SlicesByName,
    consulted: Vec<(PoolId, Option<SlicesByName>)>,
    labels: Labels,
    inventory: Result<Inventory, Failure>,
}

/// The holders of a pool, followed through snapshots.
#[derive(Debug)]
struct Track {
    used: Option<Arc<PoolUse>>,
    revision: u64,
}

/// The memo.
#[derive(Debug)]
pub(super) struct Memo {
    slices: SlicesByName,
    slices_revision: u64,
    usage: OrdMap<PoolId, Arc<PoolUse>>,
    usage_revision: u64,
    tracks: Vec<Track>,
    by_pool: FxHashMap<PoolId, usize>,
    nodes: Vec<Entry>,
    by_node: FxHashMap<NodeName, usize>,
    shapes: Shapes,
    helds: FxHashMap<Arc<Held>, HeldId>,
    answers: FxHashMap<(QueryId, ShapeId, HeldId), Arc<Answer>>,
}

impl Default for Memo {
    fn default() -> Self {
        let nobody = Arc::new(Held::default());
        Self {
            slices: SlicesByName::new(),
            slices_revision: 0,
            usage: OrdMap::new(),
            usage_revision: 0,
            tracks: Vec::new(),
            by_pool: FxHashMap::default(),
            nodes: Vec::new(),
            by_node: FxHashMap::default(),
            shapes: Shapes::default(),
            helds: std::iter::once((nobody, 0)).collect(),
            answers: FxHashMap::default(),
        }
    }
}

impl Memo {
    /// Takes note of what has changed since the last question.
    pub fn follow(&mut self, snapshot: &Snapshot) {
        if !self.slices.ptr_eq(&snapshot.slices().all) {
            self.slices = snapshot.slices().all.clone();
            self.slices_revision += 1;
        }
        let usage = snapshot.usage().by_pool();
        if self.usage.ptr_eq(usage) {
            return;
        }
        self.usage_revision += 1;
        for change in self.usage.diff(usage) {
            use imbl::ordmap::DiffItem as D;
            let (pool, used) = match change {
                D::Add(pool, used) | D::Update { new: (pool, used), .. } => (pool, Some(used)),
                D::Remove(pool, _) => (pool, None),
            };
            if let Some(track) = self.by_pool.get(pool) {
                self.tracks[*track] = Track { used: used.cloned(), revision: self.usage_revision };
            }
        }
        self.usage = usage.clone();
    }

    /// Whether so much is kept that it is better to start anew.
    pub fn is_full(&self, snapshot: &Snapshot) -> bool {
        let nodes = snapshot.nodes().len();
        self.answers.len() > GENERATION + 2 * nodes
            || self.helds.len() > GENERATION + 2 * nodes
            || self.shapes.len() > GENERATION + 4 * nodes
            || self.nodes.len() > GENERATION + 2 * nodes
            || self.tracks.len() > GENERATION + 2 * snapshot.slices().by_pool.len()
    }

    /// The number of a node, whose inventory is up to date.
    ///
    /// # Errors
    /// A node selector that cannot be evaluated.
    pub fn locate(
        &mut self,
        rules: &Rules,
        book: &mut Book,
        snapshot: &Snapshot,
        node: &Node,
    ) -> Result<usize, Failure> {
        let operations = rules.node_operations == NodeOperations::IfDeclared
            && node.declared_features.iter().any(|feature| *feature == NODE_OPERATIONS);
        let Some(number) = self.by_node.get(&node.name).copied() else {
            let number = self.nodes.len();
            let entry = self.enter(rules, book, snapshot, node, operations);
            self.nodes.push(entry);
            self.by_node.insert(node.name.clone(), number);
            return self.refresh(number).map(|()| number);
        };
        if !self.nodes[number].is_fresh(self.slices_revision, snapshot, node, operations) {
            let entry = self.enter(rules, book, snapshot, node, operations);
            self.nodes[number] = entry;
        }
        self.refresh(number).map(|()| number)
    }

    /// The inventory of a node that was just located.
    ///
    /// # Errors
    /// None then.
    pub fn inventory(&mut self, number: usize) -> Result<&mut Inventory, Failure> {
        self.nodes[number].inventory.as_mut().map_err(|failure| failure.clone())
    }

    fn enter(
        &mut self,
        rules: &Rules,
        book: &mut Book,
        snapshot: &Snapshot,
        node: &Node,
        node_operations: bool,
    ) -> Entry {
        let slices = snapshot.slices();
        let inventory = gather(rules, book, slices, node).map(|pools| {
            let tracks = pools.pools.iter().map(|pool| (self.track(&pool.id), u64::MAX)).collect();
            let held = Arc::new(Held::default());
            let (shapes, answers) = (SmallVec::new(), SmallVec::new());
            Inventory { pools, held, node_operations, shapes, held_id: 0, tracks, answers }
        });
        let consulted = inventory.as_ref().map(|inventory| inventory.pools.consulted.clone());
        let with_slices = |pool: PoolId| {
            let slices = slices.by_pool.get(&pool).cloned();
            (pool, slices)
        };
        Entry {
            revision: self.slices_revision,
            own: slices.by_node.get(&node.name).cloned(),
            shared: slices.shared.clone(),
            consulted: consulted.unwrap_or_default().into_iter().map(with_slices).collect(),
            labels: node.labels.clone(),
            inventory,
        }
    }

    /// The number of a pool, whose holders are followed from now on.
    fn track(&mut self, pool: &PoolId) -> usize {
        if let Some(track) = self.by_pool.get(pool) {
            return *track;
        }
        let number = self.tracks.len();
        self.tracks.push(Track { used: self.usage.get(pool).cloned(), revision: self.usage_revision });
        self.by_pool.insert(pool.clone(), number);
        number
    }

    /// Looks the holders up again if any pool of the node has other ones.
    fn refresh(&mut self, number: usize) -> Result<(), Failure> {
        let Self { nodes, tracks, helds, .. } = self;
        let inventory = nodes[number].inventory.as_mut().map_err(|failure| failure.clone())?;
        if inventory.tracks.iter().all(|(track, seen)| tracks[*track].revision == *seen) {
            return Ok(());
        }
        for (track, seen) in &mut inventory.tracks {
            *seen = tracks[*track].revision;
        }
        let used = |pool: usize| tracks[inventory.tracks[pool].0].used.as_deref();
        let held = Arc::new(Held::new(&inventory.pools, used));
        let next = helds.len();
        inventory.held_id = *helds.entry(Arc::clone(&held)).or_insert(next);
        inventory.held = held;
        inventory.answers.clear();
        Ok(())
    }

    /// The state of a node that was just located, if nodes can share it. Claims that see no more of
    /// devices than the projection leaves cannot tell nodes of one state apart.
    pub fn state(&mut self, book: &mut Book, number: usize, projection: ProjectionId) -> Option<State> {
        let Self { nodes, shapes, .. } = self;
        let inventory = nodes[number].inventory.as_mut().ok()?;
        let known = inventory.shapes.iter().find(|(known, _)| *known == projection);
        let shape = if let Some((_, shape)) = known {
            *shape
        } else {
            let shape = shapes.number(book, projection, &inventory.pools, inventory.node_operations);
            if inventory.shapes.len() >= SHAPES {
                inventory.shapes.remove(0);
            }
            inventory.shapes.push((projection, shape));
            shape
        };
        shape.map(|shape| State(shape, inventory.held_id))
    }

    /// An answer given before to the same claims on a node of the same shape and state.
    pub fn answer(&self, query: QueryId, state: Option<State>) -> Option<&Arc<Answer>> {
        let State(shape, held) = state?;
        self.answers.get(&(query, shape, held))
    }

    /// Keeps an answer.
    pub fn keep(&mut self, query: QueryId, state: Option<State>, answer: Arc<Answer>) {
        if let Some(State(shape, held)) = state {
            self.answers.insert((query, shape, held), answer);
        }
    }
}

impl Entry {
    /// Whether the inventory is still that of the node.
    fn is_fresh(&mut self, revision: u64, snapshot: &Snapshot, node: &Node, operations: bool) -> bool {
        let Ok(inventory) = &self.inventory else { return false };
        if inventory.node_operations != operations || inventory.pools.by_labels && self.labels != node.labels
        {
            return false;
        }
        if self.revision == revision {
            return true;
        }
        self.revision = revision;
        let slices = snapshot.slices();
        let same = |a: Option<&SlicesByName>, b: Option<&SlicesByName>| match (a, b) {
            (Some(a), Some(b)) => a.ptr_eq(b),
            (None, None) => true,
            _ => false,
        };
        self.shared.ptr_eq(&slices.shared)
            && same(self.own.as_ref(), slices.by_node.get(&node.name))
            && self.consulted.iter().all(|(pool, seen)| same(seen.as_ref(), slices.by_pool.get(pool)))
    }
}

/// A state of a node's devices, equal for nodes that differ in names only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct State(ShapeId, HeldId);

impl Inventory {
    /// The answer to the same claims on this very node, as long as nothing changed.
    pub fn answer(&self, query: QueryId) -> Option<&Arc<Answer>> {
        self.answers.iter().find(|(known, _)| *known == query).map(|(_, answer)| answer)
    }

    /// Keeps an answer.
    pub fn keep(&mut self, query: QueryId, answer: Arc<Answer>) {
        if self.answers.len() >= ANSWERS {
            self.answers.remove(0);
        }
        self.answers.push((query, answer));
    }
}
