//! Draws objects, asks both sides, and gathers what they disagree about.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Instant;

use futures::stream::{self, StreamExt};
use serde_json::Value;
use stowplan::model::Features;

use crate::bases::{self, Base, NAMESPACES, Verb};
use crate::chance::Chance;
use crate::mutate::mutated;
use crate::plane::Plane;
use crate::pools::Pools;
use crate::server::Server;
use crate::shrink::{disagreement, shrink};
use crate::verdict::{Disagreement, Verdict, compare};
use crate::{differences, ours};

/// How many objects are before the API server at once.
const IN_FLIGHT: usize = 16;
/// How many kinds of disagreement are made smaller and shown.
const SHOWN: usize = 25;

/// How much of an object is shown.
const LONGEST: usize = 4000;

/// What came of a run.
pub struct Outcome {
    objects: u64,
    seconds: f64,
    accepted: u64,
    no_verdict: BTreeMap<String, u64>,
    disagreements: BTreeMap<Disagreement, (u64, usize, Value)>,
    reports: Vec<String>,
}

/// Judges that many objects.
pub async fn run(plane: &Plane, features: &Features, seed: u64, objects: u64) -> Outcome {
    let server = Server::of(plane).await;
    plane.create(&plane.file("namespaces.yaml", NAMESPACES), "none");
    let bases = bases::bases(features);
    let mut outcome = Outcome::new(objects);
    let (mut accepted, all) = (Vec::new(), bases);
    for (index, mut base) in all.iter().cloned().enumerate() {
        if base.verb == Verb::Status {
            base.version = Some(server.create(&base).await);
        }
        match server.verdict(&base, &base.object).await {
            Verdict::Accepted => accepted.push(base),
            // What is changed in it would show nothing.
            refused => outcome.count(index, base.object, refused, features),
        }
    }
    let bases = accepted;
    let pools = Pools::of(&bases);
    let start = Instant::now();
    let draw = |stream: u64| {
        let mut chance = Chance::new(seed, stream);
        let index = chance.below(bases.len());
        (index, mutated(&bases[index], &pools, &mut chance))
    };
    let ask = async |(index, object): (usize, Value)| {
        let theirs = server.verdict(&bases[index], &object).await;
        (index, object, theirs)
    };
    let mut answers = stream::iter((0..objects).map(draw)).map(ask).buffered(IN_FLIGHT);
    while let Some((index, object, theirs)) = answers.next().await {
        outcome.count(index, object, theirs, features);
    }
    outcome.seconds = start.elapsed().as_secs_f64();
    outcome.explain(&server, &bases, features).await;
    outcome
}

impl Outcome {
    fn new(objects: u64) -> Self {
        Self {
            objects,
            seconds: 0.0,
            accepted: 0,
            no_verdict: BTreeMap::new(),
            disagreements: BTreeMap::new(),
            reports: Vec::new(),
        }
    }

    fn count(&mut self, index: usize, object: Value, theirs: Verdict, features: &Features) {
        match &theirs {
            Verdict::Accepted => self.accepted += 1,
            Verdict::Unanswered(why) => {
                *self.no_verdict.entry(why.chars().take(60).collect()).or_default() += 1;
                return;
            }
            _ => {}
        }
        let (ours, theirs) = differences::without_known(&object, ours::verdict(&object, features), theirs);
        if let Some(disagreement) = compare(&ours, &theirs) {
            let known = self.disagreements.entry(disagreement).or_insert((0, index, object));
            known.0 += 1;
        }
    }

    /// Makes one object of each kind of disagreement smaller, the frequent ones first.
    async fn explain(&mut self, server: &Server, bases: &[Base], features: &Features) {
        let mut kinds: Vec<_> = self.disagreements.iter().collect();
        kinds.sort_by_key(|(_, (count, ..))| std::cmp::Reverse(*count));
        for (kind, (count, index, object)) in kinds.into_iter().take(SHOWN) {
            let base = &bases[*index];
            let small = shrink(server, base, object, kind, features).await;
            let (ours, theirs) = (ours::verdict(&small, features), server.verdict(base, &small).await);
            let still = disagreement(server, base, &small, features).await.is_some();
            let note = if still { "" } else { " (not again)" };
            let (verb, mut small) = (base.verb, small.to_string());
            small.truncate(small.floor_char_boundary(LONGEST));
            self.reports.push(format!(
                "{count} objects{note}: {verb:?} of\n{small}\n  ours:   {ours}\n  theirs: {theirs}\n"
            ));
        }
    }

    pub fn assert_no_difference(&self) {
        let total: u64 = self.disagreements.values().map(|(count, ..)| count).sum();
        let kinds = self.disagreements.len();
        assert!(total == 0, "{total} objects, {kinds} kinds of difference\n{}", self.reports.join("\n"));
        // A generator of hopeless or of harmless changes only would prove nothing.
        if self.objects >= 1000 {
            let accepted = self.accepted * 100 / self.objects;
            assert!((10..=90).contains(&accepted), "{accepted} % of the objects are valid");
            let unheard: u64 = self.no_verdict.values().sum();
            assert!(unheard * 20 < self.objects, "no verdict about {unheard} objects: {:?}", self.no_verdict);
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { objects, seconds, accepted, no_verdict, .. } = self;
        #[allow(clippy::cast_precision_loss, reason = "a rate for readers")]
        let rate = *objects as f64 / seconds.max(0.001);
        write!(
            f,
            "{objects} objects in {seconds:.0} s ({rate:.0}/s), {accepted} accepted, without a verdict: {no_verdict:?}"
        )
    }
}
