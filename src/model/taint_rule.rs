//! `DeviceTaintRules`: taints that an administrator puts on devices without the driver's help
//! (KEP-5055).

use std::sync::Arc;

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
    /// The devices. An absent selector matches none, an empty one all.
    pub selector: Option<DeviceTaintSelector>,
    /// The taint.
    pub taint: Taint,
}

impl DeviceTaintRule {
    fn covers_pool(&self, slice: &ResourceSlice) -> bool {
        self.selector.as_ref().is_some_and(|selector| {
            selector.driver.as_ref().is_none_or(|driver| *driver == slice.pool.driver)
                && selector.pool.as_ref().is_none_or(|pool| *pool == slice.pool.pool)
        })
    }

    fn covers_device(&self, device: &Name) -> bool {
        self.selector
            .as_ref()
            .is_some_and(|selector| selector.device.as_ref().is_none_or(|name| name == device))
    }
}

/// The slice with the taints of all matching rules added after the driver's own, rules in the
/// order given. A slice that no rule touches is returned as it is.
pub fn apply_taint_rules<'a>(
    slice: &Arc<ResourceSlice>,
    rules: impl IntoIterator<Item = &'a DeviceTaintRule>,
) -> Arc<ResourceSlice> {
    let rules: Vec<_> = rules.into_iter().filter(|rule| rule.covers_pool(slice)).collect();
    let touched = slice.devices.iter().any(|d| rules.iter().any(|r| r.covers_device(&d.name)));
    if !touched {
        return Arc::clone(slice);
    }
    let mut patched = (**slice).clone();
    for device in &mut patched.devices {
        let added = rules.iter().filter(|rule| rule.covers_device(&device.name));
        device.taints = device.taints.iter().cloned().chain(added.map(|rule| rule.taint.clone())).collect();
    }
    Arc::new(patched)
}
