//! Where the answers to expressions, quantities and versions may differ from upstream's.

use crate::answer::{Answer, Outcome};
use crate::documented::Difference;
pub use crate::documented::{assert_documented, tolerated};

/// Two answers to one expression, ours first.
pub type Case = (Answer, Answer);

/// What upstream answers now so, now so.
pub const RANDOM_ORDER: &str = "random order of maps";

/// What is tolerated, the first that applies.
pub const DIFFERENCES: &[Difference<Case>] = &[
    Difference {
        name: "syntax errors",
        upstream: "names rules of a generated grammar",
        here: "says what it expects, at the same place",
        why: "both refuse the expression",
        link: "https://github.com/google/cel-go/blob/v0.29.2/parser/gen/CEL.g4",
        tolerates: |case| match case {
            (Answer::Refused(ours), Answer::Refused(upstream)) => {
                ours.contains("Syntax error") && upstream.contains("Syntax error")
            }
            _ => false,
        },
    },
    Difference {
        name: "panics",
        upstream: "panics where a version or bytes are a key of a map or an element of a constant list",
        here: "the evaluation fails",
        why: "a program that reads what others wrote must not end by it",
        link: "https://github.com/google/cel-go/blob/v0.29.2/interpreter/interpretable.go",
        tolerates: |case| match case {
            (_, Answer::Panic(_)) => true,
            (Answer::Compiled(ours, _), Answer::Compiled(upstream, _)) => {
                all(ours, upstream, |_, upstream| upstream.result.starts_with("internal error: "))
            }
            _ => false,
        },
    },
    Difference {
        name: "sums of quantities far apart",
        upstream: "the sum of quantities that are more than 4,096 decimal places apart has all digits between them",
        here: "it is the larger one",
        why: "the digits may take all memory",
        link: "https://github.com/kubernetes/kubernetes/blob/v1.37.2/staging/src/k8s.io/apimachinery/pkg/api/resource/quantity.go",
        tolerates: |case| match case {
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
        upstream: "quotes the part at fault",
        here: "quotes the whole",
        why: "both refuse it in the same words; the part is a matter of Go's parser",
        link: "https://pkg.go.dev/regexp/syntax",
        tolerates: |case| {
            let is_pattern = |text: &str| text.contains("error parsing regexp: ");
            match case {
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
        upstream: "of several faults that planning finds tells the first it comes to",
        here: "tells one of `cel.bind` last",
        why: "both refuse the expression",
        link: "https://github.com/google/cel-go/blob/v0.29.2/interpreter/planner.go",
        tolerates: |case| match case {
            (Answer::Refused(ours), Answer::Refused(upstream)) => {
                let planning = "program instantiation failed: ";
                ours.starts_with(planning) && upstream.starts_with(planning)
            }
            _ => false,
        },
    },
    Difference {
        name: "numbers of type variables",
        upstream: "types that are not known yet are numbered by how many signatures the checker tried (`_var5`)",
        here: "by another count",
        why: "it is but a text of a refusal",
        link: "https://github.com/google/cel-go/blob/v0.29.2/checker/checker.go",
        tolerates: |case| match case {
            (Answer::Refused(ours), Answer::Refused(upstream)) => {
                ours.contains("_var") && without_numbers(ours) == without_numbers(upstream)
            }
            _ => false,
        },
    },
    Difference {
        name: "the cost of failures",
        upstream: "counts what it looked at before an evaluation failed",
        here: "may count a few units more or less, as where `has` looks into a choice that fails",
        why: "the failure is the same, and decides",
        link: "https://github.com/google/cel-go/blob/v0.29.2/interpreter/runtimecost.go",
        tolerates: |case| match case {
            (Answer::Compiled(ours, _), Answer::Compiled(upstream, _)) => {
                all(ours, upstream, |ours, upstream| {
                    ours.result == upstream.result && is_failure(&ours.result)
                })
            }
            _ => false,
        },
    },
    Difference {
        name: RANDOM_ORDER,
        upstream: "visits the entries of a map in random order, so that one expression has several answers",
        here: "visits them in the order of keys",
        why: "the same input gives the same answer",
        link: "https://github.com/google/cel-go/blob/v0.29.2/common/types/map.go",
        // Only asking again can tell.
        tolerates: |_| false,
    },
];

/// Whether every pair of outcomes is equal or shows a difference.
fn all(ours: &[Outcome], upstream: &[Outcome], shows: fn(&Outcome, &Outcome) -> bool) -> bool {
    ours.iter().zip(upstream).all(|(ours, upstream)| ours == upstream || shows(ours, upstream))
}

/// Whether the result is neither a truth value nor the value of an attribute.
fn is_failure(result: &str) -> bool {
    !matches!(result, "true" | "false") && !result.starts_with('{')
}

/// The text with the numbers of type variables left out.
fn without_numbers(text: &str) -> String {
    let mut pieces = text.split("_var");
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |text, piece| text + "_var" + piece.trim_start_matches(|c: char| c.is_ascii_digit()))
}

/// The difference that two answers show.
pub fn known(case: &Case) -> Option<&'static Difference<Case>> {
    if let (Answer::Compiled(_, ours), Answer::Compiled(_, upstream)) = case
        && ours != upstream
    {
        return None;
    }
    tolerated(DIFFERENCES, case)
}
