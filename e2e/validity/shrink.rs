//! Makes an object smaller while the two sides still disagree in the same way.

use serde_json::Value;
use stowplan::model::Features;

use crate::bases::Base;
use crate::mutate::{Step, at, paths};
use crate::server::Server;
use crate::verdict::{Disagreement, compare};
use crate::{differences, ours};

/// How often the API server may be asked for one object.
const BUDGET: usize = 400;

/// The object without all that the disagreement does not need.
pub async fn shrink(
    server: &Server,
    base: &Base,
    object: &Value,
    like: &Disagreement,
    features: &Features,
) -> Value {
    let mut small = object.clone();
    let mut asked = 0;
    loop {
        let before = small.to_string().len();
        // From the end: a path stays right while later ones are removed.
        let mut candidates = paths(&small);
        candidates.reverse();
        candidates.sort_by_key(Vec::len);
        for path in candidates {
            let mut smaller = small.clone();
            if is_needed(&path) || !remove(&mut smaller, &path) || asked >= BUDGET {
                continue;
            }
            asked += 1;
            if disagreement(server, base, &smaller, features).await.as_ref() == Some(like) {
                small = smaller;
            }
        }
        if small.to_string().len() == before || asked >= BUDGET {
            return small;
        }
    }
}

/// How the two sides disagree about an object, if no entry of the list explains it.
pub async fn disagreement(
    server: &Server,
    base: &Base,
    object: &Value,
    features: &Features,
) -> Option<Disagreement> {
    let ours = ours::verdict(object, features);
    let theirs = server.verdict(base, object).await;
    let (ours, theirs) = differences::without_known(object, ours, theirs);
    compare(&ours, &theirs)
}

fn is_needed(path: &[Step]) -> bool {
    matches!(path.first(), Some(Step::Key(key)) if key == "apiVersion" || key == "kind")
        || matches!(path, [Step::Key(key)] if key == "metadata")
        || matches!(path, [Step::Key(first), Step::Key(key)] if first == "metadata" && (key == "namespace" || key == "name"))
}

fn remove(object: &mut Value, path: &[Step]) -> bool {
    let Some((last, parent)) = path.split_last() else { return false };
    match (at(object, parent), last) {
        (Some(Value::Object(map)), Step::Key(key)) => map.shift_remove(key).is_some(),
        (Some(Value::Array(items)), Step::Index(index)) if *index < items.len() => {
            items.remove(*index);
            true
        }
        _ => false,
    }
}
