//! Watching the kinds that decisions are made from, as one stream of changes.

use std::collections::BTreeSet;
use std::pin::pin;

use futures::StreamExt;
use kube::api::Api;
use kube::core::{ApiResource, GroupVersionKind};
use kube::runtime::WatchStreamExt;
use kube::runtime::watcher::{self, Event};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tracing::{debug, warn};

use super::untyped::{ObjectKey, Untyped};

/// The kinds that decisions are made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `core/v1 Node`
    Node,
    /// `core/v1 Pod`
    Pod,
    /// `resource.k8s.io/v1 DeviceClass`
    DeviceClass,
    /// `resource.k8s.io/v1 ResourceSlice`
    ResourceSlice,
    /// `resource.k8s.io/v1 ResourceClaim`
    ResourceClaim,
    /// `resource.k8s.io DeviceTaintRule`, in the best version that the server has
    DeviceTaintRule,
}

/// What happened to one object, or to a whole kind.
#[derive(Debug)]
pub enum Change {
    /// The object is there, new or changed.
    Set(Kind, Untyped),
    /// The object is gone.
    Removed(Kind, ObjectKey),
    /// All objects of that kind which were there at the start have been told.
    Listed(Kind),
}

/// A kind to watch, and where the server has it.
#[derive(Clone, Debug)]
pub struct Watched {
    /// The kind.
    pub kind: Kind,
    /// Where.
    pub resource: ApiResource,
}

const DRA_GROUP: &str = "resource.k8s.io";

/// Where the server has the kinds; `None` if it serves no `resource.k8s.io/v1`, as before
/// Kubernetes 1.34.
///
/// # Errors
/// The server cannot be reached.
pub async fn discover(client: &kube::Client) -> kube::Result<Option<Vec<Watched>>> {
    if !serves(client, "v1", "resourceclaims").await? {
        return Ok(None);
    }
    let core = |kind, name| Watched { kind, resource: api_resource("", "v1", name) };
    let dra = |kind, name| Watched { kind, resource: api_resource(DRA_GROUP, "v1", name) };
    let mut kinds = vec![
        core(Kind::Node, "Node"),
        core(Kind::Pod, "Pod"),
        dra(Kind::DeviceClass, "DeviceClass"),
        dra(Kind::ResourceSlice, "ResourceSlice"),
        dra(Kind::ResourceClaim, "ResourceClaim"),
    ];
    for version in ["v1", "v1beta2", "v1alpha3"] {
        if serves(client, version, "devicetaintrules").await? {
            let resource = api_resource(DRA_GROUP, version, "DeviceTaintRule");
            kinds.push(Watched { kind: Kind::DeviceTaintRule, resource });
            break;
        }
    }
    Ok(Some(kinds))
}

async fn serves(client: &kube::Client, version: &str, plural: &str) -> kube::Result<bool> {
    match client.list_api_group_resources(&format!("{DRA_GROUP}/{version}")).await {
        Ok(list) => Ok(list.resources.iter().any(|resource| resource.name == plural)),
        Err(kube::Error::Api(status)) if status.is_not_found() => Ok(false),
        Err(error) => Err(error),
    }
}

fn api_resource(group: &str, version: &str, kind: &str) -> ApiResource {
    ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind))
}

/// Starts one watch per kind; they end when the receiver is dropped.
pub fn start(client: &kube::Client, kinds: Vec<Watched>, changes: &mpsc::Sender<Change>) -> JoinSet<()> {
    let mut watches = JoinSet::new();
    for watched in kinds {
        watches.spawn(watch(client.clone(), watched, changes.clone()));
    }
    watches
}

async fn watch(client: kube::Client, Watched { kind, resource }: Watched, changes: mpsc::Sender<Change>) {
    let api: Api<Untyped> = Api::all_with(client, &resource);
    let mut events = pin!(watcher::watcher(api, config(kind)).default_backoff());
    let mut known = Known::default();
    while let Some(event) = events.next().await {
        let event = match event {
            Ok(event) => event,
            Err(error) => {
                // The watcher tries again, less and less often.
                warn!(?kind, %error, "watch failed");
                continue;
            }
        };
        for change in known.follow(kind, &resource, event) {
            if changes.send(change).await.is_err() {
                return;
            }
        }
    }
    debug!(?kind, "watch ended");
}

fn config(kind: Kind) -> watcher::Config {
    let config = watcher::Config::default();
    match kind {
        // What has ended uses nothing; its end is seen as a deletion.
        Kind::Pod => config.fields("status.phase!=Succeeded,status.phase!=Failed"),
        _ => config,
    }
}

/// The objects of one kind that were told, so that a new list tells what vanished in between.
#[derive(Debug, Default)]
struct Known {
    keys: BTreeSet<ObjectKey>,
    /// The objects of a list that is being read.
    listing: BTreeSet<ObjectKey>,
}

impl Known {
    fn follow(&mut self, kind: Kind, resource: &ApiResource, event: Event<Untyped>) -> Vec<Change> {
        match event {
            Event::Init => {
                self.listing.clear();
                Vec::new()
            }
            Event::InitApply(object) => {
                self.listing.insert(object.key());
                self.keys.insert(object.key());
                vec![Change::Set(kind, object.with_kind(resource))]
            }
            Event::InitDone => {
                let listed = std::mem::take(&mut self.listing);
                let known = std::mem::replace(&mut self.keys, listed);
                let gone = known.difference(&self.keys).cloned();
                gone.map(|key| Change::Removed(kind, key)).chain([Change::Listed(kind)]).collect()
            }
            Event::Apply(object) => {
                self.keys.insert(object.key());
                vec![Change::Set(kind, object.with_kind(resource))]
            }
            Event::Delete(object) => {
                self.keys.remove(&object.key());
                vec![Change::Removed(kind, object.key())]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(name: &str) -> Untyped {
        Untyped::new(json!({"metadata": {"name": name}}))
    }

    #[test]
    fn what_vanished_while_the_watch_was_broken_is_told_as_removed() {
        let mut known = Known::default();
        let resource = api_resource("", "v1", "Node");
        let mut follow = |event| known.follow(Kind::Node, &resource, event);
        for event in [Event::Init, Event::InitApply(node("a")), Event::InitApply(node("b")), Event::InitDone]
        {
            follow(event);
        }
        follow(Event::Init);
        follow(Event::InitApply(node("b")));
        let changes = follow(Event::InitDone);
        let [Change::Removed(Kind::Node, gone), Change::Listed(Kind::Node)] = &changes[..] else {
            panic!("unexpected changes: {changes:?}");
        };
        assert_eq!(gone.name, "a");
    }

    #[test]
    fn items_of_a_list_are_told_which_kind_they_are() {
        let resource = api_resource(DRA_GROUP, "v1", "ResourceClaim");
        let changes = Known::default().follow(Kind::ResourceClaim, &resource, Event::InitApply(node("c")));
        let [Change::Set(_, object)] = &changes[..] else { panic!("unexpected changes: {changes:?}") };
        assert_eq!(object.json()["apiVersion"], "resource.k8s.io/v1");
        assert_eq!(object.json()["kind"], "ResourceClaim");
    }
}
