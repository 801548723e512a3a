//! Carries a [`CommitPlan`] out against the API server, and takes it back when a step fails.
//!
//! Nothing is decided here. A claim that changed since the decision ends the plan; only a
//! reservation of a claim that others join at the same time is tried again on the newer object, as
//! long as that one has the very same devices.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::jiff::Timestamp;
use serde_json::json;
use tokio::time::sleep;
use tracing::warn;

use super::api::{RequestError, Server};
use super::binding_conditions;
use super::cleanup;
use super::condition::rfc3339;
use super::edit;
use super::untyped::Untyped;
use crate::k8s::encode;
use crate::model::{Allocation, ClaimKey, ClaimSpec, ConsumerReference, Name, NodeName, PodKey, Uid};
use crate::scheduling::CommitPlan;
use crate::scheduling::commit_plan::{ClaimTarget, Step, Undo};
use crate::scheduling::decision::RequestMapping;

/// How often a reservation is tried on a claim that others write to (client-go's `DefaultRetry`).
const TRIES: usize = 5;
/// The pause between these tries.
const PAUSE: Duration = Duration::from_millis(10);

/// Why a placement was not carried out.
#[derive(Debug, thiserror::Error)]
pub enum CommitError {
    /// A request failed.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// A claim is not as it was when the decision was made.
    #[error("claim {claim} {how} in the meantime")]
    ClaimChanged {
        /// The claim.
        claim: ClaimKey,
        /// What happened to it.
        how: &'static str,
    },
    /// Devices did not become ready (KEP-5007).
    #[error(transparent)]
    Conditions(#[from] binding_conditions::Failure),
    /// The plan asks for a write to a claim that it did not make.
    #[error("the plan refers to a claim that was not created")]
    NothingCreated,
}

type Result<T> = std::result::Result<T, CommitError>;

impl CommitError {
    fn is_unanswered(&self) -> bool {
        matches!(self, Self::Request(RequestError::Unanswered { .. }))
    }
}

/// What became of a plan.
#[derive(Debug)]
pub struct Outcome {
    /// The pod.
    pub pod: PodKey,
    /// Its identity.
    pub uid: Uid,
    /// The claims as the server answered, in the order of the writes.
    pub answers: Vec<Untyped>,
    /// Whether all of it was written.
    pub result: Result<()>,
}

/// Carries the plan out. `objects` are its claims as they were when the decision was made.
pub async fn carry_out(
    server: Server,
    plan: CommitPlan,
    objects: BTreeMap<ClaimKey, Arc<Untyped>>,
    binding_timeout: Duration,
) -> Outcome {
    let mut commit =
        Commit { server, plan: &plan, claims: objects, created: None, answers: Vec::new(), binding_timeout };
    let mut result = Ok(());
    for (at, step) in plan.steps.iter().enumerate() {
        result = commit.step(step).await;
        if let Err(error) = &result {
            // A step without an answer may have been carried out: it is taken back as well.
            let done = if error.is_unanswered() { at + 1 } else { at };
            commit.undo(plan.steps.get(..done).unwrap_or_default()).await;
            break;
        }
    }
    let answers = commit.answers;
    Outcome { pod: plan.pod, uid: plan.pod_uid, answers, result }
}

/// A plan that is being carried out.
struct Commit<'a> {
    server: Server,
    plan: &'a CommitPlan,
    /// The claims as of their latest write, or else of the decision.
    claims: BTreeMap<ClaimKey, Arc<Untyped>>,
    /// The claim that was made for extended resources.
    created: Option<ClaimKey>,
    answers: Vec<Untyped>,
    binding_timeout: Duration,
}

impl Commit<'_> {
    async fn step(&mut self, step: &Step) -> Result<()> {
        match step {
            Step::CreateClaim { namespace, generate_name, owner, owner_uid, spec } => {
                self.create_claim(namespace, generate_name, (owner, owner_uid), spec).await
            }
            Step::AddFinalizer { target } => self.add_finalizer(target).await,
            Step::WriteAllocation { target, allocation, consumer, timestamp } => {
                self.write_allocation(target, allocation, consumer, *timestamp).await
            }
            Step::AddReservedFor { target, consumer } => self.add_reserved_for(target, consumer).await,
            Step::SetExtendedResourceClaimStatus { mappings } => self.set_claim_status(mappings).await,
            Step::WaitForBindingConditions { targets } => self.wait_for_conditions(targets).await,
            Step::BindPod { node } => self.bind(node).await,
        }
    }

    /// The claim of a step, as it is to be changed.
    fn claim(&self, target: &ClaimTarget) -> Result<(ClaimKey, Arc<Untyped>)> {
        let key = match target {
            ClaimTarget::Existing { claim, .. } => claim,
            ClaimTarget::Created => self.created.as_ref().ok_or(CommitError::NothingCreated)?,
        };
        let gone = || CommitError::ClaimChanged { claim: key.clone(), how: "went away" };
        let object = self.claims.get(key).ok_or_else(gone)?;
        match target {
            ClaimTarget::Existing { uid, .. } if object.uid() != uid.as_str() => Err(gone()),
            _ => Ok((key.clone(), Arc::clone(object))),
        }
    }

    fn answered(&mut self, key: &ClaimKey, object: Untyped) {
        self.answers.push(object.clone());
        self.claims.insert(key.clone(), Arc::new(object));
    }

    async fn create_claim(
        &mut self,
        namespace: &Name,
        generate_name: &Name,
        (owner, owner_uid): (&PodKey, &Uid),
        spec: &ClaimSpec,
    ) -> Result<()> {
        let claim = json!({
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": {
                "namespace": namespace.as_str(),
                "generateName": generate_name.as_str(),
                "annotations": {"resource.kubernetes.io/extended-resource-claim": "true"},
                "ownerReferences": [{
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "name": owner.name.as_str(),
                    "uid": owner_uid.as_str(),
                    "controller": true,
                }],
            },
            "spec": encode::claim_spec(spec),
        });
        let created = self.server.create_claim(namespace, claim).await?;
        let key = ClaimKey::new(namespace.clone(), created.key().name);
        self.created = Some(key.clone());
        self.answered(&key, created);
        Ok(())
    }

    async fn add_finalizer(&mut self, target: &ClaimTarget) -> Result<()> {
        let (key, object) = self.claim(target)?;
        let mut claim = object.json().clone();
        edit::add_finalizer(&mut claim);
        let written = self.server.put_claim(&key, &Untyped::new(claim)).await?;
        self.answered(&key, written);
        Ok(())
    }

    async fn write_allocation(
        &mut self,
        target: &ClaimTarget,
        allocation: &Allocation,
        consumer: &ConsumerReference,
        timestamp: bool,
    ) -> Result<()> {
        let (key, object) = self.claim(target)?;
        let mut claim = object.json().clone();
        let changed = |how| CommitError::ClaimChanged { claim: key.clone(), how };
        if edit::is_deleting(&claim) {
            return Err(changed("got deleted"));
        }
        if edit::is_allocated(&claim) {
            return Err(changed("got allocated elsewhere"));
        }
        let mut encoded = encode::allocation(allocation);
        if timestamp {
            encoded["allocationTimestamp"] = rfc3339(Timestamp::now()).into();
        }
        edit::set_allocation(&mut claim, encoded);
        edit::reserve(&mut claim, consumer);
        let written = self.server.put_claim_status(&key, &Untyped::new(claim)).await?;
        self.answered(&key, written);
        Ok(())
    }

    async fn add_reserved_for(&mut self, target: &ClaimTarget, consumer: &ConsumerReference) -> Result<()> {
        let (key, decided) = self.claim(target)?;
        let mut object = Arc::clone(&decided);
        let mut tries = 1;
        loop {
            let mut claim = object.json().clone();
            let changed = |how| CommitError::ClaimChanged { claim: key.clone(), how };
            if object.uid() != decided.uid() || edit::is_deleting(&claim) {
                return Err(changed("got deleted"));
            }
            if claim.pointer(ALLOCATION) != decided.json().pointer(ALLOCATION) {
                return Err(changed("got other devices"));
            }
            edit::reserve(&mut claim, consumer);
            match self.server.put_claim_status(&key, &Untyped::new(claim)).await {
                Ok(written) => {
                    self.answered(&key, written);
                    return Ok(());
                }
                Err(RequestError::Changed { .. }) if tries < TRIES => tries += 1,
                Err(error) => return Err(error.into()),
            }
            sleep(PAUSE).await;
            object = Arc::new(self.server.claim(&key).await?);
        }
    }

    async fn set_claim_status(&mut self, mappings: &[RequestMapping]) -> Result<()> {
        let claim = self.created.as_ref().ok_or(CommitError::NothingCreated)?;
        let mapping = |mapping: &RequestMapping| {
            json!({
                "containerName": mapping.container.as_str(),
                "resourceName": mapping.resource.as_str(),
                "requestName": mapping.request.as_str(),
            })
        };
        let patch = json!({
            "metadata": {"uid": self.plan.pod_uid.as_str()},
            "status": {"extendedResourceClaimStatus": {
                "resourceClaimName": claim.name.as_str(),
                "requestMappings": mappings.iter().map(mapping).collect::<Vec<_>>(),
            }},
        });
        Ok(self.server.patch_pod_status(&self.plan.pod, &patch).await?)
    }

    async fn wait_for_conditions(&mut self, targets: &[ClaimTarget]) -> Result<()> {
        let claims = targets.iter().map(|target| Ok(self.claim(target)?.0)).collect::<Result<Vec<_>>>()?;
        let ready = binding_conditions::wait(&self.server, &claims, self.binding_timeout).await?;
        for (key, claim) in claims.iter().zip(ready) {
            self.answered(key, claim);
        }
        Ok(())
    }

    async fn bind(&mut self, node: &NodeName) -> Result<()> {
        let (pod, uid) = (&self.plan.pod, &self.plan.pod_uid);
        match self.server.bind(pod, uid, node).await {
            Ok(()) => Ok(()),
            Err(error @ RequestError::Refused { .. }) => Err(error.into()),
            // The binding may have arrived although its answer did not, or an earlier try of the
            // client was carried out: the pod itself tells.
            Err(error) => match self.server.node_of(pod, uid).await {
                Ok(Some(bound)) if bound == *node => Ok(()),
                _ => Err(error.into()),
            },
        }
    }

    async fn undo(&mut self, steps: &[Step]) {
        for undo in steps.iter().rev().filter_map(|step| self.plan.undo(step)) {
            let undone = match undo {
                Undo::RemoveReservedFor { claim, claim_uid, pod_uid } => {
                    self.unreserve(&claim, &claim_uid, &pod_uid).await
                }
                Undo::DeleteCreatedClaim => self.delete_created().await,
            };
            if let Err(error) = undone {
                warn!(pod = %self.plan.pod, %error, "cannot take a write back; the claim controller will");
            }
        }
    }

    async fn unreserve(&mut self, claim: &ClaimKey, claim_uid: &Uid, pod_uid: &Uid) -> Result<()> {
        let patch = edit::unreserve_patch(claim_uid.as_str(), pod_uid.as_str());
        let written = self.server.patch_claim_status(claim, &patch).await?;
        self.answered(claim, written);
        Ok(())
    }

    async fn delete_created(&mut self) -> Result<()> {
        let Some(key) = self.created.clone() else { return Ok(()) };
        Ok(cleanup::delete_claim(&self.server, &key).await?)
    }
}

const ALLOCATION: &str = "/status/allocation";
