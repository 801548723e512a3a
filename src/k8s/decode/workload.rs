//! Workloads: what makes pods. Turning them into pods is left to whoever plays the controller.

use std::sync::Arc;

use super::{Interner, Result, boolean, claim, int, name, pod, text, timestamp, uid};
use crate::k8s::field::Field;
use crate::k8s::tree::Node as Tree;
use crate::model::pod::UnservedFeature;
use crate::model::{Name, OwnerReference, Pod, PodKey, Timestamp, Uid};

/// A kind of object that makes pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkloadKind {
    /// `apps/v1 Deployment`.
    Deployment,
    /// `apps/v1 ReplicaSet`.
    ReplicaSet,
    /// `apps/v1 StatefulSet`.
    StatefulSet,
    /// `apps/v1 DaemonSet`.
    DaemonSet,
    /// `batch/v1 Job`.
    Job,
}

impl WorkloadKind {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Deployment, Self::ReplicaSet, Self::StatefulSet, Self::DaemonSet, Self::Job];

    /// The kind as the API spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Deployment => "Deployment",
            Self::ReplicaSet => "ReplicaSet",
            Self::StatefulSet => "StatefulSet",
            Self::DaemonSet => "DaemonSet",
            Self::Job => "Job",
        }
    }
}

/// An object that makes pods.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Workload {
    /// What it is.
    pub kind: WorkloadKind,
    /// Namespace and name of the workload.
    pub key: PodKey,
    /// The identity.
    pub uid: Uid,
    /// When it was made.
    pub created: Option<Timestamp>,
    /// The workload that made this one, such as the Deployment of a `ReplicaSet`.
    pub controller: Option<OwnerReference>,
    /// How many pods it wants at a time; `None` for one on each node.
    pub replicas: Option<i32>,
    /// The number in the name of the first pod of a `StatefulSet`.
    pub first_ordinal: i32,
    /// A pod of it: labels and specification, in the workload's namespace, without name and
    /// status.
    pub template: Arc<Pod>,
}

/// A `Deployment`, `ReplicaSet`, `StatefulSet`, `DaemonSet` or `Job`.
///
/// # Errors
/// A field of a type that the API does not have there.
pub fn workload(kind: WorkloadKind, object: &Tree, interner: &mut Interner) -> Result<Workload> {
    let object = Field::root(object);
    let metadata = object.child("metadata");
    let spec = object.child("spec");
    let mut template = pod::pod_template(&spec.child("template"), interner)?;
    template.key.namespace = name(&metadata.child("namespace"), interner)?;
    if kind == WorkloadKind::StatefulSet {
        let mut unserved = template.unserved.into_vec();
        for volume in spec.child("volumeClaimTemplates").items() {
            let metadata = volume.child("metadata");
            unserved.push(UnservedFeature::Volume(name(&metadata.child("name"), interner)?));
        }
        template.unserved = unserved.into();
    }
    Ok(Workload {
        kind,
        key: PodKey {
            namespace: template.key.namespace.clone(),
            name: Name::from(text(&metadata.child("name"))?.unwrap_or_default()),
        },
        uid: uid(&metadata.child("uid"))?,
        created: timestamp(&metadata.child("creationTimestamp"))?,
        controller: claim::controller(&metadata, interner)?,
        replicas: match kind {
            WorkloadKind::DaemonSet => None,
            WorkloadKind::Job => Some(parallel_pods(&spec, &object.child("status"))?),
            _ => Some(small(int(&spec.child("replicas"))?.unwrap_or(1))),
        },
        first_ordinal: match kind {
            WorkloadKind::StatefulSet => small(int(&spec.child("ordinals").child("start"))?.unwrap_or(0)),
            _ => 0,
        },
        template: Arc::new(template),
    })
}

/// How many pods of a Job run beside each other: none of one that is suspended or done.
fn parallel_pods(spec: &Field<'_, '_>, status: &Field<'_, '_>) -> Result<i32> {
    let suspended = boolean(&spec.child("suspend"))?.unwrap_or(false);
    if suspended || status.child("completionTime").is_set() {
        return Ok(0);
    }
    let parallelism = int(&spec.child("parallelism"))?.unwrap_or(1);
    let succeeded = int(&status.child("succeeded"))?.unwrap_or(0);
    let left = match int(&spec.child("completions"))? {
        Some(completions) => completions.saturating_sub(succeeded),
        // Without parallelism a Job of unset completions has one; with it, any success ends it.
        None if spec.child("parallelism").is_set() => parallelism,
        None => 1i64.saturating_sub(succeeded),
    };
    Ok(small(parallelism.min(left)))
}

fn small(number: i64) -> i32 {
    i32::try_from(number.max(0)).unwrap_or(i32::MAX)
}
