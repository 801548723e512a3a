//! Upstream's own estimates: `estimates.jsonl` holds expressions with the least and the most that
//! `k8s.io/dynamic-resource-allocation/cel` v0.37.2 says they may cost, as `e2e/oracle` printed it:
//! those of `upstream.jsonl` that compile, and others that put operands of every origin into every
//! function and macro.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value as Json;

use crate::cel::checker::{self, Reference};
use crate::cel::{Bounds, Environment, compile, parser};
use crate::model::Features;

fn answers() -> impl Iterator<Item = (String, Bounds)> {
    include_str!("estimates.jsonl").lines().map(|line| {
        let answer: Json = serde_json::from_str(line).unwrap();
        let bound = |name: &str| answer[name].as_u64().unwrap();
        (answer["expr"].as_str().unwrap().to_owned(), Bounds { min: bound("min"), max: bound("max") })
    })
}

#[test]
fn every_expression_has_the_estimate_that_upstream_gives() {
    let env = Environment::new(&Features::default());
    let mut differences = String::new();
    let mut count = 0;
    for (expression, wanted) in answers() {
        count += 1;
        let found = compile(&expression, &env).map(|program| program.cost_estimate());
        if found.as_ref() != Ok(&wanted) {
            let _ = writeln!(differences, "{expression}\n  wanted {wanted:?}\n  found  {found:?}");
        }
    }
    assert!(differences.is_empty(), "of {count} expressions:\n{differences}");
    assert!(count > 2000, "{count} expressions are too few");
}

/// A function that is declared but not in the file could have been forgotten by the estimate.
#[test]
fn every_signature_of_every_function_is_among_them() {
    let env = Environment::new(&Features::default());
    let mut missing: BTreeSet<_> = env
        .functions
        .iter()
        .flat_map(|(name, declaration)| declaration.overloads.iter().map(|overload| (*name, overload.id)))
        .collect();
    for (expression, _) in answers() {
        let Ok((ast, root)) = parser::parse(&expression) else { continue };
        let Ok(checked) = checker::check(&ast, root, &env) else { continue };
        for reference in &checked.references {
            if let Reference::Call { function, overloads, .. } = reference {
                for overload in overloads {
                    missing.remove(&(function.name(), *overload));
                }
            }
        }
    }
    assert!(missing.is_empty(), "no expression for {missing:?}");
}
