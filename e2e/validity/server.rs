//! The verdict of a real API server: a strict dry run.

use std::collections::BTreeSet;

use kube::api::{PostParams, Request};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::Status;
use kube::{Client, Config, Error};
use serde_json::Value;

use crate::bases::{Base, Verb, kind};
use crate::plane::Plane;
use crate::verdict::Verdict;

/// Versions that are served beside the default ones.
pub const SERVED: [&str; 3] =
    ["resource.k8s.io/v1beta1=true", "resource.k8s.io/v1beta2=true", "resource.k8s.io/v1alpha3=true"];

/// A running API server.
pub struct Server(Client);

impl Server {
    pub async fn of(plane: &Plane) -> Self {
        let kubeconfig = Kubeconfig::read_from(plane.kubeconfig()).expect("the plane's kubeconfig");
        let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
        Self(Client::try_from(config.expect("a valid kubeconfig")).expect("a client"))
    }

    /// What is said about a mutated form of that base.
    pub async fn verdict(&self, base: &Base, object: &Value) -> Verdict {
        match self.ask(base, object, true).await {
            Ok(_) => Verdict::Accepted,
            Err(Error::Api(status)) => from_status(&status),
            Err(error) => panic!("the API server does not answer: {error}"),
        }
    }

    /// Creates the object whose status is changed later.
    ///
    /// Answers with its version.
    pub async fn create(&self, base: &Base) -> String {
        let created = Base { verb: Verb::Create, version: None, ..base.clone() };
        match self.ask(&created, &base.object, false).await {
            Ok(object) => object["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned(),
            Err(error) => panic!("{error}: {}", base.object),
        }
    }

    async fn ask(&self, base: &Base, object: &Value, dry_run: bool) -> Result<Value, Error> {
        let mut object = object.clone();
        if let Some(version) = &base.version {
            object["metadata"]["resourceVersion"] = Value::from(version.as_str());
        }
        let request = Request::new(url(&object));
        let (parameters, body) =
            (PostParams { dry_run, field_manager: None }, object.to_string().into_bytes());
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let request = match base.verb {
            Verb::Create => request.create(&parameters, body),
            Verb::Status => request.replace_subresource("status", name, &parameters, body),
        };
        let mut request = request.expect("a request");
        let strict = format!("{}&fieldValidation=Strict", request.uri());
        *request.uri_mut() = strict.parse().expect("a URI");
        self.0.request(request).await
    }
}

fn url(object: &Value) -> String {
    let api_version = object["apiVersion"].as_str().unwrap_or_default();
    let kind = kind(object).expect("a kind that is read");
    let root = if api_version.contains('/') { "apis" } else { "api" };
    let name = kind.as_str().to_lowercase();
    let plural = if name.ends_with('s') { format!("{name}es") } else { format!("{name}s") };
    match object["metadata"]["namespace"].as_str().filter(|_| kind.is_namespaced()) {
        Some(namespace) => format!("/{root}/{api_version}/namespaces/{namespace}/{plural}"),
        None => format!("/{root}/{api_version}/{plural}"),
    }
}

fn from_status(status: &Status) -> Verdict {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    match (status.code, status.message.split_once("strict decoding error: ")) {
        (400, Some((_, errors))) => strict(errors),
        (400, None) if status.message.contains("cannot be handled as a") => {
            Verdict::WrongType(vec![wrong_type(&status.message)])
        }
        (422, _) => Verdict::invalid(causes.map(|cause| {
            // Upstream says "<nil>" of what has no field of its own.
            (cause.field.replace("<nil>", ""), cause.message.clone())
        })),
        _ => Verdict::Unanswered(format!("{} {}", status.code, status.message)),
    }
}

/// `unknown field "a.b", duplicate field "c"`
fn strict(errors: &str) -> Verdict {
    let fields = errors.split("unknown field \"").skip(1).filter_map(|rest| rest.split("\", ").next());
    let fields: BTreeSet<_> = fields.map(|field| field.trim_end_matches('"').to_owned()).collect();
    if fields.is_empty() { Verdict::Unanswered(errors.to_owned()) } else { Verdict::Unknown(fields) }
}

/// `json: cannot unmarshal string into Go struct field CELDeviceSelector.spec.selectors.cel of type`
///
/// Structures whose fields stand in another one have a step of their own there, named as the type.
fn wrong_type(message: &str) -> String {
    let path = message.split("Go struct field ").nth(1).and_then(|rest| rest.split(' ').next());
    let steps = path.unwrap_or_default().split('.').skip(1);
    let steps: Vec<_> = steps.filter(|step| !step.starts_with(|c: char| c.is_ascii_uppercase())).collect();
    steps.join(".")
}
