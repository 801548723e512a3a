//! `DeviceTaintRules`: taints that an administrator puts on devices without the driver's help
//! (KEP-5055).

use std::sync::Arc;

use super::features::KubernetesVersion;
use super::ids::Name;
use super::slice::ResourceSlice;
use super::taint::Taint;

/// Which devices a rule is about. Absent criteria match everything.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct DeviceTaintSelector {
    /// The driver.
    pub driver: Option<Name>,
    /// The pool.
    pub pool: Option<Name>,
    /// The device.
    pub device: Option<Name>,
}

/// A taint for every device that the selector matches.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceTaintRule {
    /// `metadata.name`.
    pub name: Name,
    /// The devices. An empty selector matches all; an absent one none, or all until 1.36.
    pub selector: Option<DeviceTaintSelector>,
    /// The taint.
    pub taint: Taint,
}

impl DeviceTaintRule {
    /// The devices that the rule is about, if it is about any. Until 1.36 a rule without a selector
    /// was about all of them, against what its documentation said.
    fn selector(&self, version: KubernetesVersion) -> Option<&DeviceTaintSelector> {
        const ALL: &DeviceTaintSelector = &DeviceTaintSelector { driver: None, pool: None, device: None };
        let absent = (version <= KubernetesVersion::V1_36).then_some(ALL);
        self.selector.as_ref().or(absent)
    }
}

impl DeviceTaintSelector {
    fn covers_pool(&self, slice: &ResourceSlice) -> bool {
        self.driver.as_ref().is_none_or(|driver| *driver == slice.pool.driver)
            && self.pool.as_ref().is_none_or(|pool| *pool == slice.pool.pool)
    }

    fn covers_device(&self, device: &Name) -> bool {
        self.device.as_ref().is_none_or(|name| name == device)
    }
}

/// The slice with the taints of all matching rules added after the driver's own, rules in the
/// order given. A slice that no rule touches is returned as it is.
pub fn apply_taint_rules<'a>(
    slice: &Arc<ResourceSlice>,
    rules: impl IntoIterator<Item = &'a DeviceTaintRule>,
    version: KubernetesVersion,
) -> Arc<ResourceSlice> {
    let rules: Vec<_> = rules
        .into_iter()
        .filter_map(|rule| Some((rule.selector(version)?, &rule.taint)))
        .filter(|(selector, _)| selector.covers_pool(slice))
        .collect();
    let touched = slice.devices.iter().any(|d| rules.iter().any(|(s, _)| s.covers_device(&d.name)));
    if !touched {
        return Arc::clone(slice);
    }
    let mut patched = (**slice).clone();
    for device in &mut patched.devices {
        let added = rules.iter().filter(|(selector, _)| selector.covers_device(&device.name));
        device.taints =
            device.taints.iter().cloned().chain(added.map(|(_, taint)| (*taint).clone())).collect();
    }
    Arc::new(patched)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Device, DeviceContent, PoolId, TaintEffect};

    fn taint(key: &str) -> Taint {
        Taint { key: key.into(), value: "".into(), effect: TaintEffect::NoSchedule, time_added: None }
    }

    fn slice() -> Arc<ResourceSlice> {
        let device = |name: &str| Device {
            taints: Box::new([taint("driver")]),
            ..Device::plain(name, Arc::new(DeviceContent::default()))
        };
        Arc::new(ResourceSlice {
            devices: Box::new([device("gpu-0"), device("gpu-1")]),
            ..ResourceSlice::new("slice", PoolId::new("gpu.example.com", "n1"))
        })
    }

    fn rule(selector: Option<(Option<&str>, Option<&str>, Option<&str>)>) -> DeviceTaintRule {
        let selector = selector.map(|(driver, pool, device)| DeviceTaintSelector {
            driver: driver.map(Name::from),
            pool: pool.map(Name::from),
            device: device.map(Name::from),
        });
        DeviceTaintRule { name: "rule".into(), selector, taint: taint("rule") }
    }

    fn tainted(rule: &DeviceTaintRule, version: KubernetesVersion) -> Vec<String> {
        let patched = apply_taint_rules(&slice(), [rule], version);
        let hit = |d: &&Device| d.taints.iter().map(|t| &*t.key).eq(["driver", "rule"]);
        patched.devices.iter().filter(hit).map(|d| d.name.to_string()).collect()
    }

    #[test]
    fn every_criterion_that_is_set_must_agree() {
        let now = KubernetesVersion::V1_37;
        let (gpu, n1) = (Some("gpu.example.com"), Some("n1"));
        assert_eq!(tainted(&rule(Some((None, None, None))), now), ["gpu-0", "gpu-1"]);
        assert_eq!(tainted(&rule(Some((gpu, n1, Some("gpu-1")))), now), ["gpu-1"]);
        assert_eq!(tainted(&rule(Some((gpu, None, None))), now), ["gpu-0", "gpu-1"]);
        assert!(tainted(&rule(Some((gpu, Some("n2"), Some("gpu-1")))), now).is_empty());
        assert!(tainted(&rule(Some((Some("nic.example.com"), n1, None))), now).is_empty());
    }

    #[test]
    fn a_rule_without_a_selector_is_about_nothing_since_1_37_and_was_about_everything_before() {
        assert!(tainted(&rule(None), KubernetesVersion::V1_37).is_empty());
        assert_eq!(tainted(&rule(None), KubernetesVersion::V1_36), ["gpu-0", "gpu-1"]);
    }

    #[test]
    fn a_slice_that_no_rule_touches_stays_the_same_object() {
        let slice = slice();
        let patched = apply_taint_rules(&slice, [&rule(None)], KubernetesVersion::V1_37);
        assert!(Arc::ptr_eq(&slice, &patched));
    }
}
