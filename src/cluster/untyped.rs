//! Objects just as the server sent them.
//!
//! A typed object loses what its type does not know, and a write would then delete those fields
//! from the server. What this room writes back is therefore always the JSON that it read, changed
//! in the one place that the write is about.

use std::borrow::Cow;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::core::{ApiResource, DynamicResourceScope};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

/// Namespace (empty for objects without one) and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectKey {
    /// `metadata.namespace`.
    pub namespace: String,
    /// `metadata.name`.
    pub name: String,
}

/// An API object as JSON.
///
/// Invariant: `meta` repeats name, namespace, uid and resource version of `json`, which the client
/// library asks for in a type of its own.
#[derive(Clone, Debug)]
pub struct Untyped {
    meta: Box<ObjectMeta>,
    json: Value,
}

impl Untyped {
    /// The object that this JSON describes.
    pub fn new(json: Value) -> Self {
        let text = |field: &str| json.get("metadata")?.get(field)?.as_str().map(str::to_owned);
        let meta = Box::new(ObjectMeta {
            name: text("name"),
            namespace: text("namespace"),
            uid: text("uid"),
            resource_version: text("resourceVersion"),
            ..ObjectMeta::default()
        });
        Self { meta, json }
    }

    /// The object as JSON.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// The object as JSON, to change it.
    pub fn into_json(self) -> Value {
        self.json
    }

    /// Namespace and name.
    pub fn key(&self) -> ObjectKey {
        ObjectKey {
            namespace: self.meta.namespace.clone().unwrap_or_default(),
            name: self.meta.name.clone().unwrap_or_default(),
        }
    }

    /// `metadata.uid`.
    pub fn uid(&self) -> &str {
        self.meta.uid.as_deref().unwrap_or_default()
    }

    /// `metadata.resourceVersion` as a number that grows with each write. Since Kubernetes 1.35
    /// the API promises what was true before: the versions of one resource can be compared.
    pub fn version(&self) -> u64 {
        self.meta.resource_version.as_deref().and_then(|version| version.parse().ok()).unwrap_or(0)
    }

    /// Says which kind it is: items of a list leave that to the list.
    pub fn with_kind(mut self, resource: &ApiResource) -> Self {
        if let Some(object) = self.json.as_object_mut() {
            object.entry("apiVersion").or_insert_with(|| resource.api_version.clone().into());
            object.entry("kind").or_insert_with(|| resource.kind.clone().into());
        }
        self
    }
}

impl<'de> Deserialize<'de> for Untyped {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::new)
    }
}

impl Serialize for Untyped {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json.serialize(serializer)
    }
}

impl kube::Resource for Untyped {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(resource: &ApiResource) -> Cow<'_, str> {
        resource.kind.as_str().into()
    }

    fn group(resource: &ApiResource) -> Cow<'_, str> {
        resource.group.as_str().into()
    }

    fn version(resource: &ApiResource) -> Cow<'_, str> {
        resource.version.as_str().into()
    }

    fn api_version(resource: &ApiResource) -> Cow<'_, str> {
        resource.api_version.as_str().into()
    }

    fn plural(resource: &ApiResource) -> Cow<'_, str> {
        resource.plural.as_str().into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_is_written_as_it_was_read() {
        let text = r#"{"kind":"ResourceClaim","metadata":{"name":"c","uid":"u","resourceVersion":"7","later":1},"spec":{"unheardOf":[1]}}"#;
        let object: Untyped = serde_json::from_str(text).unwrap();
        assert_eq!((object.uid(), object.version()), ("u", 7));
        assert_eq!(serde_json::to_string(&object).unwrap(), text);
    }
}
