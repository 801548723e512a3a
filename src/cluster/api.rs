//! The few requests that this scheduler sends. `manifests/rbac.yaml` grants just these.

use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams, Preconditions};
use kube::core::{ApiResource, GroupVersionKind, Status};
use serde_json::{Value, json};

use super::untyped::Untyped;
use crate::model::{ClaimKey, NodeName, PodKey, Uid};

/// What the server notes as the writer of a field.
const FIELD_MANAGER: &str = "stowplan";

fn writing() -> PostParams {
    PostParams { field_manager: Some(FIELD_MANAGER.into()), ..PostParams::default() }
}

fn patching() -> PatchParams {
    PatchParams { field_manager: Some(FIELD_MANAGER.into()), ..PatchParams::default() }
}

/// Why a request failed.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    /// The object is another one by now, or gone: the answer 409 or 404.
    #[error("{what} changed since the decision: {message}")]
    Changed {
        /// What was requested.
        what: String,
        /// The server's message.
        message: String,
    },
    /// The server refused it.
    #[error("{what} was refused: {message}")]
    Refused {
        /// What was requested.
        what: String,
        /// The server's message.
        message: String,
    },
    /// No answer came; the request may have been carried out or not.
    #[error("no answer to {what}: {error}")]
    Unanswered {
        /// What was requested.
        what: String,
        /// What the client says.
        error: kube::Error,
    },
}

type Result<T> = std::result::Result<T, RequestError>;

fn answer<T>(result: kube::Result<T>, what: impl FnOnce() -> String) -> Result<T> {
    result.map_err(|error| {
        let what = what();
        match error {
            kube::Error::Api(status) if status.is_conflict() || status.is_not_found() => {
                RequestError::Changed { what, message: status.message }
            }
            kube::Error::Api(status) => RequestError::Refused { what, message: status.message },
            error => RequestError::Unanswered { what, error },
        }
    })
}

/// The API server, as far as this scheduler writes to it.
#[derive(Clone)]
pub struct Server {
    client: kube::Client,
    claims: ApiResource,
    pods: ApiResource,
}

impl Server {
    /// The server behind a client.
    pub fn new(client: kube::Client) -> Self {
        let resource = |group, kind| ApiResource::from_gvk(&GroupVersionKind::gvk(group, "v1", kind));
        Self { client, claims: resource("resource.k8s.io", "ResourceClaim"), pods: resource("", "Pod") }
    }

    fn claims(&self, namespace: &str) -> Api<Untyped> {
        Api::namespaced_with(self.client.clone(), namespace, &self.claims)
    }

    fn pods(&self, namespace: &str) -> Api<Untyped> {
        Api::namespaced_with(self.client.clone(), namespace, &self.pods)
    }

    /// `GET resourceclaims/NAME`
    ///
    /// # Errors
    /// As all requests here: see [`RequestError`].
    pub async fn claim(&self, key: &ClaimKey) -> Result<Untyped> {
        let result = self.claims(&key.namespace).get(&key.name).await;
        answer(result, || format!("reading claim {key}"))
    }

    /// `PUT resourceclaims/NAME`
    ///
    /// # Errors
    /// See [`RequestError`].
    pub async fn put_claim(&self, key: &ClaimKey, claim: &Untyped) -> Result<Untyped> {
        let result = self.claims(&key.namespace).replace(&key.name, &writing(), claim).await;
        answer(result, || format!("writing claim {key}"))
    }

    /// `PUT resourceclaims/NAME/status`
    ///
    /// # Errors
    /// See [`RequestError`].
    pub async fn put_claim_status(&self, key: &ClaimKey, claim: &Untyped) -> Result<Untyped> {
        let claims = self.claims(&key.namespace);
        let result = claims.replace_subresource("status", &key.name, &writing(), claim).await;
        answer(result, || format!("writing the status of claim {key}"))
    }

    /// `PATCH resourceclaims/NAME/status`, as a strategic merge
    ///
    /// # Errors
    /// See [`RequestError`].
    pub async fn patch_claim_status(&self, key: &ClaimKey, patch: &Value) -> Result<Untyped> {
        let (claims, patch) = (self.claims(&key.namespace), Patch::Strategic(patch));
        let result = claims.patch_subresource("status", &key.name, &patching(), &patch).await;
        answer(result, || format!("patching the status of claim {key}"))
    }

    /// `POST resourceclaims`
    ///
    /// # Errors
    /// See [`RequestError`].
    pub async fn create_claim(&self, namespace: &str, claim: Value) -> Result<Untyped> {
        let result = self.claims(namespace).create(&writing(), &Untyped::new(claim)).await;
        answer(result, || format!("creating a claim in namespace {namespace}"))
    }

    /// `DELETE resourceclaims/NAME`, if it is still that one
    ///
    /// # Errors
    /// See [`RequestError`].
    pub async fn delete_claim(&self, key: &ClaimKey, uid: &str) -> Result<()> {
        let uid = Some(uid.to_owned());
        let parameters = DeleteParams::default().preconditions(Preconditions { uid, resource_version: None });
        let result = self.claims(&key.namespace).delete(&key.name, &parameters).await;
        answer(result.map(drop), || format!("deleting claim {key}"))
    }

    /// `POST pods/NAME/binding`
    ///
    /// # Errors
    /// See [`RequestError`].
    pub async fn bind(&self, pod: &PodKey, uid: &Uid, node: &NodeName) -> Result<()> {
        let binding = json!({
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"namespace": pod.namespace.as_str(), "name": pod.name.as_str(), "uid": uid.as_str()},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node.as_str()},
        });
        let pods = self.pods(&pod.namespace);
        let result: kube::Result<Status> =
            pods.create_subresource("binding", &pod.name, &writing(), &binding).await;
        answer(result.map(drop), || format!("binding pod {pod} to node {node}"))
    }

    /// The node of a pod, read fresh; `None` if it has none, or is another pod by now.
    ///
    /// # Errors
    /// See [`RequestError`].
    pub async fn node_of(&self, pod: &PodKey, uid: &Uid) -> Result<Option<NodeName>> {
        let result = self.pods(&pod.namespace).get(&pod.name).await;
        let found = answer(result, || format!("reading pod {pod}"))?;
        let node = found.json().pointer("/spec/nodeName").and_then(Value::as_str);
        Ok(node.filter(|node| found.uid() == uid.as_str() && !node.is_empty()).map(NodeName::from))
    }

    /// `PATCH pods/NAME/status`, as a strategic merge
    ///
    /// # Errors
    /// See [`RequestError`].
    pub async fn patch_pod_status(&self, pod: &PodKey, patch: &Value) -> Result<()> {
        let (pods, patch) = (self.pods(&pod.namespace), Patch::Strategic(patch));
        let result = pods.patch_subresource("status", &pod.name, &patching(), &patch).await;
        answer(result.map(drop), || format!("patching the status of pod {pod}"))
    }
}
