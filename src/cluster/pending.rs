//! The pods that wait for a node: whose turn is next, who backs off, who waits for a change.
//!
//! A pod that no node fits waits until something changes that could help it. After each failed
//! attempt it is left alone for a while, 1 s at first and 10 s at most. As in kube-scheduler, a pod
//! that fitted nowhere gets its turn earlier if there is nothing else to do
//! (`SchedulerPopFromBackoffQ`); one whose attempt failed does not.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use crate::model::{Name, Pod, PodKey, Timestamp, Uid};

/// The back-off after a first failure (`podInitialBackoffSeconds`).
const INITIAL_BACKOFF: Duration = Duration::from_secs(1);
/// The longest back-off (`podMaxBackoffSeconds`).
const MAX_BACKOFF: Duration = Duration::from_secs(10);

/// The order of turns: priority, then age, then arrival.
type Turn = (Reverse<i32>, Option<Timestamp>, u64, PodKey);

#[derive(Clone, Debug)]
enum State {
    /// To be tried.
    Active(Turn),
    /// To be tried from that moment on, or as soon as there is nothing else to do.
    Resting(Instant),
    /// To be tried from that moment on.
    BackingOff(Instant),
    /// To be tried when something changes, but not before that moment.
    Unschedulable(Instant),
    /// Being tried, or its decision is on its way to the API server.
    Taken,
}

#[derive(Clone, Debug)]
struct Entry {
    uid: Uid,
    priority: i32,
    created: Option<Timestamp>,
    arrival: u64,
    attempts: u32,
    /// Something changed while it was taken.
    stirred: bool,
    state: State,
}

impl Entry {
    fn turn(&self, key: &PodKey) -> Turn {
        (Reverse(self.priority), self.created, self.arrival, key.clone())
    }

    fn backoff(&self) -> Duration {
        let doublings = self.attempts.saturating_sub(1).min(10);
        MAX_BACKOFF.min(INITIAL_BACKOFF * 2_u32.pow(doublings))
    }
}

/// The pods that wait for a node.
///
/// Invariant: `turns` lists just the active entries, `rests` those that rest, and `alarms` those
/// that back off.
#[derive(Clone, Debug, Default)]
pub struct Pending {
    entries: BTreeMap<PodKey, Entry>,
    turns: BTreeSet<Turn>,
    rests: BTreeSet<(Instant, PodKey)>,
    alarms: BTreeSet<(Instant, PodKey)>,
    arrivals: u64,
}

impl Pending {
    /// A pod without a node was seen. One that waits already gets a turn at once, since it was
    /// changed; one that is taken keeps its state.
    pub fn add(&mut self, pod: &Pod) {
        if let Some(entry) = self.entries.get_mut(&pod.key)
            && entry.uid == pod.uid
        {
            entry.priority = pod.priority;
            if matches!(entry.state, State::Taken) {
                entry.stirred = true;
            } else {
                self.activate(&pod.key);
            }
            return;
        }
        self.remove(&pod.key);
        self.arrivals += 1;
        let entry = Entry {
            uid: pod.uid.clone(),
            priority: pod.priority,
            created: pod.created,
            arrival: self.arrivals,
            attempts: 0,
            stirred: false,
            state: State::Taken,
        };
        self.entries.insert(pod.key.clone(), entry);
        self.activate(&pod.key);
    }

    /// The pod is gone, or has a node.
    pub fn remove(&mut self, key: &PodKey) {
        self.unlist(key);
        self.entries.remove(key);
    }

    /// Whether this very pod waits.
    pub fn contains(&self, key: &PodKey, uid: &Uid) -> bool {
        self.entries.get(key).is_some_and(|entry| entry.uid == *uid)
    }

    /// The pods of a namespace that wait.
    pub fn of_namespace<'a>(&'a self, namespace: &'a Name) -> impl Iterator<Item = &'a PodKey> {
        let first = PodKey { namespace: namespace.clone(), name: Name::default() };
        self.entries.range(first..).map(|(key, _)| key).take_while(move |key| key.namespace == *namespace)
    }

    /// Takes the pod whose turn it is.
    pub fn pop(&mut self, now: Instant) -> Option<PodKey> {
        self.ring(now);
        let active = self.turns.pop_first().map(|(_, _, _, key)| key);
        let key = active.or_else(|| self.rests.pop_first().map(|(_, key)| key))?;
        if let Some(entry) = self.entries.get_mut(&key) {
            entry.state = State::Taken;
            entry.stirred = false;
        }
        Some(key)
    }

    /// No node fits the pod that was taken.
    pub fn unschedulable(&mut self, key: &PodKey, now: Instant) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        entry.attempts += 1;
        let until = now + entry.backoff();
        if entry.stirred {
            self.rest(key, until);
        } else {
            entry.state = State::Unschedulable(until);
        }
    }

    /// The pod that was taken waits for an object that is still to be made; the attempt counts
    /// for nothing.
    pub fn gate(&mut self, key: &PodKey, now: Instant) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        if entry.stirred {
            self.activate(key);
        } else {
            entry.state = State::Unschedulable(now);
        }
    }

    /// The attempt failed for a reason outside the pod: it is tried again by itself.
    pub fn retry(&mut self, key: &PodKey, now: Instant) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        entry.attempts += 1;
        let until = now + entry.backoff();
        self.back_off(key, until);
    }

    /// Something changed that may help this pod.
    pub fn wake(&mut self, key: &PodKey, now: Instant) {
        let Some(entry) = self.entries.get_mut(key) else { return };
        match entry.state {
            State::Unschedulable(until) if until > now => self.rest(key, until),
            State::Unschedulable(_) => self.activate(key),
            State::Taken => entry.stirred = true,
            State::Active(_) | State::Resting(_) | State::BackingOff(_) => {}
        }
    }

    /// Something changed that may help any pod.
    pub fn wake_all(&mut self, now: Instant) {
        let keys: Vec<_> = self.entries.keys().cloned().collect();
        for key in keys {
            self.wake(&key, now);
        }
    }

    /// When the next pod has finished backing off.
    pub fn next_alarm(&self) -> Option<Instant> {
        self.alarms.first().map(|(moment, _)| *moment)
    }

    /// Whether a pod could be popped now.
    pub fn has_turn(&self, now: Instant) -> bool {
        let rung = self.next_alarm().is_some_and(|moment| moment <= now);
        !self.turns.is_empty() || !self.rests.is_empty() || rung
    }

    /// Activates the pods that have waited long enough.
    fn ring(&mut self, now: Instant) {
        let due = |moment: &Instant| *moment <= now;
        let waiting = self.rests.iter().take_while(|(moment, _)| due(moment));
        let waiting = waiting.chain(self.alarms.iter().take_while(|(moment, _)| due(moment)));
        let rung: Vec<_> = waiting.map(|(_, key)| key.clone()).collect();
        for key in rung {
            self.activate(&key);
        }
    }

    fn activate(&mut self, key: &PodKey) {
        self.unlist(key);
        if let Some(entry) = self.entries.get_mut(key) {
            let turn = entry.turn(key);
            self.turns.insert(turn.clone());
            entry.state = State::Active(turn);
        }
    }

    fn rest(&mut self, key: &PodKey, until: Instant) {
        self.unlist(key);
        if let Some(entry) = self.entries.get_mut(key) {
            entry.state = State::Resting(until);
            self.rests.insert((until, key.clone()));
        }
    }

    fn back_off(&mut self, key: &PodKey, until: Instant) {
        self.unlist(key);
        if let Some(entry) = self.entries.get_mut(key) {
            entry.state = State::BackingOff(until);
            self.alarms.insert((until, key.clone()));
        }
    }

    fn unlist(&mut self, key: &PodKey) {
        match self.entries.get(key).map(|entry| &entry.state) {
            Some(State::Active(turn)) => drop(self.turns.remove(turn)),
            Some(State::Resting(until)) => drop(self.rests.remove(&(*until, key.clone()))),
            Some(State::BackingOff(until)) => drop(self.alarms.remove(&(*until, key.clone()))),
            Some(State::Unschedulable(_) | State::Taken) | None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pod(name: &str, priority: i32) -> Pod {
        Pod { key: PodKey::new("default", name), uid: Uid::from(name), priority, ..Pod::default() }
    }

    fn key(name: &str) -> PodKey {
        PodKey::new("default", name)
    }

    #[test]
    fn priority_goes_before_arrival() {
        let (mut pending, now) = (Pending::default(), Instant::now());
        for pod in [pod("b", 0), pod("a", 0), pod("c", 1)] {
            pending.add(&pod);
        }
        let order: Vec<_> = std::iter::from_fn(|| pending.pop(now)).collect();
        assert_eq!(order, [key("c"), key("b"), key("a")]);
    }

    #[test]
    fn an_unschedulable_pod_waits_for_a_change() {
        let (mut pending, now) = (Pending::default(), Instant::now());
        pending.add(&pod("a", 0));
        pending.pop(now);
        pending.unschedulable(&key("a"), now);
        assert_eq!(pending.pop(now + Duration::from_secs(100)), None);
        pending.wake_all(now);
        assert_eq!(pending.pop(now), Some(key("a")));
    }

    #[test]
    fn a_pod_that_rests_lets_all_others_go_first() {
        let (mut pending, now) = (Pending::default(), Instant::now());
        pending.add(&pod("a", 9));
        pending.pop(now);
        pending.unschedulable(&key("a"), now);
        pending.wake_all(now);
        pending.add(&pod("b", 0));
        assert_eq!(pending.pop(now), Some(key("b")));
        assert_eq!(pending.pop(now), Some(key("a")));
    }

    #[test]
    fn a_pod_whose_attempt_failed_backs_off_in_any_case() {
        let (mut pending, now) = (Pending::default(), Instant::now());
        pending.add(&pod("a", 0));
        pending.pop(now);
        pending.retry(&key("a"), now);
        pending.wake_all(now);
        assert_eq!(pending.pop(now), None);
        assert_eq!(pending.pop(now + INITIAL_BACKOFF), Some(key("a")));
    }

    #[test]
    fn the_backoff_doubles_up_to_ten_seconds() {
        let (mut pending, now) = (Pending::default(), Instant::now());
        pending.add(&pod("a", 0));
        for seconds in [1, 2, 4, 8, 10, 10] {
            pending.pop(now + Duration::from_hours(1));
            pending.retry(&key("a"), now);
            assert_eq!(pending.next_alarm(), Some(now + Duration::from_secs(seconds)));
        }
    }

    #[test]
    fn a_change_during_the_attempt_is_not_missed() {
        let (mut pending, now) = (Pending::default(), Instant::now());
        pending.add(&pod("a", 0));
        pending.pop(now);
        pending.wake_all(now);
        pending.unschedulable(&key("a"), now);
        assert_eq!(pending.pop(now), Some(key("a")));
    }

    #[test]
    fn a_pod_of_the_same_name_but_another_identity_starts_anew() {
        let (mut pending, now) = (Pending::default(), Instant::now());
        pending.add(&pod("a", 0));
        pending.pop(now);
        pending.retry(&key("a"), now);
        pending.add(&Pod { uid: Uid::from("other"), ..pod("a", 0) });
        assert_eq!(pending.pop(now), Some(key("a")));
        assert_eq!(pending.next_alarm(), None);
    }

    #[test]
    fn a_pod_that_is_gone_gets_no_turn() {
        let (mut pending, now) = (Pending::default(), Instant::now());
        pending.add(&pod("a", 0));
        pending.remove(&key("a"));
        assert_eq!(pending.pop(now), None);
        assert!(!pending.has_turn(now));
    }
}
