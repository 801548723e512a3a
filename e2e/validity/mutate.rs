//! Small changes to an object, each of which may break a rule.

use serde_json::{Value, json};

use crate::bases::{Base, Verb};
use crate::chance::Chance;
use crate::pools::{self, Pools, inner};

/// One to three changes.
pub fn mutated(base: &Base, pools: &Pools, chance: &mut Chance) -> Value {
    let mut object = base.object.clone();
    for _ in 0..*chance.pick(&[1, 1, 1, 1, 2, 2, 3]) {
        change(base.verb, &mut object, pools, chance);
    }
    if object["metadata"]["namespace"].is_string() && base.verb == Verb::Create && chance.percent(30) {
        object["metadata"]["namespace"] = json!("admin");
    }
    object
}

/// The step into a value: a key, or an index.
#[derive(Clone, Debug)]
pub enum Step {
    Key(String),
    Index(usize),
}

/// What must stay as it is: it says where the object goes, or that a server stored it. The name of
/// an object whose status is replaced is that of the one which is there, and so is its spec.
fn is_fixed(verb: Verb, path: &[Step]) -> bool {
    let key = |at: usize| match path.get(at) {
        Some(Step::Key(key)) => key.as_str(),
        _ => "",
    };
    let whole = ["", "apiVersion", "kind"].contains(&key(0)) || (key(0), key(1)) == ("metadata", "");
    let by_server = key(0) == "metadata" && SET_BY_SERVER.contains(&key(1));
    let of_status = verb == Verb::Status && (key(0) != "status" || key(1).is_empty());
    whole || by_server || of_status
}

/// What a server sets, or where the object goes.
const SET_BY_SERVER: [&str; 10] = [
    "namespace",
    "resourceVersion",
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "generateName",
    "generation",
    "managedFields",
    "selfLink",
];

/// The paths of all values.
pub fn paths(value: &Value) -> Vec<Vec<Step>> {
    let mut all = Vec::new();
    collect(value, &mut Vec::new(), &mut all);
    all
}

fn collect(value: &Value, path: &mut Vec<Step>, all: &mut Vec<Vec<Step>>) {
    let mut go = |step: Step, value: &Value| {
        path.push(step);
        all.push(path.clone());
        collect(value, path, all);
        path.pop();
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| go(Step::Key(key.clone()), value)),
        Value::Array(items) => items.iter().enumerate().for_each(|(at, value)| go(Step::Index(at), value)),
        _ => {}
    }
}

pub fn at<'v>(value: &'v mut Value, path: &[Step]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, step| match step {
        Step::Key(key) => value.get_mut(key),
        Step::Index(index) => value.get_mut(index),
    })
}

/// Where a path leads, without indices; and the name of the last field.
fn place(object: &Value, path: &[Step]) -> (String, String) {
    let mut place = format!("{}/{}", object["apiVersion"], object["kind"]);
    let mut name = String::new();
    for step in path {
        if let Step::Key(key) = step {
            place = inner(&place, key);
            name.clone_from(key);
        }
    }
    (place, name)
}

/// Fields to add where they may not belong.
const UNKNOWN: [&str; 6] = ["unknown", "Spec", "exactly", "name", "cpu", "a/b/c"];

fn change(verb: Verb, object: &mut Value, pools: &Pools, chance: &mut Chance) {
    let mut paths = paths(object);
    paths.retain(|path| !is_fixed(verb, path));
    if paths.is_empty() {
        return;
    }
    let path = chance.pick(&paths).clone();
    let (place, name) = place(object, &path);
    match chance.below(16) {
        0..=2 => remove(object, &path),
        3..=5 => replace(object, &path, |old| pools::another(&name, old, chance)),
        6 | 7 => {
            if let Some(value) = pools.value(&name, chance) {
                replace(object, &path, |_| value);
            }
        }
        8 => replace(object, &path, |old| pools::wrong_type(old, chance)),
        9 | 10 => rename(object, &path, chance),
        11 | 12 => match pools.field(&place, chance) {
            Some((name, value)) => insert(object, &path, &name, value),
            None => grow(object, &path, chance),
        },
        13 => insert(object, &path, UNKNOWN[chance.below(UNKNOWN.len())], json!("1")),
        _ => grow(object, &path, chance),
    }
}

fn remove(object: &mut Value, path: &[Step]) {
    let Some((last, parent)) = path.split_last() else { return };
    match (at(object, parent), last) {
        (Some(Value::Object(map)), Step::Key(key)) => drop(map.shift_remove(key)),
        (Some(Value::Array(items)), Step::Index(index)) if *index < items.len() => drop(items.remove(*index)),
        _ => {}
    }
}

fn replace(object: &mut Value, path: &[Step], new: impl FnOnce(&Value) -> Value) {
    if let Some(value) = at(object, path) {
        *value = new(value);
    }
}

fn insert(object: &mut Value, path: &[Step], name: &str, new: Value) {
    if let Some(Value::Object(map)) = at(object, path) {
        map.insert(name.to_owned(), new);
    }
}

/// Misspells a field, or gives an entry of a map another key.
fn rename(object: &mut Value, path: &[Step], chance: &mut Chance) {
    let Some((Step::Key(key), parent)) = path.split_last() else { return };
    let Some(Value::Object(map)) = at(object, parent) else { return };
    let Some(value) = map.shift_remove(key) else { return };
    let mut new = key.clone();
    match chance.below(4) {
        0 => new.push('s'),
        1 => drop(new.pop()),
        2 => new = new.to_uppercase(),
        _ => new = pools::another_text(&new, chance),
    }
    map.insert(new, value);
}

/// Repeats an item, or fills a list or map far enough to reach a limit.
fn grow(object: &mut Value, path: &[Step], chance: &mut Chance) {
    let count = *chance.pick(&[1, 1, 1, 2, 8, 16, 32, 33, 64, 128]);
    match at(object, path) {
        Some(Value::Array(items)) if !items.is_empty() => {
            let item = chance.pick(items).clone();
            let same = chance.percent(40);
            for index in 0..count {
                let mut item = item.clone();
                if !same {
                    number(&mut item, index);
                }
                items.push(item);
            }
        }
        Some(Value::Object(map)) => {
            if let Some((key, value)) = map.iter().next().map(|(key, value)| (key.clone(), value.clone())) {
                (0..count).for_each(|index| drop(map.insert(format!("{key}{index}"), value.clone())));
            }
        }
        _ => {}
    }
}

/// Tells a copy apart by its name, key, or all of it.
fn number(item: &mut Value, index: usize) {
    let name =
        ["name", "key", "counterSet", "uid", "device"].into_iter().find(|name| item[*name].is_string());
    let text = match (name, item) {
        (Some(name), item) => &mut item[name],
        (None, item) => item,
    };
    if let Value::String(old) = text {
        old.push_str(&index.to_string());
    }
}
