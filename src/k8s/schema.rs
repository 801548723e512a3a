//! The shape of the API's kinds: which fields there are, and of which type.
//!
//! The shapes are those of the generated types of `k8s-openapi`, so every field of every structure
//! is known, and a new release of Kubernetes is a new version of that crate.

mod check;
mod misplaced;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use k8s_openapi::api::{apps, batch, core, resource};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value as Json;

use super::kind::{Kind, Version};

pub(super) use check::check;

/// The shape of a kind: a graph of types, the root first.
#[derive(Debug)]
pub struct Schema {
    types: Vec<Type>,
}

type TypeId = usize;

#[derive(Debug)]
enum Type {
    /// Anything at all, such as a driver's parameters.
    Any,
    Text,
    Time,
    Bool,
    Int32,
    Int64,
    Number,
    Quantity,
    IntOrText,
    List(TypeId),
    Map(TypeId),
    Structure {
        name: String,
        fields: BTreeMap<String, TypeId>,
    },
}

impl Schema {
    /// The shape of a kind in a version, made once.
    pub fn of(kind: Kind, version: Version) -> &'static Self {
        static KNOWN: [[OnceLock<Schema>; Version::ALL.len()]; Kind::ALL.len()] =
            [const { [const { OnceLock::new() }; Version::ALL.len()] }; Kind::ALL.len()];
        // Both enums number their variants from 0.
        KNOWN[kind as usize][version as usize].get_or_init(|| Self::make(kind, version))
    }

    fn make(kind: Kind, version: Version) -> Self {
        use resource::{v1, v1alpha3, v1beta1, v1beta2};
        match (kind, version) {
            (Kind::Node, _) => Self::new::<core::v1::Node>(),
            (Kind::Namespace, _) => Self::new::<core::v1::Namespace>(),
            (Kind::Pod, _) => Self::new::<core::v1::Pod>(),
            (Kind::Deployment, _) => Self::new::<apps::v1::Deployment>(),
            (Kind::ReplicaSet, _) => Self::new::<apps::v1::ReplicaSet>(),
            (Kind::StatefulSet, _) => Self::new::<apps::v1::StatefulSet>(),
            (Kind::DaemonSet, _) => Self::new::<apps::v1::DaemonSet>(),
            (Kind::Job, _) => Self::new::<batch::v1::Job>(),
            (Kind::ResourceClaim, Version::V1Beta1) => Self::new::<v1beta1::ResourceClaim>(),
            (Kind::ResourceClaim, Version::V1Beta2) => Self::new::<v1beta2::ResourceClaim>(),
            (Kind::ResourceClaim, _) => Self::new::<v1::ResourceClaim>(),
            (Kind::ResourceClaimTemplate, Version::V1Beta1) => Self::new::<v1beta1::ResourceClaimTemplate>(),
            (Kind::ResourceClaimTemplate, Version::V1Beta2) => Self::new::<v1beta2::ResourceClaimTemplate>(),
            (Kind::ResourceClaimTemplate, _) => Self::new::<v1::ResourceClaimTemplate>(),
            (Kind::DeviceClass, Version::V1Beta1) => Self::new::<v1beta1::DeviceClass>(),
            (Kind::DeviceClass, Version::V1Beta2) => Self::new::<v1beta2::DeviceClass>(),
            (Kind::DeviceClass, _) => Self::new::<v1::DeviceClass>(),
            (Kind::ResourceSlice, Version::V1Beta1) => Self::new::<v1beta1::ResourceSlice>(),
            (Kind::ResourceSlice, Version::V1Beta2) => Self::new::<v1beta2::ResourceSlice>(),
            (Kind::ResourceSlice, _) => Self::new::<v1::ResourceSlice>(),
            (Kind::DeviceTaintRule, Version::V1Alpha3) => Self::new::<v1alpha3::DeviceTaintRule>(),
            (Kind::DeviceTaintRule, Version::V1Beta2) => Self::new::<v1beta2::DeviceTaintRule>(),
            (Kind::DeviceTaintRule, _) => Self::new::<v1::DeviceTaintRule>(),
        }
    }

    fn new<T: JsonSchema>() -> Self {
        let mut generator = SchemaGenerator::default();
        let root = T::json_schema(&mut generator).to_value();
        let definitions = generator.take_definitions(false);
        let mut builder = Builder { definitions: &definitions, known: BTreeMap::new(), types: Vec::new() };
        builder.add("", &root);
        Self { types: builder.types }
    }

    fn root(&self) -> &Type {
        self.get(0)
    }

    fn get(&self, id: TypeId) -> &Type {
        self.types.get(id).unwrap_or(&Type::Any)
    }
}

struct Builder<'d> {
    definitions: &'d serde_json::Map<String, Json>,
    known: BTreeMap<String, TypeId>,
    types: Vec<Type>,
}

impl Builder<'_> {
    /// Adds the type that a JSON schema describes; `name` is the definition's, if it has one.
    fn add(&mut self, name: &str, schema: &Json) -> TypeId {
        if let Some(name) = reference(schema) {
            if let Some(id) = self.known.get(name) {
                return *id;
            }
            let Some(definition) = self.definitions.get(name) else { return self.push(Type::Any) };
            return self.add(name, definition);
        }
        let id = self.push(Type::Any);
        if !name.is_empty() {
            self.known.insert(name.to_owned(), id);
        }
        let of_type = self.describe(name, schema);
        if let Some(place) = self.types.get_mut(id) {
            *place = of_type;
        }
        id
    }

    fn push(&mut self, of_type: Type) -> TypeId {
        self.types.push(of_type);
        self.types.len() - 1
    }

    fn describe(&mut self, name: &str, schema: &Json) -> Type {
        if schema.get("x-kubernetes-int-or-string").is_some() {
            return if name.ends_with(".Quantity") { Type::Quantity } else { Type::IntOrText };
        }
        let format = schema.get("format").and_then(Json::as_str).unwrap_or_default();
        match schema.get("type").and_then(Json::as_str).unwrap_or_default() {
            "string" if format == "date-time" => Type::Time,
            "string" => Type::Text,
            "boolean" => Type::Bool,
            "integer" if format == "int32" => Type::Int32,
            "integer" => Type::Int64,
            "number" => Type::Number,
            "array" => Type::List(schema.get("items").map_or(0, |items| self.add("", items))),
            "object" => {
                match (schema.get("properties").and_then(Json::as_object), schema.get("additionalProperties"))
                {
                    (Some(fields), _) => {
                        let fields =
                            fields.iter().map(|(field, schema)| (field.clone(), self.add("", schema)));
                        Type::Structure { fields: fields.collect(), name: name.to_owned() }
                    }
                    (None, Some(values)) => Type::Map(self.add("", values)),
                    (None, None) => Type::Any,
                }
            }
            _ => Type::Any,
        }
    }
}

/// The name of the definition that a schema refers to.
fn reference(schema: &Json) -> Option<&str> {
    let direct = schema.get("$ref");
    let wrapped = || schema.get("allOf")?.as_array()?.first()?.get("$ref");
    direct.or_else(wrapped)?.as_str()?.rsplit('/').next()
}
