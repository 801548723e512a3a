//! Where this project and upstream differ on purpose. Nothing else is tolerated.

use crate::answer::{Answer, Outcome};

/// A difference that is known, and why it stays.
#[expect(dead_code, reason = "what is said of it is for readers")]
pub struct Difference {
    /// A short name.
    pub name: &'static str,
    /// What differs.
    pub what: &'static str,
    /// Why it stays.
    pub why: &'static str,
    /// Where upstream does it.
    pub link: &'static str,
    /// Whether this pair of answers, ours first, shows it.
    shows: fn(&Answer, &Answer) -> bool,
}

/// What upstream answers now so, now so.
pub const RANDOM_ORDER: &str = "random order of maps";

/// All of them.
pub const DIFFERENCES: &[Difference] = &[
    Difference {
        name: "syntax errors",
        what: "Both refuse an expression that does not parse, in other words.",
        why: "Upstream's parser is generated, and its texts name rules of its grammar.",
        link: "https://github.com/google/cel-go/blob/v0.29.2/parser/gen/CEL.g4",
        shows: |ours, upstream| match (ours, upstream) {
            (Answer::Refused(ours), Answer::Refused(upstream)) => {
                ours.contains("Syntax error") && upstream.contains("Syntax error")
            }
            _ => false,
        },
    },
    Difference {
        name: "panics",
        what: "Upstream panics where a version or bytes are a key of a map or an element of a constant list.",
        why: "A program that reads what others wrote must not end by it; here it is a failure of the evaluation.",
        link: "https://github.com/google/cel-go/blob/v0.29.2/interpreter/interpretable.go",
        shows: |ours, upstream| match (ours, upstream) {
            (_, Answer::Panic(_)) => true,
            (Answer::Compiled(ours, _), Answer::Compiled(upstream, _)) => {
                all(ours, upstream, |_, upstream| upstream.result.starts_with("internal error: "))
            }
            _ => false,
        },
    },
    Difference {
        name: "sums of quantities far apart",
        what: "The sum of quantities that are more than 4096 decimal places apart is the larger one.",
        why: "Upstream writes out all digits between them, which may take all memory.",
        link: "https://github.com/kubernetes/kubernetes/blob/v1.37.2/staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go",
        shows: |ours, upstream| match (ours, upstream) {
            (Answer::Numbers(ours), Answer::Numbers(upstream)) => {
                ours["a"] == upstream["a"]
                    && ours["compare"] == upstream["compare"]
                    && upstream["sum"]["canonical"].as_str().is_some_and(|sum| sum.len() > 4096)
            }
            _ => false,
        },
    },
    Difference {
        name: "malformed patterns",
        what: "Both refuse a malformed regular expression, but quote another part of it.",
        why: "The text is that of Go's parser of patterns, of which this project has only the grammar.",
        link: "https://pkg.go.dev/regexp/syntax",
        shows: |ours, upstream| {
            let is_pattern = |text: &str| text.contains("error parsing regexp: ");
            match (ours, upstream) {
                (Answer::Refused(ours), Answer::Refused(upstream)) => {
                    is_pattern(ours) && is_pattern(upstream)
                }
                (Answer::Compiled(ours, _), Answer::Compiled(upstream, _)) => {
                    all(ours, upstream, |ours, upstream| {
                        ours.cost == upstream.cost
                            && ours.result.contains("error parsing regexp: ")
                            && upstream.result.contains("error parsing regexp: ")
                    })
                }
                _ => false,
            }
        },
    },
    Difference {
        name: "two faults of planning",
        what: "Of several faults that planning finds, such as malformed patterns and keys, another is told.",
        why: "Values of `cel.bind` are planned last here; both refuse.",
        link: "https://github.com/google/cel-go/blob/v0.29.2/interpreter/planner.go",
        shows: |ours, upstream| match (ours, upstream) {
            (Answer::Refused(ours), Answer::Refused(upstream)) => {
                let planning = "program instantiation failed: ";
                ours.starts_with(planning) && upstream.starts_with(planning)
            }
            _ => false,
        },
    },
    Difference {
        name: "numbers of type variables",
        what: "Types that are not known yet have other numbers in texts of errors (`_var5`).",
        why: "They count how many signatures the checker tried.",
        link: "https://github.com/google/cel-go/blob/v0.29.2/checker/checker.go",
        shows: |ours, upstream| match (ours, upstream) {
            (Answer::Refused(ours), Answer::Refused(upstream)) => {
                ours.contains("_var") && without_numbers(ours) == without_numbers(upstream)
            }
            _ => false,
        },
    },
    Difference {
        name: RANDOM_ORDER,
        what: "Upstream gives several answers to one expression.",
        why: "It visits the entries of a map in random order; this project visits them in the order of keys.",
        link: "https://github.com/google/cel-go/blob/v0.29.2/common/types/map.go",
        // Only asking again can tell.
        shows: |_, _| false,
    },
];

/// Whether every pair of outcomes is equal or shows a difference.
fn all(ours: &[Outcome], upstream: &[Outcome], shows: fn(&Outcome, &Outcome) -> bool) -> bool {
    ours.iter().zip(upstream).all(|(ours, upstream)| ours == upstream || shows(ours, upstream))
}

/// The text with the numbers of type variables left out.
fn without_numbers(text: &str) -> String {
    let mut pieces = text.split("_var");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + "_var" + piece.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// The difference that a pair of answers shows.
pub fn known(ours: &Answer, upstream: &Answer) -> Option<&'static Difference> {
    if let (Answer::Compiled(_, ours), Answer::Compiled(_, upstream)) = (ours, upstream)
        && ours != upstream
    {
        return None;
    }
    DIFFERENCES.iter().find(|difference| (difference.shows)(ours, upstream))
}
