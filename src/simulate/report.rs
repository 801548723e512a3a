//! The report as it is written: `-o json` and `-o yaml`. Its shape is stable from the first
//! release on; fields are added, never changed.

use std::collections::BTreeMap;

use serde::Serialize;

/// What happened to every pod, and what is wrong with the input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SimulationReport {
    api_version: &'static str,
    kind: &'static str,
    /// The pods that were to be scheduled, in the order in which they were taken, and those that
    /// are on a node already although their claims are not ready.
    pub pods: Vec<PodReport>,
    /// The objects that an API server would refuse or prune.
    pub invalid: Vec<InvalidReport>,
}

impl SimulationReport {
    /// A report of this release's form.
    pub fn new(pods: Vec<PodReport>, invalid: Vec<InvalidReport>) -> Self {
        Self { api_version: "stowplan.dev/v1alpha1", kind: "SimulationReport", pods, invalid }
    }

    /// Whether every pod is placed and nothing has to be said.
    pub fn is_clean(&self) -> bool {
        self.invalid.is_empty() && self.pods.iter().all(|pod| pod.node.is_some() && pod.message.is_none())
    }
}

/// One pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PodReport {
    /// `namespace/name`.
    pub pod: String,
    /// The node; `None` if the pod stays pending.
    pub node: Option<String>,
    /// Its claims in the order in which the pod names them.
    pub claims: Vec<ClaimReport>,
    /// Why the pod stays pending, or a warning.
    pub message: Option<String>,
}

/// One claim of a pod.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClaimReport {
    /// The claim's name within the pod; `None` for the claim made for extended resources.
    pub pod_claim: Option<String>,
    /// `namespace/name`.
    pub claim: String,
    /// The devices that it holds.
    pub devices: Vec<DeviceReport>,
    /// The devices by the extended resource that they serve.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extended_resource: Option<BTreeMap<String, Vec<DeviceReport>>>,
}

/// One device that a claim holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeviceReport {
    /// The request, or `request/subrequest`.
    pub request: String,
    /// The driver.
    pub driver: String,
    /// The pool.
    pub pool: String,
    /// The device.
    pub device: String,
    /// The share, if the device can have several holders.
    #[serde(rename = "shareID")]
    pub share_id: Option<String>,
    /// What the share consumes, by capacity.
    pub consumed_capacity: BTreeMap<String, String>,
    /// Whether it is held beside other holders.
    pub admin_access: bool,
    /// The device taints that do not matter.
    pub tolerations: Vec<TolerationReport>,
    /// What must be true before the pod is bound.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub binding_conditions: Vec<String>,
    /// What says that binding failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub binding_failure_conditions: Vec<String>,
}

/// A toleration, with the fields that are set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TolerationReport {
    /// The taint's key.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub key: String,
    /// How the value is compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// The taint's value.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub value: String,
    /// The taint's effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<String>,
    /// How long an eviction waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toleration_seconds: Option<i64>,
}

/// Something that is wrong with an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InvalidReport {
    /// `Kind/namespace/name`, or `Kind/name`.
    pub object: String,
    /// The field's path.
    pub field: String,
    /// What is wrong.
    pub message: String,
    /// The right form, where the mistake is known.
    pub hint: Option<String>,
    /// The file; `-` for standard input.
    pub file: String,
    /// The line in it, from 1.
    pub line: u32,
}
