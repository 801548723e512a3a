//! What a decision depends on beside the snapshot and the pod.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::model::{ClaimKey, ClassName, Timestamp};

/// Why an object that a pod needs is not in the snapshot, where the shell knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Absence {
    /// There is none of that name.
    NotFound,
    /// It was refused: an API server would not have stored it.
    Invalid,
    /// A claim could not be made from the template: it asks for admin access in a namespace
    /// without the label `resource.kubernetes.io/admin-access: "true"` (KEP-5018).
    AdminAccessForbidden,
}

/// Objects that are not in the snapshot, with the reason. What is not listed is just not there.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Absences {
    /// Claims by namespace and name.
    pub claims: BTreeMap<ClaimKey, Absence>,
    /// Claim templates by namespace and name.
    pub templates: BTreeMap<ClaimKey, Absence>,
    /// Device classes.
    pub classes: BTreeMap<ClassName, Absence>,
}

/// Settings of a decision. The same snapshot, pod and options give the same decision.
#[derive(Clone, Debug)]
pub struct Options {
    /// Breaks ties between nodes of the same total score. 0: the first by name wins. Any other
    /// value: the node whose (seed, pod, node name) has the greatest hash.
    pub seed: u64,
    /// Goes into the ids of device shares, so that a claim allocated anew gets new ones. A live
    /// scheduler takes a fresh number for each decision.
    pub nonce: u64,
    /// The present, for time-outs of binding conditions.
    pub now: Timestamp,
    /// How long binding conditions may take after the allocation was written
    /// (`DynamicResourcesArgs.bindingTimeout`).
    pub binding_timeout: Duration,
    /// What is known of objects that are missing.
    pub absences: Arc<Absences>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 0,
            nonce: 0,
            now: Timestamp::default(),
            binding_timeout: Duration::from_mins(10),
            absences: Arc::default(),
        }
    }
}
