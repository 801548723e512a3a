//! Are this project's expressions, quantities and versions upstream's equal? From one printed seed,
//! random ones are given to both: `e2e/oracle` asks k8s.io/dynamic-resource-allocation 0.37.2 and 0.34.13.
//! Compared are acceptance, the texts of errors, results on several devices, run-time costs and the
//! estimate of the cost. A difference is made smaller and printed as a question to the oracle.
//!
//! `STOWPLAN_SEED` repeats a run, `STOWPLAN_EXPRESSIONS` says how many of each are drawn.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a test asks a process, a seed and its environment"
)]
#![allow(
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "its helpers are part of the test"
)]

#[path = "expressions/answer.rs"]
mod answer;
#[path = "differential/chance.rs"]
mod chance;
#[path = "expressions/devices.rs"]
mod devices;
#[path = "expressions/differences.rs"]
mod differences;
#[path = "differential/differences.rs"]
mod documented;
#[path = "expressions/grammar.rs"]
mod grammar;
#[path = "expressions/literals.rs"]
mod literals;
#[path = "expressions/numbers.rs"]
mod numbers;
#[path = "differential/oracle.rs"]
mod oracle;
#[path = "expressions/shrink.rs"]
mod shrink;
#[path = "expressions/texts.rs"]
mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher, RandomState};

use answer::Answer;
use chance::Chance;
use devices::Device;
use grammar::{Grammar, Tree};
use oracle::Oracle;
use serde_json::{Value, json};
use stowplan::cel::Environment;
use stowplan::model::{Features, KubernetesVersion};

/// How many of each are drawn unless `STOWPLAN_EXPRESSIONS` says so.
const COUNT: u64 = 4000;
/// How many expressions are asked about at a time.
const BATCH: u64 = 32;
/// How many differences are made smaller before a run ends.
const REPORTED: usize = 20;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().expect("a number"))
}

/// The seed of this run, printed with what repeats it.
fn seed(test: &str) -> (u64, u64) {
    let seed = number("STOWPLAN_SEED").unwrap_or_else(|| RandomState::new().hash_one(test));
    let count = number("STOWPLAN_EXPRESSIONS").unwrap_or(COUNT);
    println!("STOWPLAN_SEED={seed} STOWPLAN_EXPRESSIONS={count} cargo test --test expressions {test}");
    (seed, count)
}

/// One kind of expression in one release.
struct Comparison {
    oracle: Oracle,
    env: Environment,
    derived: bool,
    lists: bool,
}

impl Comparison {
    fn question(&self, expressions: &[String], devices: &[Device]) -> Value {
        let devices: Vec<_> = devices.iter().map(|device| &device.json).collect();
        json!({"cel": {"expressions": expressions, "devices": devices, "derived": self.derived,
            "consumable": true, "lists": self.lists}})
    }

    /// Both answers to each expression.
    fn ask(&mut self, expressions: &[String], devices: &[Device]) -> Vec<(Answer, Answer)> {
        self.oracle.send(&self.question(expressions, devices));
        // The oracle is at work meanwhile.
        let ours: Vec<_> = expressions
            .iter()
            .map(|expression| Answer::ours(expression, self.derived, &self.env, devices))
            .collect();
        let upstream = self.oracle.receive();
        let upstream = upstream["expressions"].as_array().unwrap_or_else(|| panic!("no answers: {upstream}"));
        ours.into_iter().zip(upstream.iter().map(Answer::upstream)).collect()
    }

    /// Whether upstream gives more than one answer.
    fn is_random(&mut self, expression: &str, devices: &[Device]) -> bool {
        let again = vec![expression.to_owned(); 30];
        let answers = self.ask(&again, devices);
        answers.iter().any(|(_, upstream)| *upstream != answers[0].1)
    }

    /// The smallest expression that shows the same difference, with a report.
    fn report(&mut self, tree: &Tree, devices: &[Device], pair: &(Answer, Answer)) -> (String, String) {
        let aspect = pair.0.aspect(&pair.1);
        let small = shrink::shrink(tree, |texts: &[String]| {
            let answers = self.ask(texts, devices);
            let same = |case: &(Answer, Answer)| {
                case.0.aspect(&case.1) == aspect && differences::known(case).is_none()
            };
            answers.iter().map(same).collect()
        });
        let (ours, upstream) = self.ask(std::slice::from_ref(&small), devices).remove(0);
        let at = match (&ours, &upstream) {
            (Answer::Compiled(ours, _), Answer::Compiled(theirs, _)) => {
                ours.iter().zip(theirs).position(|(ours, theirs)| ours != theirs)
            }
            _ => None,
        };
        let differing = |answer: &Answer| match (answer, at) {
            (Answer::Compiled(outcomes, _), Some(at)) => format!("{:?}", outcomes[at]),
            (answer, _) => format!("{answer:?}"),
        };
        let asked = at.map_or(&[][..], |at| &devices[at..=at]);
        let report = format!(
            "{small}\n  ours:     {}\n  upstream: {}\n  {}",
            differing(&ours),
            differing(&upstream),
            self.question(std::slice::from_ref(&small), asked)
        );
        (small, report)
    }

    /// Draws and compares so many expressions.
    fn run(&mut self, seed: u64, count: u64) {
        let grammar = Grammar::read();
        let (mut tally, mut tolerated) = (BTreeMap::new(), BTreeMap::new());
        let mut reports: BTreeSet<String> = BTreeSet::new();
        for batch in 0..count.div_ceil(BATCH) {
            let mut chance = Chance::new(seed, batch);
            let devices: Vec<_> = (0..3).map(|_| devices::device(&mut chance, self.lists)).collect();
            let trees: Vec<_> =
                (0..BATCH.min(count - batch * BATCH)).map(|_| draw(&grammar, &mut chance)).collect();
            let texts: Vec<_> = trees.iter().map(ToString::to_string).collect();
            for (tree, pair) in trees.iter().zip(self.ask(&texts, &devices)) {
                *tally.entry(pair.1.class()).or_insert(0_u64) += 1;
                if pair.0 == pair.1 {
                    continue;
                }
                if let Some(difference) = differences::known(&pair) {
                    *tolerated.entry(difference.name).or_insert(0_u64) += 1;
                } else if self.is_random(&tree.to_string(), &devices) {
                    *tolerated.entry(differences::RANDOM_ORDER).or_insert(0_u64) += 1;
                } else if reports.len() < REPORTED {
                    let (small, report) = self.report(tree, &devices, &pair);
                    if reports.insert(small) {
                        eprintln!("seed {seed}, batch {batch}: {report}\n");
                    }
                } else {
                    panic!("{REPORTED} differences and more; the last at seed {seed}, batch {batch}: {tree}");
                }
            }
        }
        println!("{count} expressions: {tally:?}; tolerated: {tolerated:?}");
        assert!(reports.is_empty(), "seed {seed}: {} differences, see above", reports.len());
        // A generator that only makes nonsense would prove nothing.
        if count >= 1000 && !self.derived {
            let share = |class| tally.get(class).copied().unwrap_or(0) * 100 / count;
            assert!(share("a truth value") >= 25 && share("refused") >= 5, "{tally:?}");
        }
    }
}

/// An expression: mostly a selector, some of them near the limits, some garbled.
fn draw(grammar: &Grammar, chance: &mut Chance) -> Tree {
    let kind = match chance.below(100) {
        0..=2 => "heavy",
        3..=5 => {
            *chance.pick(&["int", "string", "list(int)", "semver", "quantity", "double", "list(semver)"])
        }
        6..=11 => "dyn",
        _ => "bool",
    };
    let depth = if kind == "heavy" { 4 } else { *chance.pick(&[1, 2, 2, 3, 3, 3, 4, 4, 5]) };
    let tree = grammar.draw(chance, kind, depth);
    if chance.percent(6) { Tree::text(garbled(chance, &tree.to_string())) } else { tree }
}

/// The text with a few characters lost, doubled, changed or swapped.
fn garbled(chance: &mut Chance, text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..chance.between(1, 3) {
        let at = chance.below(characters.len().max(1) - 1);
        let odd = *chance.pick(&[
            '(', ')', '[', '"', '\'', '.', '?', ':', ',', '1', 'x', ' ', '\n', '\t', '\\', 'é', '&', '/',
            '{', '#', '`',
        ]);
        match chance.below(4) {
            0 => drop(characters.remove(at)),
            1 => characters.insert(at, odd),
            2 => characters[at] = odd,
            _ => {
                let other = chance.below(characters.len());
                characters.swap(at, other);
            }
        }
        if characters.is_empty() {
            break;
        }
    }
    characters.into_iter().collect()
}

#[test]
#[ignore = "finds a difference in some thousand expressions still; run it with --ignored"]
fn expressions_are_answered_as_upstream_does() {
    let Some(oracle) = Oracle::start() else { return };
    let (seed, count) = seed("expressions_are_answered_as_upstream_does");
    let env = Environment::new(&Features::default());
    Comparison { oracle, env, derived: false, lists: true }.run(seed, count);
}

#[test]
#[ignore = "finds a difference in some thousand expressions still; run it with --ignored"]
fn expressions_of_derived_attributes_are_answered_as_upstream_does() {
    let Some(oracle) = Oracle::start() else { return };
    let (seed, count) = seed("expressions_of_derived_attributes_are_answered_as_upstream_does");
    let env = Environment::new(&Features::default());
    Comparison { oracle, env, derived: true, lists: true }.run(seed, count / 4);
}

#[test]
#[ignore = "finds a difference in some thousand expressions still; run it with --ignored"]
fn expressions_are_answered_as_the_release_1_34_does() {
    let Some(oracle) = Oracle::start_1_34() else { return };
    let (seed, count) = seed("expressions_are_answered_as_the_release_1_34_does");
    let env = Environment::new(&Features::of(KubernetesVersion::V1_34));
    Comparison { oracle, env, derived: false, lists: false }.run(seed, count / 4);
}

/// Compares pairs of texts of one kind.
fn compare_pairs(
    mut oracle: Oracle,
    verb: &str,
    (seed, count): (u64, u64),
    text: fn(&mut Chance) -> String,
    ours: fn(&str, &str) -> Value,
) {
    let mut chance = Chance::new(seed, 0);
    let mut accepted = 0;
    for _ in 0..count.div_ceil(BATCH) {
        let pairs: Vec<_> = (0..BATCH).map(|_| (text(&mut chance), text(&mut chance))).collect();
        let answer = oracle.ask(&json!({verb: {"pairs": pairs}}));
        for (at, (a, b)) in pairs.iter().enumerate() {
            let upstream = &answer["pairs"][at];
            accepted += u64::from(upstream["error"].is_null());
            let answers = (Answer::Numbers(ours(a, b)), Answer::Numbers(upstream.clone()));
            if differences::known(&answers).is_none() {
                assert_eq!(answers.0, answers.1, "seed {seed}: {}", json!({verb: {"pairs": [[a, b]]}}));
            }
        }
    }
    println!("{count} pairs of texts for {verb}, of which {accepted} begin with one that is accepted");
    assert!(accepted * 2 >= count, "too many texts are refused");
}

#[test]
fn quantities_are_read_compared_and_added_as_upstream_does() {
    let Some(oracle) = Oracle::start() else { return };
    let run = seed("quantities_are_read_compared_and_added_as_upstream_does");
    compare_pairs(oracle, "quantity", run, numbers::quantity, numbers::about_quantities);
}

#[test]
fn versions_are_read_and_compared_as_upstream_does() {
    let Some(oracle) = Oracle::start() else { return };
    let run = seed("versions_are_read_and_compared_as_upstream_does");
    compare_pairs(oracle, "semver", run, numbers::version, numbers::about_versions);
}

#[test]
fn what_is_tolerated_is_documented() {
    differences::assert_documented("expressions", differences::DIFFERENCES);
}
