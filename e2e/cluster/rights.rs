//! `manifests/rbac.yaml` grants what is used and nothing else. The API server notes what it is asked
//! for. Two rights it asks for by itself, when a claim's reservation changes, and notes nowhere:
//! of these it is shown that nothing works without them.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::plane::{Plane, built, root};
use super::{OURS, WORLD, pod_with, sharing, templated};

const ROLE: &str = "manifests/rbac.yaml";
/// Asked for by the API server itself, besides the right to the status.
const RESERVING: &str = "resource.k8s.io/resourceclaims/binding";

/// The documents of the manifest.
fn manifest() -> Vec<Value> {
    let text = std::fs::read_to_string(root().join(ROLE)).expect("the manifest is there");
    text.split("\n---\n").map(|document| serde_saphyr::from_str(document).expect("YAML")).collect()
}

fn texts(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(|text| Some(text.as_str()?.to_owned())).collect()
}

fn named(group: &str, resource: &str) -> String {
    if group.is_empty() { resource.to_owned() } else { format!("{group}/{resource}") }
}

/// What the manifest grants, each as `group/resource/subresource verb`.
fn granted() -> BTreeSet<String> {
    let mut rights = BTreeSet::new();
    for rule in manifest().iter().flat_map(|document| document["rules"].as_array().into_iter().flatten()) {
        for group in texts(&rule["apiGroups"]) {
            for resource in texts(&rule["resources"]) {
                for verb in texts(&rule["verbs"]) {
                    let right = format!("{} {verb}", named(&group, &resource));
                    assert!(rights.insert(right.clone()), "{right} is granted twice");
                }
            }
        }
    }
    rights
}

/// The role without these rights, as JSON for `controlplane apply`.
fn without(gone: &[&str]) -> String {
    let granted = granted();
    assert!(gone.iter().all(|right| granted.contains(*right)), "{gone:?} are not granted");
    let left = granted.iter().filter(|right| !gone.contains(&right.as_str()));
    let rules = left.map(|right| {
        let (resource, verb) = right.split_once(' ').expect("a right has a verb");
        let (group, resource) = match resource.strip_prefix("resource.k8s.io/") {
            Some(resource) => ("resource.k8s.io", resource),
            None => ("", resource),
        };
        json!({"apiGroups": [group], "resources": [resource], "verbs": [verb]})
    });
    let mut role = manifest().into_iter().find(|object| object["kind"] == "ClusterRole").expect("a role");
    role["rules"] = rules.collect();
    role.to_string()
}

/// The right that a request needed. `None` for what everybody may ask, such as what is served.
fn needed(request: &Value) -> Option<String> {
    let object = &request["objectRef"];
    let resource = object["resource"].as_str()?;
    let resource = match object["subresource"].as_str() {
        Some(subresource) => format!("{resource}/{subresource}"),
        None => resource.to_owned(),
    };
    let name = named(object["apiGroup"].as_str().unwrap_or_default(), &resource);
    Some(format!("{name} {}", request["verb"].as_str()?))
}

fn code(request: &Value) -> u64 {
    request["responseStatus"]["code"].as_u64().unwrap_or(200)
}

/// Asks again until it holds.
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(40), "{what} did not come true");
        std::thread::sleep(Duration::from_millis(200));
    }
}

fn plain(name: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec: {{containers: [{{name: c, image: i}}]}}\n"
    )
}

fn extended(name: &str) -> String {
    format!(
        "---\napiVersion: v1\nkind: Pod\nmetadata: {{name: {name}}}\nspec:\n  containers: [{{name: c, image: i, \
         resources: {{limits: {{example.com/gpu: 1}}}}}}]\n"
    )
}

/// A plane with devices enough for every round.
fn world(name: &str) -> Option<Plane> {
    let plane = Plane::start(built()?, name, false);
    let devices: Vec<_> = (0..64).map(|number| format!("{{name: gpu-{number}}}")).collect();
    let world = WORLD.replace("{name: gpu-0}, {name: gpu-1}", &devices.join(", "));
    plane.create(&plane.file("world.yaml", &world), OURS);
    Some(plane)
}

fn create(plane: &Plane, round: &str, pods: &[String]) {
    plane.create(&plane.file(&format!("{round}.yaml"), &pods.concat()), OURS);
}

/// Creates pods with these rights taken away, and waits for a request that is refused for it.
fn refused(plane: &Plane, gone: &[&str], pods: &[String], request: &str) {
    let round = format!("{}-without-{}", request, gone.len()).replace(['/', ' ', '.'], "-");
    plane.create(&plane.file(&format!("{round}-role.yaml"), &without(gone)), OURS);
    let before = plane.requests().len();
    create(plane, &round, pods);
    eventually(&format!("a refused {request:?} without {gone:?}"), || {
        let requests = plane.requests();
        let mut like_it =
            requests.iter().skip(before).filter(|asked| needed(asked).as_deref() == Some(request));
        // What the API server asks by itself is part of its validation.
        like_it.any(|request| matches!(code(request), 403 | 422))
    });
}

fn used(plane: &Plane) -> BTreeSet<String> {
    plane.requests().iter().filter_map(needed).collect()
}

#[test]
fn every_right_of_the_manifest_is_used_and_none_is_missing() {
    let Some(plane) = world("rights") else { return };
    // Two at a time get in each other's way, so that each has to look again at what the other did.
    let (one, other) = (plane.stowplan(OURS), plane.stowplan(OURS));
    let mut round = 0;
    eventually("looking at pods and claims again", || {
        round += 1;
        let name = |kind: &str, number: usize| format!("{kind}-{round}-{number}");
        let mut pods = vec![pod_with(&name("lost", 0), "resourceClaimName: absent")];
        pods.extend((0..12).map(|number| plain(&name("plain", number))));
        pods.extend((0..12).map(|number| sharing(&name("shared", number))));
        pods.extend([templated(&name("templated", 0)), extended(&name("extended", 0))]);
        create(&plane, &format!("round-{round}"), &pods);
        std::thread::sleep(Duration::from_secs(2));
        let used = used(&plane);
        ["pods get", "resource.k8s.io/resourceclaims get", "pods/status patch"]
            .iter()
            .all(|right| used.contains(*right))
    });
    for request in plane.requests() {
        assert!(!matches!(code(&request), 401 | 403 | 422), "{request:#}");
    }
    other.stop();

    // Without the right to bind, what was written before is taken back.
    let bind = "pods/binding create";
    let [update, patch] =
        ["update", "patch"].map(|verb| format!("resource.k8s.io/resourceclaims/status {verb}"));
    refused(&plane, &[bind], &[sharing("unbound"), extended("unbound-extended")], bind);
    eventually("what was written is taken back", || {
        let used = used(&plane);
        used.contains(&patch) && used.contains("resource.k8s.io/resourceclaims delete")
    });
    let mut needed = used(&plane);
    let reserving = ["update", "patch"].map(|verb| format!("{RESERVING} {verb}"));
    needed.extend(reserving.clone());
    assert_eq!(needed, granted(), "what is needed, and what is granted");

    refused(&plane, &[bind, &reserving[1]], &[sharing("kept")], &patch);
    refused(&plane, &[&reserving[0]], &[templated("unreserved")], &update);
    one.stop();
}
