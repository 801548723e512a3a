//! Upstream's own answers: `upstream.jsonl` holds expressions with what
//! `k8s.io/dynamic-resource-allocation/cel` v0.37.2 says of them, as printed by a program that does
//! nothing but ask it: the compile error, or the type and for each device the result and its cost.
//! Its first line lists the devices, in the form of `ResourceSlice` devices.

use std::fmt::Write as _;

use serde_json::Value as Json;

use crate::cel::{DeviceInput, Environment, compile};
use crate::model::{AttributeValue, Capacity, DeviceContent, Features, Name, Quantity};

fn names(list: &Json) -> Box<[Name]> {
    list.as_array().unwrap().iter().map(|text| Name::from(text.as_str().unwrap())).collect()
}

fn attribute(json: &Json) -> AttributeValue {
    let Some((kind, value)) = json.as_object().unwrap().iter().next() else {
        return AttributeValue::Unsupported;
    };
    let text = || Name::from(value.as_str().unwrap());
    match kind.as_str() {
        "int" => AttributeValue::Int(value.as_i64().unwrap()),
        "bool" => AttributeValue::Bool(value.as_bool().unwrap()),
        "string" => AttributeValue::String(text()),
        "version" => AttributeValue::Version(text()),
        "ints" => {
            AttributeValue::Ints(value.as_array().unwrap().iter().map(|v| v.as_i64().unwrap()).collect())
        }
        "bools" => {
            AttributeValue::Bools(value.as_array().unwrap().iter().map(|v| v.as_bool().unwrap()).collect())
        }
        "strings" => AttributeValue::Strings(names(value)),
        "versions" => AttributeValue::Versions(names(value)),
        other => panic!("no attribute kind {other}"),
    }
}

fn sorted<T>(json: &Json, value: impl Fn(&Json) -> T) -> Box<[(Name, T)]> {
    let mut entries: Vec<_> = json
        .as_object()
        .map(|object| object.iter().map(|(key, json)| (Name::from(key.as_str()), value(json))).collect())
        .unwrap_or_default();
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    entries.into()
}

/// The driver and content of a device given as JSON.
fn device(json: &Json) -> (String, DeviceContent) {
    let capacity = |json: &Json| Capacity {
        value: json["value"].as_str().unwrap().parse::<Quantity>().unwrap(),
        policy: None,
    };
    let content = DeviceContent {
        attributes: sorted(&json["attributes"], attribute),
        capacity: sorted(&json["capacity"], capacity),
        allow_multiple_allocations: json["allowMultipleAllocations"].as_bool().unwrap_or(false),
    };
    (json["driver"].as_str().unwrap().to_owned(), content)
}

/// Upstream appends the hint later.
fn without_hint(text: &str) -> &str {
    text.split(". consider using CEL optional chaining").next().unwrap_or(text)
}

/// What we say, in the form of the file.
fn ours(expression: &str, env: &Environment, devices: &[(String, DeviceContent)]) -> (String, Vec<String>) {
    let program = match compile(expression, env) {
        Ok(program) => program,
        Err(error) => return (error.to_string(), Vec::new()),
    };
    let results = devices.iter().map(|(driver, content)| {
        let input = DeviceInput { driver, content };
        let cost = program.cost(&input).0;
        match program.matches(&input) {
            Ok(matches) => format!("{matches} {cost}"),
            Err(error) => format!("{} {cost}", without_hint(&error.to_string())),
        }
    });
    (String::new(), results.collect())
}

/// What upstream says. An evaluation that never begins has no cost.
fn theirs(answer: &Json) -> (String, Vec<String>) {
    let results = answer["results"].as_array().map_or(&[][..], |results| results);
    let result = |json: &Json| {
        let outcome = json["match"].as_bool().map_or_else(
            || json["error"].as_str().unwrap_or_default().to_owned(),
            |matches| matches.to_string(),
        );
        format!("{outcome} {}", json["cost"].as_u64().unwrap_or(0))
    };
    let compile = answer["compile"].as_str().unwrap_or_default().to_owned();
    (compile, results.iter().map(result).collect())
}

/// The parser of upstream is generated, and its texts name grammar rules; the place is the same.
fn is_syntax_error(text: &str) -> bool {
    text.contains("Syntax error")
}

/// What differs from a file of upstream's answers, and how many expressions there are.
fn differences(file: &str, env: &Environment) -> (usize, String) {
    let mut lines = file.lines();
    let devices: Json = serde_json::from_str(lines.next().unwrap()).unwrap();
    let devices: Vec<_> = devices.as_array().unwrap().iter().map(device).collect();
    let mut differences = String::new();
    let mut count = 0;
    for line in lines {
        let answer: Json = serde_json::from_str(line).unwrap();
        let expression = answer["expr"].as_str().unwrap();
        let (wanted, found) = (theirs(&answer), ours(expression, env, &devices));
        count += 1;
        if wanted == found || is_syntax_error(&wanted.0) && is_syntax_error(&found.0) {
            continue;
        }
        let _ = writeln!(differences, "{expression}\n  wanted {wanted:?}\n  found  {found:?}");
    }
    (count, differences)
}

#[test]
fn every_expression_gets_the_answer_the_error_text_and_the_cost_that_upstream_gives() {
    let (count, differences) =
        differences(include_str!("upstream.jsonl"), &Environment::new(&Features::default()));
    assert!(differences.is_empty(), "of {count} expressions:\n{differences}");
    assert!(count > 1000, "{count} expressions are too few");
}
#[test]
fn every_function_of_the_library_answers_as_upstream_does() {
    let (count, differences) =
        differences(include_str!("library.jsonl"), &Environment::new(&Features::default()));
    assert!(differences.is_empty(), "of {count} expressions:\n{differences}");
    assert!(count > 1000, "{count} expressions are too few");
}
