//! Claims from templates, as the `ResourceClaim` controller makes them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::names::{claim_base, generate, uid};
use crate::model::pod::{ClaimSource, PodClaimStatus};
use crate::model::{
    ClaimKey, Name, OwnerReference, Pod, PodKey, PodPhase, ResourceClaim, ResourceClaimTemplate,
};

/// Claims by namespace and name.
pub type Claims = BTreeMap<ClaimKey, ResourceClaim>;
/// Templates by namespace and name.
pub type Templates = BTreeMap<ClaimKey, ResourceClaimTemplate>;

/// Makes the claims that the pod needs from templates and that are not there, and records them in
/// `status.resourceClaimStatuses`. `refused` says which claims of the input are invalid: such a
/// claim is not made anew.
///
/// A template that is missing gives no claim; the pod then waits, as it does in a cluster.
pub fn make(pod: &mut Pod, templates: &Templates, claims: &mut Claims, refused: impl Fn(&ClaimKey) -> bool) {
    if pod.phase == PodPhase::Ended || pod.deleting {
        return;
    }
    for entry in pod.claims.clone() {
        let ClaimSource::Template(template) = &entry.source else { continue };
        match pod.claim_statuses.iter().find(|status| status.name == entry.name) {
            Some(PodClaimStatus { claim: None, .. }) => continue,
            Some(PodClaimStatus { claim: Some(name), .. }) => {
                let key = ClaimKey::new(pod.key.namespace.clone(), name.clone());
                if claims.contains_key(&key) || refused(&key) {
                    continue;
                }
            }
            None => {}
        }
        let name = match orphan(pod, &entry.name, claims) {
            Some(name) => name,
            None => match templates.get(&ClaimKey::new(pod.key.namespace.clone(), template.clone())) {
                Some(template) => add(pod, &entry.name, template, claims),
                None => continue,
            },
        };
        record(pod, entry.name, name);
    }
}

/// A claim of the input that was made for this entry of the pod, and that the pod's status does
/// not name.
fn orphan(pod: &Pod, entry: &str, claims: &Claims) -> Option<Name> {
    let base = claim_base(&pod.key.name, entry);
    let recorded = |name: &Name| pod.claim_statuses.iter().any(|s| s.claim.as_ref() == Some(name));
    let first = ClaimKey::new(pod.key.namespace.clone(), base.as_str());
    claims
        .range(first..)
        .take_while(|(key, _)| key.namespace == pod.key.namespace && key.name.starts_with(&base))
        .find(|(key, claim)| {
            claim.controller.as_ref().is_some_and(|owner| owner.uid == pod.uid) && !recorded(&key.name)
        })
        .map(|(key, _)| key.name.clone())
}

fn add(pod: &Pod, entry: &str, template: &ResourceClaimTemplate, claims: &mut Claims) -> Name {
    let namespace = &pod.key.namespace;
    let seed = format!("{}/{entry}", pod.key);
    let name = generate(&claim_base(&pod.key.name, entry), &seed, |name| {
        claims.contains_key(&ClaimKey::new(namespace.clone(), name))
    });
    let key = ClaimKey { namespace: namespace.clone(), name: name.clone() };
    let claim = ResourceClaim {
        controller: Some(OwnerReference::pod(&pod.key, &pod.uid)),
        ..ResourceClaim::new(
            key.clone(),
            uid("ResourceClaim", &PodKey { namespace: namespace.clone(), name: name.clone() }),
            Arc::clone(&template.spec),
        )
    };
    claims.insert(key, claim);
    name
}

fn record(pod: &mut Pod, entry: Name, claim: Name) {
    let status = PodClaimStatus { name: entry, claim: Some(claim) };
    let kept = pod.claim_statuses.iter().filter(|other| other.name != status.name).cloned();
    pod.claim_statuses = kept.chain([status.clone()]).collect();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ClaimSpec, PodClaim};

    fn pod(entries: &[(&str, &str)]) -> Pod {
        let claims = entries.iter().map(|(name, template)| PodClaim {
            name: Name::from(*name),
            source: ClaimSource::Template(Name::from(*template)),
        });
        Pod {
            key: PodKey::new("default", "p"),
            uid: "uid-p".into(),
            claims: claims.collect(),
            ..Pod::default()
        }
    }

    fn templates() -> Templates {
        let key = ClaimKey::new("default", "one-gpu");
        let template = ResourceClaimTemplate { key: key.clone(), spec: Arc::new(ClaimSpec::default()) };
        Templates::from([(key, template)])
    }

    #[test]
    fn a_claim_is_made_owned_and_recorded_once() {
        let (mut pod, mut claims) = (pod(&[("a", "one-gpu"), ("b", "one-gpu")]), Claims::new());
        make(&mut pod, &templates(), &mut claims, |_| false);
        make(&mut pod, &templates(), &mut claims, |_| false);
        assert_eq!((claims.len(), pod.claim_statuses.len()), (2, 2));
        for (entry, status) in pod.claims.iter().zip(&pod.claim_statuses) {
            let claim = &claims[&pod.claim_key(entry).expect("recorded")];
            assert!(claim.key.name.starts_with(&*format!("p-{}-", entry.name)), "{:?}", claim.key);
            assert_eq!(status.claim.as_ref(), Some(&claim.key.name));
            assert_eq!(claim.controller.as_ref().map(|owner| &owner.uid), Some(&pod.uid));
        }
    }

    #[test]
    fn no_claim_is_made_without_a_template_or_where_none_is_needed() {
        let (mut pod, mut claims) = (pod(&[("a", "missing"), ("b", "one-gpu")]), Claims::new());
        pod.claim_statuses = Box::new([PodClaimStatus { name: Name::from("b"), claim: None }]);
        make(&mut pod, &templates(), &mut claims, |_| false);
        assert!(claims.is_empty());
        assert_eq!(pod.claim_statuses.len(), 1);
    }

    #[test]
    fn a_claim_that_was_made_for_the_pod_is_found_again() {
        let (mut pod, mut claims) = (pod(&[("a", "one-gpu")]), Claims::new());
        make(&mut pod, &templates(), &mut claims, |_| false);
        let made = claims.keys().next().cloned().expect("one");
        pod.claim_statuses = Box::default();
        make(&mut pod, &templates(), &mut claims, |_| false);
        assert_eq!(claims.len(), 1);
        assert_eq!(pod.claim_key(&pod.claims[0]), Some(made));
    }

    #[test]
    fn a_claim_that_was_refused_is_not_made_anew() {
        let (mut pod, mut claims) = (pod(&[("a", "one-gpu")]), Claims::new());
        pod.claim_statuses =
            Box::new([PodClaimStatus { name: Name::from("a"), claim: Some(Name::from("p-a-x")) }]);
        make(&mut pod, &templates(), &mut claims, |key| &*key.name == "p-a-x");
        assert!(claims.is_empty());
        make(&mut pod, &templates(), &mut claims, |_| false);
        assert_eq!(claims.len(), 1, "a claim that is gone is made again");
    }
}
