//! What was probably meant: the nearest name of an object that is not there, and the right form of
//! a selector that asks for what no device has.

use std::collections::BTreeSet;

use crate::k8s::mistakes::{DeviceNames, class_hint, selector_hint};
use crate::k8s::nearest;
use crate::model::{
    ClaimKey, ClassName, DeviceRequest, DeviceRequirement, DeviceSelector, Pod, RequestKind, Snapshot,
};
use crate::scheduling::QueryError;
use crate::scheduling::options::Absence;

/// Everything that is there, to tell what was meant by what is not.
pub struct Advice<'a> {
    snapshot: &'a Snapshot,
    templates: &'a [ClaimKey],
    devices: DeviceNames,
}

impl<'a> Advice<'a> {
    /// The advice for this world.
    pub fn new(snapshot: &'a Snapshot, templates: &'a [ClaimKey]) -> Self {
        let devices = DeviceNames::of(snapshot.slices().all.values().map(|slice| &**slice));
        Self { snapshot, templates, devices }
    }

    /// What was meant by a name that leads nowhere.
    pub fn on_missing(&self, error: &QueryError) -> Option<String> {
        let near = |wanted: &ClaimKey, keys: &mut dyn Iterator<Item = &'a ClaimKey>| {
            let (here, elsewhere): (Vec<_>, Vec<_>) = keys.partition(|key| key.namespace == wanted.namespace);
            if let Some(key) = elsewhere.into_iter().find(|key| key.name == wanted.name) {
                return Some(format!("{key} is there, but a pod uses those of its own namespace only"));
            }
            let name = nearest(&wanted.name, here.into_iter().map(|key| key.name.as_str()))?;
            Some(format!("did you mean {name:?}?"))
        };
        match error {
            QueryError::ClassNotFound { class, absence: None | Some(Absence::NotFound), .. } => {
                class_hint(class.as_str(), self.snapshot.classes().keys().map(ClassName::as_str))
            }
            QueryError::ClaimNotFound { claim, absence: None | Some(Absence::NotFound), .. } => {
                near(claim, &mut self.snapshot.claims().keys())
            }
            QueryError::ClaimNotCreated { template, absence: None | Some(Absence::NotFound), .. } => {
                near(template, &mut self.templates.iter())
            }
            _ => None,
        }
    }

    /// What was meant by the selectors of the pod's claims that hold no devices, and by those of
    /// their classes; each piece of advice once.
    pub fn on_selectors(&self, pod: &Pod) -> Vec<String> {
        let mut said = BTreeSet::new();
        let mut advice = Vec::new();
        let mut say = |whose: String, selectors: &[DeviceSelector]| {
            for expression in selectors.iter().filter_map(|selector| selector.expression.as_deref()) {
                if let Some(hint) = selector_hint(expression, &self.devices)
                    && said.insert(hint.clone())
                {
                    advice.push(format!("{whose}: {hint}"));
                }
            }
        };
        for key in pod.claims.iter().filter_map(|entry| pod.claim_key(entry)) {
            let Some(claim) = self.snapshot.claims().get(&key) else { continue };
            if claim.allocation.is_some() {
                continue;
            }
            for request in &claim.spec.requests {
                for requirement in requirements(request) {
                    say(format!("ResourceClaim {key}, request {}", request.name), &requirement.selectors);
                    if let Some(class) = self.snapshot.classes().get(&requirement.class) {
                        say(format!("DeviceClass {}", class.name), &class.selectors);
                    }
                }
            }
        }
        advice
    }
}

fn requirements(request: &DeviceRequest) -> Vec<&DeviceRequirement> {
    match &request.kind {
        RequestKind::Exactly(requirement) => vec![requirement],
        RequestKind::FirstAvailable(subrequests) => subrequests.iter().map(|sub| &sub.requirement).collect(),
        RequestKind::Unknown => Vec::new(),
    }
}
