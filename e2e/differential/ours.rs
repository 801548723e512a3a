//! The same question, answered by this project.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use stowplan::allocator::check::{CheckedClaim, check};
use stowplan::allocator::{AllocateError, Allocator, ClaimToAllocate};
use stowplan::k8s::decode::{self, Interner};
use stowplan::k8s::encode;
use stowplan::k8s::tree::Node as Tree;
use stowplan::model::{FeatureGate, Features, ResourceClaim, Snapshot};

/// The allocator's names of gates.
const GATES: &[(&str, &[FeatureGate])] = &[
    ("AdminAccess", &[FeatureGate::DRAAdminAccess]),
    ("PrioritizedList", &[FeatureGate::DRAPrioritizedList]),
    ("PartitionableDevices", &[FeatureGate::DRAPartitionableDevices]),
    ("DeviceTaints", &[FeatureGate::DRADeviceTaints]),
    (
        "DeviceBindingAndStatus",
        &[FeatureGate::DRADeviceBindingConditions, FeatureGate::DRAResourceClaimDeviceStatus],
    ),
    ("ConsumableCapacity", &[FeatureGate::DRAConsumableCapacity]),
    ("FractionalCapacityRange", &[FeatureGate::DRAFractionalCapacityRange]),
    ("ListTypeAttributes", &[FeatureGate::DRAListTypeAttributes]),
    ("CompatibilityGroups", &[FeatureGate::DRADeviceCompatibilityGroups]),
    ("DerivedAttributes", &[FeatureGate::DRADerivedAttributes]),
    ("OptionalNodeOperations", &[FeatureGate::DRAOptionalNodeOperations]),
];

/// The outcome on one node, in the form in which both sides are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// One allocation a claim, as the API writes it; share ids are numbered.
    Fits(Value),
    /// It does not fit.
    DoesNotFit,
    /// An error of this node.
    NodeError(String),
    /// An error that ends the attempt.
    Fatal(String),
    /// The search was cut off.
    CutOff,
}

impl Answer {
    /// The kind of answer, for tallies and comparison.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Fits(_) => "fits",
            Self::DoesNotFit => "does not fit",
            Self::NodeError(_) => "error of the node",
            Self::Fatal(_) => "fatal error",
            Self::CutOff => "cut off",
        }
    }
}

/// What upstream's answer says.
pub fn read_upstream(answer: &Value) -> Vec<Answer> {
    let nodes = answer["nodes"].as_array().unwrap_or_else(|| panic!("an answer a node: {answer}"));
    nodes
        .iter()
        .map(|node| {
            let error = node["error"].as_str().unwrap_or_default().to_owned();
            if let Some(panic) = node["panic"].as_str() {
                Answer::Fatal(format!("panic: {panic}"))
            } else if node["timedOut"] == true {
                Answer::CutOff
            } else if node["nodeLocal"] == true {
                Answer::NodeError(error)
            } else if !error.is_empty() {
                Answer::Fatal(error)
            } else if node["results"].is_array() {
                Answer::Fits(comparable(&node["results"]))
            } else {
                Answer::DoesNotFit
            }
        })
        .collect()
}

/// The gates that a question sets.
pub fn gates(question: &Value) -> Vec<(FeatureGate, bool)> {
    let set = |name: &str| question["features"][name] == true;
    GATES.iter().flat_map(|(name, gates)| gates.iter().map(move |gate| (*gate, set(name)))).collect()
}

/// The release of the oracle under the gates of a question.
pub fn features(question: &Value) -> Features {
    gates(question).into_iter().fold(Features::default(), |features, (gate, on)| features.with(gate, on))
}

/// A world of the model, and what is asked of it.
pub struct Ours {
    snapshot: Snapshot,
    claims: Vec<ResourceClaim>,
    nodes: Vec<stowplan::model::Node>,
}

impl Ours {
    /// Reads a question; `None` if an object cannot be read.
    pub fn read(question: &Value) -> Option<Self> {
        let features = features(question);
        let mut interner = Interner::default();
        let mut snapshot = Snapshot::new(features);
        let list = |key: &str| question[key].as_array().cloned().unwrap_or_default();
        for slice in list("slices") {
            snapshot.set_slice(decode::slice(&Tree::from(&slice), &mut interner).ok()?);
        }
        for rule in list("taintRules") {
            snapshot.set_taint_rule(decode::taint_rule(&Tree::from(&rule), &mut interner).ok()?);
        }
        for class in list("classes") {
            snapshot.set_class(decode::class(&Tree::from(&class), &mut interner).ok()?);
        }
        for claim in list("allocated") {
            snapshot.set_claim(Arc::new(decode::claim(&Tree::from(&claim), &mut interner).ok()?));
        }
        let mut nodes = Vec::new();
        for node in list("nodes") {
            let node = decode::node(&Tree::from(&node), &mut interner).ok()?;
            snapshot.set_node(node.clone());
            nodes.push(node);
        }
        let claims = list("claims");
        let claims = claims.iter().map(|claim| decode::claim(&Tree::from(claim), &mut interner).ok());
        Some(Self { snapshot, claims: claims.collect::<Option<_>>()?, nodes })
    }

    /// Answers it, node by node. Every allocation is judged by the independent checker.
    pub fn answer(&self) -> Vec<Answer> {
        let mut allocator = Allocator::new(self.snapshot.features());
        let asked: Vec<_> =
            self.claims.iter().map(|c| ClaimToAllocate { key: &c.key, uid: &c.uid, spec: &c.spec }).collect();
        let mut answers = Vec::new();
        for node in &self.nodes {
            let answer = match allocator.allocate(&self.snapshot, node, &asked).result {
                Ok(None) => Answer::DoesNotFit,
                Ok(Some(allocations)) => {
                    let claims = self.claims.iter().zip(allocations.iter());
                    let checked: Vec<_> = claims
                        .map(|(c, allocation)| CheckedClaim {
                            key: &c.key,
                            uid: &c.uid,
                            spec: &c.spec,
                            allocation,
                        })
                        .collect();
                    match check(&self.snapshot, node, &checked) {
                        Ok(()) => {
                            let values: Vec<_> = allocations.iter().map(encode::allocation).collect();
                            Answer::Fits(comparable(&json!(values)))
                        }
                        Err(violation) => Answer::Fatal(format!("check: {violation}")),
                    }
                }
                Err(AllocateError::Node(error)) => Answer::NodeError(error.to_string()),
                Err(AllocateError::Fatal(error)) => Answer::Fatal(error.to_string()),
                Err(AllocateError::Budget { .. }) => Answer::CutOff,
            };
            answers.push(answer);
        }
        answers
    }
}

/// The value with share ids numbered, keys sorted, and empty lists and nulls left out.
fn comparable(value: &Value) -> Value {
    let mut shares = BTreeMap::new();
    normalised(value, &mut shares).unwrap_or(Value::Null)
}

fn normalised(value: &Value, shares: &mut BTreeMap<String, usize>) -> Option<Value> {
    match value {
        Value::Null => None,
        Value::Array(items) => {
            Some(Value::Array(items.iter().map(|i| normalised(i, shares).unwrap_or(json!({}))).collect()))
        }
        Value::Object(fields) => {
            let mut out = Map::new();
            let sorted: BTreeMap<_, _> = fields.iter().collect();
            for (key, field) in sorted {
                let field = if key == "shareID" {
                    let next = shares.len();
                    let id = field.as_str().unwrap_or_default().to_owned();
                    Some(json!(*shares.entry(id).or_insert(next)))
                } else if key == "parameters" {
                    Some(json!(field.to_string()))
                } else {
                    normalised(field, shares)
                };
                let empty = |v: &Value| v.as_array().is_some_and(Vec::is_empty) || *v == json!({});
                if let Some(field) = field.filter(|field| !empty(field)) {
                    out.insert(key.clone(), field);
                }
            }
            Some(Value::Object(out))
        }
        other => Some(other.clone()),
    }
}
