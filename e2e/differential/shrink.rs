//! Makes a world that shows a difference smaller: leaves out list items and fields as long as the
//! difference stays.

use serde_json::Value;

/// Fields without which an object is another one, or none.
const KEPT: &[&str] = &[
    "metadata",
    "name",
    "namespace",
    "uid",
    "spec",
    "driver",
    "pool",
    "device",
    "request",
    "generation",
    "resourceSliceCount",
    "nodes",
    "features",
    "operator",
    "key",
    "value",
    "count",
];

/// Where something can be left out: the steps from the root.
#[derive(Clone, Debug)]
enum Step {
    Item(usize),
    Field(String),
}

/// The smallest world found that still `differs`.
pub fn shrink(world: &Value, mut differs: impl FnMut(&Value) -> bool) -> Value {
    let mut world = world.clone();
    loop {
        let mut places = Vec::new();
        collect(&world, &mut places);
        let smaller = places.iter().find_map(|place| {
            let candidate = without(&world, place)?;
            differs(&candidate).then_some(candidate)
        });
        match smaller {
            Some(smaller) => world = smaller,
            None => return world,
        }
    }
}

/// Every item and field, the outer ones first.
fn collect(value: &Value, places: &mut Vec<Vec<Step>>) {
    let mut level = vec![(value, Vec::new())];
    while !level.is_empty() {
        let mut next = Vec::new();
        for (value, path) in level {
            let children: Vec<(Step, &Value)> = match value {
                Value::Array(items) => items.iter().enumerate().map(|(i, v)| (Step::Item(i), v)).collect(),
                Value::Object(fields) => fields.iter().map(|(k, v)| (Step::Field(k.clone()), v)).collect(),
                _ => Vec::new(),
            };
            for (step, child) in children {
                let mut path = path.clone();
                path.push(step);
                places.push(path.clone());
                next.push((child, path));
            }
        }
        level = next;
    }
}

fn without(world: &Value, place: &[Step]) -> Option<Value> {
    let mut world = world.clone();
    let (last, parents) = place.split_last()?;
    let mut at = &mut world;
    for step in parents {
        at = match step {
            Step::Item(index) => at.get_mut(*index)?,
            Step::Field(key) => at.get_mut(key)?,
        };
    }
    match (last, at) {
        (Step::Item(index), Value::Array(items)) if *index < items.len() => drop(items.remove(*index)),
        (Step::Field(key), _) if KEPT.contains(&key.as_str()) => return None,
        (Step::Field(key), Value::Object(fields)) => drop(fields.remove(key)?),
        _ => return None,
    }
    Some(world)
}
