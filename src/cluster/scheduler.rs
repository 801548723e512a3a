//! The loop that owns all state: it takes in one change, one answer or one pod at a time.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use k8s_openapi::jiff;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use tokio::time::sleep_until;
use tracing::{debug, info, warn};

use super::api::{RequestError, Server};
use super::cache::Cache;
use super::cleanup;
use super::commit::{self, CommitError, Outcome};
use super::condition::Reason;
use super::effect::Effect;
use super::gated::Gated;
use super::pending::Pending;
use super::run::RunError;
use super::untyped::Untyped;
use super::watch::{Change, Kind};
use crate::config::RunSettings;
use crate::explain;
use crate::model::{PodKey, Timestamp};
use crate::scheduling::decision::{Cause, Decision, Diagnosis, Placement, PostFilter};
use crate::scheduling::{CommitPlan, Memo, Options, schedule};

/// Placements that may be on their way at a time.
const COMMITS: usize = 64;
/// Conditions that may be on their way at a time; they must not hold up bindings.
const CONDITIONS: usize = 8;
/// How long devices may take to become ready (`DynamicResourcesArgs.bindingTimeout`).
const BINDING_TIMEOUT: Duration = Duration::from_mins(10);

/// A request, or several, that ran beside the loop and ended.
enum Done {
    Commit(Outcome),
    Cleanup(Result<Option<Untyped>, RequestError>),
    Condition,
}

/// The scheduler of one cluster.
pub struct Scheduler {
    server: Server,
    cache: Cache,
    pending: Pending,
    gated: Gated,
    memo: Memo,
    seed: u64,
    /// Differs for each decision, also of another run.
    nonce: u64,
    /// Kinds of which not all objects were told yet. Nothing is decided before.
    unlisted: BTreeSet<Kind>,
    /// Something changed that may help any pod.
    stirred: bool,
    requests: JoinSet<Done>,
    commits: usize,
    condition_slots: Arc<Semaphore>,
}

impl Scheduler {
    /// A scheduler that knows nothing yet and will be told about these kinds.
    pub fn new(settings: RunSettings, server: Server, kinds: BTreeSet<Kind>) -> Self {
        Self {
            server,
            memo: Memo::new(&settings.features),
            cache: Cache::new(settings.features, settings.scheduler_names),
            pending: Pending::default(),
            gated: Gated::default(),
            seed: settings.seed,
            nonce: now().0.unsigned_abs(),
            unlisted: kinds,
            stirred: false,
            requests: JoinSet::new(),
            commits: 0,
            condition_slots: Arc::new(Semaphore::new(CONDITIONS)),
        }
    }

    /// Schedules until `stop` completes.
    ///
    /// # Errors
    /// The watches ended.
    pub async fn run(
        &mut self,
        mut changes: mpsc::Receiver<Change>,
        stop: impl Future<Output = ()>,
    ) -> Result<(), RunError> {
        let mut stop = pin!(stop);
        loop {
            let moment = Instant::now();
            let ready = self.is_ready(moment);
            let alarm = self.next_alarm();
            tokio::select! {
                biased;
                () = &mut stop => return Ok(()),
                Some(done) = self.requests.join_next() => self.finish(done),
                change = changes.recv() => self.take(change.ok_or(RunError::WatchesEnded)?),
                () = std::future::ready(()), if ready => self.schedule_next(moment),
                () = sleep_until(alarm.unwrap_or(moment).into()), if !ready && alarm.is_some() => {
                    self.speak(Instant::now());
                }
            }
        }
    }

    /// Waits for the requests that are on their way.
    pub async fn finish_requests(&mut self) {
        while let Some(done) = self.requests.join_next().await {
            self.finish(done);
        }
    }

    fn is_ready(&mut self, moment: Instant) -> bool {
        if !self.unlisted.is_empty() || self.commits >= COMMITS {
            return false;
        }
        if std::mem::take(&mut self.stirred) {
            self.pending.wake_all(moment);
        }
        self.pending.has_turn(moment)
    }

    fn next_alarm(&self) -> Option<Instant> {
        let can_try = self.unlisted.is_empty() && self.commits < COMMITS;
        let turn = self.pending.next_alarm().filter(|_| can_try);
        [turn, self.gated.next_due()].into_iter().flatten().min()
    }

    fn take(&mut self, change: Change) {
        if let Change::Listed(kind) = &change
            && self.unlisted.remove(kind)
            && self.unlisted.is_empty()
        {
            info!(nodes = self.cache.snapshot().nodes().len(), "all kinds are listed");
        }
        let effects = self.cache.take(change);
        self.heed(effects);
    }

    fn heed(&mut self, effects: Vec<Effect>) {
        let moment = Instant::now();
        for effect in effects {
            match effect {
                Effect::Waits(pod) => self.pending.add(&pod),
                Effect::Settled(pod) => {
                    self.pending.remove(&pod);
                    self.gated.remove(&pod);
                }
                Effect::MayHelp(pod) => self.pending.wake(&pod, moment),
                Effect::MayHelpUsersOf(claim) => {
                    let waiting = self.pending.of_namespace(&claim.namespace);
                    let names_it = |key: &&PodKey| {
                        let seen = self.cache.pod(key).map(|seen| &seen.pod);
                        seen.is_some_and(|pod| {
                            pod.claims.iter().any(|c| pod.claim_key(c).as_ref() == Some(&claim))
                        })
                    };
                    let users: Vec<_> = waiting.filter(names_it).cloned().collect();
                    for pod in users {
                        self.pending.wake(&pod, moment);
                    }
                }
                Effect::MayHelpAny => self.stirred = true,
            }
        }
    }

    /// Decides about the pod whose turn it is.
    fn schedule_next(&mut self, moment: Instant) {
        let Some(key) = self.pending.pop(moment) else { return };
        self.gated.remove(&key);
        let Some(seen) = self.cache.pod(&key) else { return self.pending.remove(&key) };
        self.nonce = self.nonce.wrapping_add(1);
        let options = Options {
            seed: self.seed,
            nonce: self.nonce,
            now: now(),
            binding_timeout: BINDING_TIMEOUT,
            ..Options::default()
        };
        let decision = schedule(self.cache.snapshot(), &seen.pod, &mut self.memo, &options);
        let message = explain::status_line(&decision).unwrap_or_default();
        match decision {
            Decision::Placed(placement) => self.commit(placement),
            Decision::Unschedulable(diagnosis) => self.wait(&key, &diagnosis, message, moment),
            Decision::Error(_) => {
                warn!(pod = %key, why = message, "the attempt failed");
                self.pending.retry(&key, moment);
                self.say(&key, Reason::SchedulerError, &message);
            }
        }
    }

    fn commit(&mut self, placement: Placement) {
        let plan = CommitPlan::new(&placement, self.cache.snapshot().features());
        let claims = placement.claims.iter().map(|placed| &placed.claim.key);
        let objects: BTreeMap<_, _> =
            claims.filter_map(|key| Some((key.clone(), Arc::clone(self.cache.object(key)?)))).collect();
        for placed in &placement.claims {
            for result in &placed.devices.allocation().results {
                debug!(pod = %plan.pod, claim = %placed.claim.key, device = %result.device, "chosen");
            }
        }
        info!(pod = %plan.pod, node = %placement.node, "placed");
        self.cache.assume(&Arc::new(placement));
        self.commits += 1;
        let server = self.server.clone();
        self.requests
            .spawn(async { Done::Commit(commit::carry_out(server, plan, objects, BINDING_TIMEOUT).await) });
    }

    fn wait(&mut self, key: &PodKey, diagnosis: &Diagnosis, message: String, moment: Instant) {
        use crate::scheduling::QueryError::ClaimInFlight;
        match &diagnosis.cause {
            // The answer to the other pod's write is awaited.
            Cause::Query(ClaimInFlight { .. }) => self.pending.gate(key, moment),
            Cause::Query(error) if error.is_gate() => {
                debug!(pod = %key, why = message, "gated");
                self.pending.gate(key, moment);
                self.gated.add(key.clone(), message, moment);
            }
            _ => {
                info!(pod = %key, why = message, "unschedulable");
                self.pending.unschedulable(key, moment);
                self.say(key, Reason::Unschedulable, &message);
            }
        }
        if let Some(post_filter) = &diagnosis.post_filter {
            self.clean_up(post_filter);
        }
    }

    fn clean_up(&mut self, post_filter: &PostFilter) {
        let (PostFilter::Deallocate { claim } | PostFilter::DeleteExtendedClaim { claim }) = post_filter;
        let (server, key) = (self.server.clone(), claim.key.clone());
        info!(claim = %key, "giving back devices that the pod cannot use");
        match post_filter {
            PostFilter::Deallocate { .. } => {
                let Some(object) = self.cache.object(&key).cloned() else { return };
                self.requests.spawn(async move {
                    Done::Cleanup(cleanup::deallocate(&server, &key, &object).await.map(Some))
                });
            }
            PostFilter::DeleteExtendedClaim { .. } => {
                self.requests.spawn(async move {
                    Done::Cleanup(cleanup::delete_claim(&server, &key).await.map(|()| None))
                });
            }
        }
    }

    /// Says something about pods that have been gated for a while.
    fn speak(&mut self, moment: Instant) {
        while let Some((pod, message)) = self.gated.pop(moment) {
            info!(pod = %pod, why = message, "waits for an object");
            self.say(&pod, Reason::Unschedulable, &message);
        }
    }

    /// Writes the condition of a pod that stays pending, if it is not there already.
    fn say(&mut self, key: &PodKey, reason: Reason, message: &str) {
        let Some(seen) = self.cache.pod(key) else { return };
        let Some(patch) =
            seen.condition.patch(seen.pod.uid.as_str(), reason, message, jiff::Timestamp::now())
        else {
            return;
        };
        let (server, key, slots) = (self.server.clone(), key.clone(), Arc::clone(&self.condition_slots));
        self.requests.spawn(async move {
            // The semaphore is never closed.
            let _slot = slots.acquire().await;
            if let Err(error) = server.patch_pod_status(&key, &patch).await {
                warn!(pod = %key, %error, "cannot say why the pod is pending");
            }
            Done::Condition
        });
    }

    /// A request ended.
    fn finish(&mut self, done: Result<Done, tokio::task::JoinError>) {
        match done {
            Ok(Done::Commit(outcome)) => self.finish_commit(outcome),
            Ok(Done::Cleanup(Ok(answer))) => {
                let effects = self.cache.answered(answer.into_iter().collect());
                self.heed(effects);
            }
            Ok(Done::Cleanup(Err(error))) => warn!(%error, "cannot give devices back"),
            Ok(Done::Condition) => {}
            // A placement whose task panicked would stay assumed; better no scheduler than a wrong one.
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }

    fn finish_commit(&mut self, Outcome { pod, uid, answers, result }: Outcome) {
        self.commits -= 1;
        let effects = self.cache.answered(answers);
        let waits = self.pending.contains(&pod, &uid);
        match result {
            Ok(()) => {
                info!(pod = %pod, "bound");
                self.cache.written(&uid);
                if waits {
                    self.pending.remove(&pod);
                }
            }
            Err(error) => {
                warn!(pod = %pod, %error, "not bound");
                self.cache.forget(&uid);
                if waits {
                    self.pending.retry(&pod, Instant::now());
                    if !is_race(&error) {
                        self.say(&pod, Reason::SchedulerError, &error.to_string());
                    }
                }
                self.stirred = true;
            }
        }
        self.heed(effects);
    }
}

/// Whether another writer was faster. The next attempt sees what it wrote; nothing is to be said.
fn is_race(error: &CommitError) -> bool {
    matches!(error, CommitError::ClaimChanged { .. } | CommitError::Request(RequestError::Changed { .. }))
}

/// The present.
fn now() -> Timestamp {
    Timestamp(i64::try_from(jiff::Timestamp::now().as_nanosecond()).unwrap_or(i64::MAX))
}
