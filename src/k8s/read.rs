//! Files of objects: every object checked as an API server would check it, then decoded.

mod source;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::convert::to_v1;
use super::decode::{self, DecodeError, Interner, Namespace, Workload, WorkloadKind};
use super::field::Field;
use super::finding::{Finding, Issue, Issues};
use super::kind::{Kind, Named, Version};
use super::mistakes::{DeviceNames, selector_hint};
use super::schema::{self, Schema};
use super::tree::{Documents, Entry, Node as Tree, Place, SyntaxError, Value};
use super::validate;
use crate::model::taint_rule::DeviceTaintRule;
use crate::model::{
    DeviceClass, Features, Node, OwnerReference, Pod, PodKey, ResourceClaim, ResourceClaimTemplate,
    ResourceSlice,
};

pub use source::{Read, ReadError, Source};

/// The objects of some files, in their order.
#[derive(Debug, Default)]
pub struct Objects {
    /// Nodes.
    pub nodes: Vec<Read<Node>>,
    /// Namespaces.
    pub namespaces: Vec<Read<Namespace>>,
    /// Pods.
    pub pods: Vec<Read<Pod>>,
    /// Resource claims.
    pub claims: Vec<Read<ResourceClaim>>,
    /// Templates of resource claims.
    pub templates: Vec<Read<ResourceClaimTemplate>>,
    /// Device classes.
    pub classes: Vec<Read<DeviceClass>>,
    /// Resource slices.
    pub slices: Vec<Read<ResourceSlice>>,
    /// Device taint rules.
    pub taint_rules: Vec<Read<DeviceTaintRule>>,
    /// What makes pods.
    pub workloads: Vec<Read<Workload>>,
    /// Who controls a pod, if anybody does.
    pub pod_owners: BTreeMap<PodKey, OwnerReference>,
    /// How many objects there are of each kind that does not matter here.
    pub other_kinds: BTreeMap<String, usize>,
    /// Why objects take no part.
    pub invalid: Vec<Finding>,
    seen: BTreeMap<String, Source>,
}

impl Objects {
    /// Why the object named `Kind/namespace/name` or `Kind/name` takes no part, if it is one that
    /// was refused.
    pub fn refusal(&self, object: &str) -> Option<&Finding> {
        self.invalid.iter().find(|finding| finding.object == object)
    }
}

/// Reads texts one after another; what was read does not keep them alive.
#[derive(Debug)]
pub struct Reader {
    features: Features,
    interner: Interner,
    expressions: validate::Expressions,
    objects: Objects,
    /// Findings about expressions that do not compile, by their index.
    uncompiled: Vec<(usize, Box<str>)>,
    generated: usize,
}

/// The objects of some files, each a name and a text.
///
/// # Errors
/// The first file that is not YAML.
pub fn read<'t>(
    files: impl IntoIterator<Item = (&'t str, &'t str)>,
    features: &Features,
) -> Result<Objects, ReadError> {
    let mut reader = Reader::new(features.clone());
    for (file, text) in files {
        reader.add(file, text)?;
    }
    Ok(reader.finish())
}

/// An object on its way through the checks.
struct Candidate {
    kind: Kind,
    version: Version,
    name: String,
    source: Source,
    tree: Tree,
}

impl Reader {
    /// A reader that checks as an API server with these gates.
    pub fn new(features: Features) -> Self {
        Self {
            expressions: validate::Expressions::new(&features),
            features,
            uncompiled: Vec::new(),
            interner: Interner::default(),
            objects: Objects::default(),
            generated: 0,
        }
    }

    /// Reads one text of any number of objects.
    ///
    /// # Errors
    /// The text is not YAML, from there on.
    pub fn add(&mut self, file: &str, text: &str) -> Result<(), ReadError> {
        let file: Arc<str> = Arc::from(file);
        for document in Documents::new(text) {
            let document = document.map_err(|error| ReadError { file: Arc::clone(&file), error })?;
            self.object(document, &file);
        }
        Ok(())
    }

    /// Everything that was read.
    pub fn finish(mut self) -> Objects {
        let names = DeviceNames::of(self.objects.slices.iter().map(|read| &read.object));
        for (index, expression) in &self.uncompiled {
            if let Some(finding) = self.objects.invalid.get_mut(*index) {
                finding.hint = selector_hint(expression, &names);
            }
        }
        validate::across_objects(&mut self.objects);
        self.objects
    }

    fn object(&mut self, mut tree: Tree, file: &Arc<str>) {
        let source = Source { file: Arc::clone(file), line: tree.place.line };
        let kind = tree.text("kind").unwrap_or_default().to_owned();
        let api_version = tree.text("apiVersion").unwrap_or_default().to_owned();
        if kind.ends_with("List")
            && matches!(tree.get("items").map(|items| &items.value), Some(Value::List(_)))
        {
            if let Some(Entry { node: Tree { value: Value::List(items), .. }, .. }) = tree.take("items") {
                for item in items {
                    self.object(item, file);
                }
            }
            return;
        }
        let missing =
            if kind.is_empty() { Some("kind") } else { api_version.is_empty().then_some("apiVersion") };
        if let Some(field) = missing {
            let message = format!("Object '{}' is missing", if field == "kind" { "Kind" } else { field });
            let name = tree.get("metadata").and_then(|metadata| metadata.text("name")).unwrap_or_default();
            let issue =
                Issue { field: field.to_owned(), message, hint: None, place: tree.place, expression: None };
            self.refuse(&format!("{kind}/{name}"), &source, vec![issue]);
            return;
        }
        match Kind::named(&api_version, &kind) {
            Named::Other => *self.objects.other_kinds.entry(kind).or_default() += 1,
            Named::WrongVersion(known) => self.refuse_version(known, &api_version, &tree, &source),
            Named::Known(known, version) if !known.is_served(version, self.features.version) => {
                self.refuse_version(known, &api_version, &tree, &source);
            }
            Named::Known(kind, version) => {
                self.complete_name(&mut tree, kind);
                let name = object_name(kind, &tree);
                self.check(Candidate { kind, version, name, source, tree });
            }
        }
    }

    /// Unknown fields, then the rules of the kind, then into the model.
    fn check(&mut self, mut candidate: Candidate) {
        let Candidate { kind, version, .. } = candidate;
        let mut issues = Issues::default();
        if let Some(earlier) = self.objects.seen.get(&candidate.name) {
            let message = format!("already exists: {}:{}", earlier.file, earlier.line);
            issues.add(
                &Field::root(&candidate.tree),
                message,
                Some("give one of them another name".to_owned()),
            );
        }
        schema::check(&candidate.tree, Schema::of(kind, version), version, &mut issues);
        if issues.is_empty() {
            to_v1(&mut candidate.tree, kind, version);
            let expressions = &mut self.expressions;
            validate::object(kind, &candidate.tree, &self.features, expressions, &mut issues);
        }
        if issues.is_empty()
            && let Err(error) = self.keep(&candidate)
        {
            let place = candidate.tree.place;
            let message = error.to_string();
            issues.push(Issue { field: error.field, message, hint: None, place, expression: None });
        }
        if issues.is_empty() {
            self.objects.seen.insert(candidate.name, candidate.source);
        } else {
            self.refuse(&candidate.name, &candidate.source, issues.into_list());
        }
    }

    fn keep(&mut self, candidate: &Candidate) -> Result<(), DecodeError> {
        let Candidate { kind, source, tree, .. } = candidate;
        let (objects, interner) = (&mut self.objects, &mut self.interner);
        match kind {
            Kind::Node => source.keep(&mut objects.nodes, decode::node(tree, interner)?),
            Kind::Namespace => source.keep(&mut objects.namespaces, decode::namespace(tree, interner)?),
            Kind::Pod => {
                let pod = decode::pod(tree, interner)?;
                if let Some(owner) = decode::controller_of(tree, interner)? {
                    objects.pod_owners.insert(pod.key.clone(), owner);
                }
                source.keep(&mut objects.pods, pod);
            }
            Kind::ResourceClaim => source.keep(&mut objects.claims, decode::claim(tree, interner)?),
            Kind::ResourceClaimTemplate => {
                source.keep(&mut objects.templates, decode::template(tree, interner)?);
            }
            Kind::DeviceClass => source.keep(&mut objects.classes, decode::class(tree, interner)?),
            Kind::ResourceSlice => source.keep(&mut objects.slices, decode::slice(tree, interner)?),
            Kind::DeviceTaintRule => {
                source.keep(&mut objects.taint_rules, decode::taint_rule(tree, interner)?);
            }
            Kind::Deployment => self.keep_workload(WorkloadKind::Deployment, candidate)?,
            Kind::ReplicaSet => self.keep_workload(WorkloadKind::ReplicaSet, candidate)?,
            Kind::StatefulSet => self.keep_workload(WorkloadKind::StatefulSet, candidate)?,
            Kind::DaemonSet => self.keep_workload(WorkloadKind::DaemonSet, candidate)?,
            Kind::Job => self.keep_workload(WorkloadKind::Job, candidate)?,
        }
        Ok(())
    }

    fn keep_workload(&mut self, kind: WorkloadKind, candidate: &Candidate) -> Result<(), DecodeError> {
        let workload = decode::workload(kind, &candidate.tree, &mut self.interner)?;
        candidate.source.keep(&mut self.objects.workloads, workload);
        Ok(())
    }

    fn refuse(&mut self, object: &str, source: &Source, issues: Vec<Issue>) {
        for mut issue in issues {
            if let Some(expression) = issue.expression.take() {
                self.uncompiled.push((self.objects.invalid.len(), expression));
            }
            self.objects.invalid.push(source.finding(object, issue));
        }
    }

    fn refuse_version(&mut self, kind: Kind, api_version: &str, tree: &Tree, source: &Source) {
        let message = format!("no matches for kind {:?} in version {api_version:?}", kind.as_str());
        let release = self.features.version;
        let served: Vec<_> = kind
            .versions()
            .iter()
            .filter(|version| kind.is_served(**version, release))
            .map(|version| match kind.group() {
                "" => version.as_str().to_owned(),
                group => format!("{group}/{}", version.as_str()),
            })
            .collect();
        let hint = if served.is_empty() {
            format!("Kubernetes {release} does not have this kind")
        } else {
            format!("Kubernetes {release} has {}", served.join(", "))
        };
        let place = tree.entry("apiVersion").map_or(tree.place, |entry| entry.place);
        let issue =
            Issue { field: "apiVersion".to_owned(), message, hint: Some(hint), place, expression: None };
        self.refuse(&object_name(kind, tree), source, vec![issue]);
    }

    /// What `kubectl create` completes: the namespace, and a name from `generateName`.
    fn complete_name(&mut self, tree: &mut Tree, kind: Kind) {
        let place = tree.place;
        let text = |key: &str, text: String| Entry {
            place,
            key: key.into(),
            node: Tree { place, value: Value::String(text.into()) },
        };
        let Some(metadata) = tree.get_mut("metadata") else { return };
        if kind.is_namespaced() && metadata.text("namespace").is_none_or(str::is_empty) {
            metadata.take("namespace");
            metadata.put(text("namespace", "default".to_owned()));
        }
        let prefix = metadata.text("generateName").filter(|prefix| !prefix.is_empty()).map(str::to_owned);
        if let Some(prefix) = prefix
            && metadata.text("name").is_none_or(str::is_empty)
        {
            metadata.take("name");
            metadata.put(text("name", format!("{prefix}{:05}", self.generated)));
            self.generated += 1;
        }
    }
}

/// `Kind/namespace/name`, or `Kind/name` of what has no namespace.
fn object_name(kind: Kind, tree: &Tree) -> String {
    let metadata = tree.get("metadata");
    let text = |key: &str| metadata.and_then(|metadata| metadata.text(key)).unwrap_or_default();
    if kind.is_namespaced() {
        let namespace = Some(text("namespace")).filter(|text| !text.is_empty()).unwrap_or("default");
        format!("{}/{namespace}/{}", kind.as_str(), text("name"))
    } else {
        format!("{}/{}", kind.as_str(), text("name"))
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, error: SyntaxError { place: Place { line, column }, message, hint } } = self;
        write!(f, "{file}:{line}:{column}: {message}")?;
        hint.iter().try_for_each(|hint| write!(f, "; {hint}"))
    }
}
