//! The objects of the input as a world to schedule in: what controllers would add is added, what
//! is running is counted, and what waits is put in order.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::claims::{self, Claims, Templates};
use super::names::{TakenNames, uid};
use super::workloads::{OwnedPod, expand};
use crate::config::SimulateSettings;

use crate::k8s::{Finding, Objects, Read, Source, Workload};
use crate::model::pod::ClaimSource;
use crate::model::{
    ClaimKey, ClassName, ConsumerReference, Name, Node, Pod, PodKey, PodPhase, RESERVED_FOR_MAX, Snapshot,
    Timestamp, Uid,
};
use crate::scheduling::options::{Absence, Absences};

/// A world, and the pods that want a place in it.
#[derive(Debug)]
pub struct World {
    /// Everything that decisions look at.
    pub snapshot: Snapshot,
    /// Pods without a node, in the order in which they are taken.
    pub waiting: Vec<Arc<Pod>>,
    /// Pods that are not to be scheduled, as they have a node and only do not run yet, or are being
    /// deleted; in the order of input.
    pub left_alone: Vec<Arc<Pod>>,
    /// The claim templates that there are.
    pub templates: Vec<ClaimKey>,
    /// What is known of objects that are missing.
    pub absences: Absences,
    /// The youngest time in the input, which stands for the present.
    pub now: Timestamp,
}

impl World {
    /// The world of these objects. Pods of other schedulers than those named wait outside; without
    /// a name every pod is taken.
    pub fn new(
        objects: Objects,
        findings: &[Finding],
        settings: &SimulateSettings,
        files: &[String],
    ) -> Self {
        let mut absences = absences(&objects, findings);
        let schedulers = &settings.scheduler_names;
        let templates: Templates =
            objects.templates.into_iter().map(|read| (read.object.key.clone(), read.object)).collect();
        let mut claims: Claims =
            objects.claims.into_iter().map(|read| (read.object.key.clone(), read.object)).collect();
        let nodes: Vec<Node> = objects.nodes.into_iter().map(|read| read.object).collect();
        identify_claims(&mut claims);
        let mut pods = objects.pods;
        identify_pods(&mut pods, &claims);
        let mut pods = with_workloads(pods, &objects.pod_owners, &objects.workloads, &nodes, files);
        for pod in &mut pods {
            claims::make(pod, &templates, &mut claims, |key| absences.claims.contains_key(key));
        }
        name_missing_templates(&pods, &templates, &mut absences);
        reserve_for_running(&pods, &mut claims);
        let now = youngest(&pods, &claims);
        let mut snapshot = Snapshot::new(settings.features.clone());
        for node in nodes {
            snapshot.set_node(node);
        }
        for class in objects.classes {
            snapshot.set_class(class.object);
        }
        // Rules first: each slice is then patched once.
        for rule in objects.taint_rules {
            snapshot.set_taint_rule(rule.object);
        }
        for slice in objects.slices {
            snapshot.set_slice(slice.object);
        }
        for claim in claims.into_values() {
            snapshot.set_claim(Arc::new(claim));
        }
        let pods: Vec<_> = pods.into_iter().map(Arc::new).collect();
        for pod in &pods {
            snapshot.set_pod(pod, None);
        }
        let is_ours = |pod: &&Arc<Pod>| schedulers.is_empty() || schedulers.contains(&pod.scheduler_name);
        let pending = pods.iter().filter(|pod| pod.phase == PodPhase::Pending);
        let (left_alone, mut waiting): (Vec<_>, Vec<_>) =
            pending.filter(is_ours).cloned().partition(|pod| pod.node_name.is_some() || pod.deleting);
        // Stable: pods of one priority and time stay in the order of input. A pod without a time is
        // yet to be made, after all those that have one.
        let time = |pod: &Pod| pod.created.map_or(i64::MAX, |Timestamp(time)| time);
        waiting.sort_by_key(|pod| (std::cmp::Reverse(pod.priority), time(pod)));
        Self { snapshot, waiting, left_alone, templates: templates.into_keys().collect(), absences, now }
    }
}

/// Objects that were refused, by what a pod may need.
fn absences(objects: &Objects, findings: &[Finding]) -> Absences {
    let mut absences = Absences::default();
    for finding in findings {
        let mut parts = finding.object.splitn(3, '/');
        match (parts.next(), parts.next(), parts.next()) {
            (Some("ResourceClaim"), Some(namespace), Some(name)) => {
                absences.claims.insert(ClaimKey::new(namespace, name), Absence::Invalid);
            }
            (Some("ResourceClaimTemplate"), Some(namespace), Some(name)) => {
                absences.templates.insert(ClaimKey::new(namespace, name), Absence::Invalid);
            }
            (Some("DeviceClass"), Some(name), None) => {
                absences.classes.insert(ClassName::from(name), Absence::Invalid);
            }
            _ => {}
        }
    }
    // Of two objects of one name the first one is kept, and it is not absent.
    absences.claims.retain(|key, _| !objects.claims.iter().any(|read| read.object.key == *key));
    absences.templates.retain(|key, _| !objects.templates.iter().any(|read| read.object.key == *key));
    absences.classes.retain(|name, _| !objects.classes.iter().any(|read| read.object.name == *name));
    absences
}

/// Tells a template that is not in the input from one of which no claim was made yet.
fn name_missing_templates(pods: &[Pod], templates: &Templates, absences: &mut Absences) {
    for pod in pods {
        for entry in &pod.claims {
            let ClaimSource::Template(template) = &entry.source else { continue };
            let key = ClaimKey { namespace: pod.key.namespace.clone(), name: template.clone() };
            if !templates.contains_key(&key) {
                absences.templates.entry(key).or_insert(Absence::NotFound);
            }
        }
    }
}

fn identify_claims(claims: &mut Claims) {
    for (key, claim) in claims {
        if claim.uid.as_str().is_empty() {
            let key = PodKey { namespace: key.namespace.clone(), name: key.name.clone() };
            claim.uid = uid("ResourceClaim", &key);
        }
    }
}

/// Gives pods without an identity the one by which claims know them, or a new one.
fn identify_pods(pods: &mut [Read<Pod>], claims: &Claims) {
    let mut known: BTreeMap<PodKey, Uid> = BTreeMap::new();
    for (key, claim) in claims {
        let users = claim.reserved_for.iter().filter(|user| user.resource == "pods");
        let users = users.map(|user| (&user.name, &user.uid));
        let owner = claim.controller.iter().filter(|owner| owner.kind == "Pod");
        for (name, uid) in owner.map(|owner| (&owner.name, &owner.uid)).chain(users) {
            let pod = PodKey { namespace: key.namespace.clone(), name: name.clone() };
            known.entry(pod).or_insert_with(|| uid.clone());
        }
    }
    for Read { object: pod, .. } in pods.iter_mut().filter(|pod| pod.object.uid.as_str().is_empty()) {
        pod.uid = known.get(&pod.key).cloned().unwrap_or_else(|| uid("Pod", &pod.key));
    }
}

/// The pods of the input and those that its workloads make, in the order of input.
fn with_workloads(
    pods: Vec<Read<Pod>>,
    owners: &BTreeMap<PodKey, crate::model::OwnerReference>,
    workloads: &[Read<Workload>],
    nodes: &[Node],
    files: &[String],
) -> Vec<Pod> {
    let mut taken: TakenNames = pods.iter().map(|pod| pod.object.key.clone()).collect();
    let existing: Vec<_> = pods
        .iter()
        .filter_map(|pod| {
            let owner = owners.get(&pod.object.key)?.clone();
            Some(OwnedPod { owner, pod: Arc::new(pod.object.clone()) })
        })
        .collect();
    let all: Vec<_> = workloads.iter().map(|workload| workload.object.clone()).collect();
    let file = |source: &Source| files.iter().position(|file| **file == *source.file).unwrap_or(files.len());
    let mut placed: Vec<((usize, u32), Pod)> = Vec::new();
    for Read { object, source } in workloads {
        for mut pod in expand(object, &all, nodes, &existing, &mut taken) {
            pod.uid = uid("Pod", &pod.key);
            placed.push(((file(source), source.line), pod));
        }
    }
    placed.extend(pods.into_iter().map(|pod| ((file(&pod.source), pod.source.line), pod.object)));
    placed.sort_by_key(|(place, _)| *place);
    placed.into_iter().map(|(_, pod)| pod).collect()
}

/// A pod that is on a node uses its allocated claims, whether or not the input says so: the
/// `ResourceClaim` controller adds a reservation that is missing.
fn reserve_for_running(pods: &[Pod], claims: &mut Claims) {
    for pod in pods.iter().filter(|pod| pod.node_name.is_some() && pod.phase != PodPhase::Ended) {
        for key in pod.claims.iter().filter_map(|entry| pod.claim_key(entry)) {
            let Some(claim) = claims.get_mut(&key) else { continue };
            let has_room = claim.reserved_for.len() < RESERVED_FOR_MAX;
            if claim.allocation.is_none() || claim.is_reserved_for(&pod.uid) || !has_room {
                continue;
            }
            let user = ConsumerReference {
                api_group: Name::default(),
                resource: Name::from("pods"),
                name: pod.key.name.clone(),
                uid: pod.uid.clone(),
            };
            claim.reserved_for = claim.reserved_for.iter().cloned().chain([user]).collect();
        }
    }
}

fn youngest(pods: &[Pod], claims: &Claims) -> Timestamp {
    let allocated = claims.values().filter_map(|claim| claim.allocation.as_ref()?.timestamp);
    pods.iter().filter_map(|pod| pod.created).chain(allocated).max().unwrap_or_default()
}
