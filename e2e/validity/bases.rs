//! Objects to start from: those of the examples and scenarios, and one of each kind with
//! everything set.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use stowplan::k8s::{Documents, Kind};
use stowplan::model::{FeatureGate, Features};

use crate::plane::root;
use crate::{ours, verdict};

/// The namespaces of all objects; one permits admin access.
pub const NAMESPACES: &str = include_str!("namespaces.yaml");
/// Objects with everything set.
const EVERYTHING: [&str; 3] =
    [include_str!("devices.yaml"), include_str!("pods.yaml"), include_str!("others.yaml")];

/// Objects with fields whose gates this project does not know.
const GATED: &str = include_str!("gated.yaml");

/// What is asked of the API server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// To create the object. Most kinds lose their status by that.
    Create,
    /// To replace the status of an object that is there.
    Status,
}

/// An object to mutate.
#[derive(Clone, Debug)]
pub struct Base {
    pub object: Value,
    pub verb: Verb,
    /// The version of the object whose status is replaced.
    pub version: Option<String>,
}

/// All of them, each of which passes our checks.
pub fn bases(features: &Features) -> Vec<Base> {
    let mut bases = Vec::new();
    for (name, text) in texts(features) {
        for document in Documents::new(&text) {
            let document = document.unwrap_or_else(|error| panic!("{name}: {error:?}"));
            add(document.to_json(), features, &mut bases);
        }
    }
    let mut seen = BTreeSet::new();
    bases.retain(|base| seen.insert(base.object.to_string()));
    for (index, base) in bases.iter_mut().enumerate().filter(|(_, base)| base.verb == Verb::Status) {
        base.object["metadata"]["name"] = json!(format!("base-{index}"));
    }
    bases
}

fn texts(features: &Features) -> Vec<(String, String)> {
    let folder = root().join("docs/examples");
    let mut files = entries(&folder);
    files.extend(entries(&root().join("e2e/scenarios")).iter().map(|folder| folder.join("input.yaml")));
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml") && path.exists());
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).expect("a readable file");
        (path.display().to_string(), text)
    };
    let ours = EVERYTHING.iter().map(|text| ("everything".to_owned(), (*text).to_owned()));
    let gated =
        features.has(FeatureGate::DRADerivedAttributes).then(|| ("gated".to_owned(), GATED.to_owned()));
    files.into_iter().map(read).chain(ours).chain(gated).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder is there").filter_map(Result::ok);
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn add(mut object: Value, features: &Features, bases: &mut Vec<Base>) {
    let is_list = object["kind"].as_str().is_some_and(|kind| kind.ends_with("List"));
    if is_list && let Some(items) = object["items"].as_array_mut() {
        for item in items {
            add(item.take(), features, bases);
        }
        return;
    }
    let Some(kind) = kind(&object) else { return };
    prepare(&mut object, kind);
    if ours::verdict(&object, features) != verdict::Verdict::Accepted {
        return; // a scenario about a mistake
    }
    let status = object.get("status").cloned().filter(|_| kind != Kind::Node);
    if status.is_some() && matches!(kind, Kind::ResourceClaim | Kind::Pod | Kind::DeviceTaintRule) {
        let mut object = object.clone();
        // Whoever owns it is not there: it would be deleted.
        if let Some(metadata) = object["metadata"].as_object_mut() {
            metadata.remove("ownerReferences");
        }
        // So would a pod on a node that is not there.
        if let Some(spec) = object["spec"].as_object_mut() {
            spec.remove("nodeName");
        }
        bases.push(Base { object, verb: Verb::Status, version: None });
    }
    if let Some(map) = object.as_object_mut().filter(|_| kind != Kind::Node) {
        map.remove("status");
    }
    bases.push(Base { object, verb: Verb::Create, version: None });
}

/// The kind of an object, if it is one that is read.
pub fn kind(object: &Value) -> Option<Kind> {
    let text = |key: &str| object[key].as_str().unwrap_or_default();
    let group = text("apiVersion").split_once('/').map_or("", |(group, _)| group);
    Kind::ALL.into_iter().find(|kind| kind.as_str() == text("kind") && kind.group() == group)
}

/// Takes off what a server sets, and moves it to a namespace that is there.
fn prepare(object: &mut Value, kind: Kind) {
    let Some(metadata) = object["metadata"].as_object_mut() else { return };
    for name in
        ["uid", "resourceVersion", "creationTimestamp", "generation", "namespace", "deletionTimestamp"]
    {
        metadata.remove(name);
    }
    if kind.is_namespaced() {
        metadata.insert("namespace".to_owned(), json!("default"));
    }
}
