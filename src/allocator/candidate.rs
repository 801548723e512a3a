//! Whether a device can serve a request at all, whatever else is chosen: selectors, reach, capacity.

use crate::model::Name;
use crate::model::taint::first_untolerated;

use super::book::{Book, Verdict};
use super::capacity::{Amounts, Suits};
use super::errors::{Failure, FatalReason, RequestFault, SelectorOwner};
use super::pool::{NodePools, Reach};
use super::request::{DeviceOption, OptionSelector};
use super::rules::{NodeOperations, Rules};

/// Why a device cannot serve a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Obstacle {
    /// It waits for binding conditions, which are disabled.
    BindingConditions,
    /// A selector differs; its position among those of the option.
    Selector(usize),
    /// The device itself is on other nodes.
    OtherNode,
    /// It does not have the capacity asked for, whoever uses it.
    Capacity(Name),
}

/// The world of one search: rules and inventory of one node.
#[derive(Clone, Copy)]
pub(super) struct Stock<'a> {
    pub rules: &'a Rules,
    pub pools: &'a NodePools,
    /// Whether the node declares that kubelet calls may be left out.
    pub node_operations: bool,
}

impl Stock<'_> {
    /// The first obstacle, if any. A device without one is a candidate.
    ///
    /// # Errors
    /// An expression, node selector or amount that cannot be evaluated.
    pub fn judge(
        &self,
        book: &mut Book,
        option: &DeviceOption,
        device: usize,
    ) -> Result<Option<Obstacle>, Failure> {
        if let Some(obstacle) = self.selectable(book, option, device)? {
            return Ok(Some(obstacle));
        }
        if !self.rules.consumable {
            return Ok(None);
        }
        let content = self.pools.devices[device].content;
        match book.suits(option.ask, content) {
            Suits::Yes(_) => Ok(None),
            Suits::Lacks(name) | Suits::Forbidden(name) | Suits::TooLittle(name) => {
                Ok(Some(Obstacle::Capacity(name.clone())))
            }
            Suits::Fault(capacity, fault) => {
                let reason = RequestFault::Capacity {
                    device: self.name_in_message(option, device),
                    capacity: capacity.clone(),
                    fault: fault.clone(),
                };
                Err(Failure::of_request(option.claim, &option.bare, reason))
            }
        }
    }

    /// In mode `All` upstream names the device alone, else with driver and pool.
    fn name_in_message(&self, option: &DeviceOption, device: usize) -> Name {
        let (pool, _, device) = self.pools.device(device);
        match option.wanted {
            super::request::Wanted::All => device.name.clone(),
            super::request::Wanted::Count(_) => Name::from(pool.id.device(device.name.clone()).to_string()),
        }
    }

    fn selectable(
        &self,
        book: &mut Book,
        option: &DeviceOption,
        number: usize,
    ) -> Result<Option<Obstacle>, Failure> {
        let location = &self.pools.devices[number];
        if !self.rules.binding_conditions && self.pools.device(number).2.waits_for_conditions() {
            return Ok(Some(Obstacle::BindingConditions));
        }
        for (at, selector) in option.selectors.iter().enumerate() {
            match book.verdict(selector.selector, location.content) {
                Verdict::Matches => {}
                Verdict::Differs => return Ok(Some(Obstacle::Selector(at))),
                failed => {
                    let failed = failed.clone();
                    return Err(self.selector_failure(option, selector, number, failed));
                }
            }
        }
        match &location.reach {
            Reach::Yes => Ok(None),
            Reach::No => Ok(Some(Obstacle::OtherNode)),
            Reach::Unknown(error) => {
                let reason = FatalReason::DeviceNodeSelection { error: error.clone() };
                Err(Failure::of_claim(option.claim, reason))
            }
        }
    }

    fn selector_failure(
        &self,
        option: &DeviceOption,
        selector: &OptionSelector,
        number: usize,
        failed: Verdict,
    ) -> Failure {
        let (owner, index) = (selector.owner.clone(), selector.index);
        let reason = match failed {
            Verdict::Failed(error) => {
                let (pool, _, device) = self.pools.device(number);
                let device = pool.id.device(device.name.clone());
                FatalReason::SelectorRuntime { owner, index, device, error }
            }
            Verdict::Broken(error) => FatalReason::SelectorCompile { owner, index, error },
            Verdict::Matches | Verdict::Differs => {
                let error = Name::default();
                FatalReason::SelectorCompile { owner: SelectorOwner::Claim, index, error }
            }
        };
        Failure::of_claim(option.claim, reason)
    }

    /// Whether several claims may hold the device at a time.
    pub fn is_shareable(&self, device: usize) -> bool {
        self.rules.consumable && self.pools.device(device).2.content.allow_multiple_allocations
    }

    /// What the option consumes of the device; nothing if it does not suit.
    pub fn amounts(&self, book: &mut Book, option: &DeviceOption, device: usize) -> Amounts {
        match book.suits(option.ask, self.pools.devices[device].content) {
            Suits::Yes(amounts) => Amounts::clone(amounts),
            _ => Amounts::from([]),
        }
    }

    /// Whether kubelet calls that the driver does without keep the device away.
    pub fn needs_node_operations(&self, device: usize) -> bool {
        let (_, slice, _) = self.pools.device(device);
        !slice.skip_node_operations.is_empty()
            && match self.rules.node_operations {
                NodeOperations::Ignored => false,
                NodeOperations::Refused => true,
                NodeOperations::IfDeclared => !self.node_operations,
            }
    }

    /// Whether counters are disabled and the device needs some.
    pub fn needs_partitions(&self, device: usize) -> bool {
        !self.rules.partitionable && !self.pools.device(device).2.consumes_counters.is_empty()
    }

    /// Whether a taint keeps the option away from the device.
    pub fn is_tainted(&self, option: &DeviceOption, device: usize) -> bool {
        let (_, _, device) = self.pools.device(device);
        self.rules.taints
            && !device.taints.is_empty()
            && first_untolerated(&device.taints, &option.tolerations).is_some()
    }
}
