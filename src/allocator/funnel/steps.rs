//! The devices that fell, counted by what they fell to.

use super::{DeviceObstacle, FunnelStep};
use crate::model::Name;

/// Most devices of a step that are named; one more than a reader is told, so that "more" is known.
const NAMES: usize = 4;

/// Equal obstacles are one step; those that differ by their holders only, too.
pub(super) fn joined<'a>(fallen: impl Iterator<Item = (DeviceObstacle, &'a Name)>) -> Vec<FunnelStep> {
    let mut steps: Vec<FunnelStep> = Vec::new();
    for (obstacle, device) in fallen {
        match steps.last_mut() {
            Some(step) if step.obstacle == obstacle => step.add(device),
            Some(step) if step.obstacle.is_use() && obstacle.is_use() => {
                step.obstacle.also_used_as(obstacle);
                step.add(device);
            }
            _ => steps.push(FunnelStep { obstacle, devices: 1, names: vec![device.clone()] }),
        }
    }
    steps
}

impl FunnelStep {
    fn add(&mut self, device: &Name) {
        self.devices += 1;
        if self.names.len() < NAMES {
            self.names.push(device.clone());
        }
    }
}

impl DeviceObstacle {
    fn is_use(&self) -> bool {
        matches!(self, Self::InUse { .. })
    }

    fn also_used_as(&mut self, other: Self) {
        if let (Self::InUse { claims }, Self::InUse { claims: more }) = (self, other) {
            claims.extend(more);
            claims.sort();
            claims.dedup();
        }
    }
}
