//! The rules of each kind, as upstream's API validation has them.
//!
//! Paths and messages are those of `pkg/apis/resource/validation` and `pkg/apis/core/validation` of
//! Kubernetes 1.37, so that what is refused here reads as an API server's refusal. Objects are in
//! the form of `v1`, and their types were checked before.

mod across;
mod affinity;
mod capacity;
mod claim;
mod container;
mod devices;
mod gates;
mod meta;
mod names;
mod pod;
mod resources;
mod selector;
mod slice;
mod status;
mod workload;

use std::collections::BTreeMap;

use super::field::Field;
use super::finding::Issues;
use super::kind::Kind;
use super::tree::Node;
use crate::cel::{self, CompileError};
use crate::model::Features;

pub(super) use across::across_objects;

/// What every rule needs.
struct Context<'c> {
    features: &'c Features,
    issues: &'c mut Issues,
    /// Whether an API server stored the object: then rules that only hold at creation are past.
    stored: bool,
    expressions: &'c mut Expressions,
    /// What the derived attributes of the claim may cost together.
    derived_cost: u64,
}

/// What an expression may cost at most, or what is wrong with it.
type Compiled = Result<u64, String>;

/// The most that an expression may cost by its estimate, and that all derived attributes of a claim
/// may cost together.
const COST_MAX: u64 = 1_000_000;

/// CEL expressions that were compiled already.
#[derive(Debug)]
pub(super) struct Expressions {
    environment: cel::Environment,
    selectors: BTreeMap<Box<str>, Compiled>,
    derived: BTreeMap<Box<str>, Compiled>,
}

impl Expressions {
    pub(super) fn new(features: &Features) -> Self {
        Self {
            environment: cel::Environment::new(features),
            selectors: BTreeMap::new(),
            derived: BTreeMap::new(),
        }
    }

    /// What an API server says of a selector.
    fn selector(&mut self, expression: &str) -> Compiled {
        let compile = || compiled(cel::compile(expression, &self.environment));
        self.selectors.entry(expression.into()).or_insert_with(compile).clone()
    }

    /// What it says of a derived attribute.
    fn derived(&mut self, expression: &str) -> Compiled {
        let compile = || compiled(cel::compile_derived(expression, &self.environment));
        self.derived.entry(expression.into()).or_insert_with(compile).clone()
    }
}

/// What is too complex for our machine alone is none of an API server's business: the allocator
/// refuses it.
fn compiled(program: Result<cel::Program, CompileError>) -> Compiled {
    match program {
        Ok(program) => Ok(program.cost_estimate().max),
        Err(CompileError::TooComplex) => Ok(0),
        Err(error) => Err(error.to_string()),
    }
}

/// Checks one object.
pub(super) fn object(
    kind: Kind,
    object: &Node,
    features: &Features,
    expressions: &mut Expressions,
    issues: &mut Issues,
) {
    let root = Field::root(object);
    let metadata = root.child("metadata");
    let stored = !metadata.child("resourceVersion").text().is_empty();
    let cx = &mut Context { features, issues, stored, expressions, derived_cost: 0 };
    meta::object_meta(kind, &metadata, cx.issues);
    gates::dropped_fields(kind, &root, cx);
    let spec = root.child("spec");
    match kind {
        Kind::Node => {
            affinity::node_taints(&spec.child("taints"), cx);
            let status = root.child("status");
            for list in [status.child("capacity"), status.child("allocatable")] {
                for (name, amount) in list.fields() {
                    resources::resource_amount(&amount, name, cx);
                }
            }
        }
        Kind::Namespace => {}
        Kind::Pod => pod::pod(&root, cx),
        Kind::Deployment | Kind::ReplicaSet | Kind::StatefulSet | Kind::DaemonSet | Kind::Job => {
            workload::workload(kind, &spec, cx);
            if kind == Kind::Job {
                workload::job_name(&metadata, &spec, cx);
            }
        }
        Kind::ResourceClaim => {
            claim::claim_spec(&spec, cx);
            status::claim_status(&root.child("status"), &spec, cx);
        }
        Kind::ResourceClaimTemplate => {
            meta::template_meta(&spec.child("metadata"), cx.issues);
            claim::claim_spec(&spec.child("spec"), cx);
        }
        Kind::DeviceClass => claim::class_spec(&spec, cx),
        Kind::ResourceSlice => slice::slice_spec(&spec, cx),
        Kind::DeviceTaintRule => slice::taint_rule(&root, cx),
    }
}
