//! Pods that wait for an object that is still to be made, such as a claim from a template. That
//! usually takes milliseconds, so their condition says something only after a while.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use crate::model::PodKey;

/// After how long it is worth a word.
const PATIENCE: Duration = Duration::from_secs(3);

/// Pods that wait for an object, and what is to be said about them.
#[derive(Clone, Debug, Default)]
pub struct Gated {
    /// What is to be said, and the ticket of the latest attempt.
    messages: BTreeMap<PodKey, (u64, String)>,
    /// Tickets in the order in which they are due.
    due: VecDeque<(Instant, PodKey, u64)>,
    tickets: u64,
}

impl Gated {
    /// The pod waits since now.
    pub fn add(&mut self, pod: PodKey, message: String, now: Instant) {
        self.tickets += 1;
        self.due.push_back((now + PATIENCE, pod.clone(), self.tickets));
        self.messages.insert(pod, (self.tickets, message));
    }

    /// The pod is tried again, or gone.
    pub fn remove(&mut self, pod: &PodKey) {
        self.messages.remove(pod);
    }

    /// When there is the next thing to say.
    pub fn next_due(&self) -> Option<Instant> {
        self.due.front().map(|(moment, _, _)| *moment)
    }

    /// A pod that has waited long enough, and what to say about it.
    pub fn pop(&mut self, now: Instant) -> Option<(PodKey, String)> {
        while self.next_due().is_some_and(|moment| moment <= now) {
            let (_, pod, ticket) = self.due.pop_front()?;
            if self.messages.get(&pod).is_some_and(|(latest, _)| *latest == ticket) {
                let (_, message) = self.messages.remove(&pod)?;
                return Some((pod, message));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_whose_claim_comes_soon_is_not_talked_about() {
        let (mut gated, now, pod) = (Gated::default(), Instant::now(), PodKey::new("default", "a"));
        gated.add(pod.clone(), "waits".into(), now);
        assert_eq!(gated.pop(now), None);
        gated.remove(&pod);
        assert_eq!(gated.pop(now + PATIENCE), None);
    }

    #[test]
    fn a_pod_that_waits_long_is_talked_about_once() {
        let (mut gated, now, pod) = (Gated::default(), Instant::now(), PodKey::new("default", "a"));
        gated.add(pod.clone(), "first".into(), now);
        gated.add(pod.clone(), "second".into(), now);
        assert_eq!(gated.pop(now + PATIENCE), Some((pod, "second".into())));
        assert_eq!(gated.pop(now + PATIENCE), None);
    }
}
