//! How much a pod requests of its node, by the rules of init containers, sidecars, pod-level
//! resources and overhead (KEP-753, KEP-2837).

use super::pod::{Container, Pod, SCORED_MEMORY, SCORED_MILLI_CPU};
use super::resources::ResourceAmounts;

impl Pod {
    /// What the pod requests of its node.
    pub fn requests(&self) -> ResourceAmounts {
        let mut total = self.container_requests(|container| ResourceAmounts::of(&container.requests));
        if let Some(list) = &self.pod_requests {
            for (name, quantity) in list {
                total.set(name, quantity);
            }
        }
        total.add(&ResourceAmounts::of(&self.overhead));
        total
    }

    /// The same, where a container without a CPU or memory request counts a default, as scores
    /// count it so that empty requests do not pile up on one node.
    pub fn scored_requests(&self) -> ResourceAmounts {
        let mut total = self.container_requests(|container| {
            let mut amounts = ResourceAmounts::of(&container.requests);
            let lacks = |key: &str| container.requests.iter().all(|(name, _)| *name != *key);
            if lacks("cpu") {
                amounts.milli_cpu = SCORED_MILLI_CPU;
            }
            if lacks("memory") {
                amounts.memory = SCORED_MEMORY;
            }
            amounts
        });
        total.add(&ResourceAmounts::of(&self.overhead));
        total
    }

    /// The larger of what runs in the end and what any moment of the initialisation needs.
    fn container_requests(&self, of: impl Fn(&Container) -> ResourceAmounts) -> ResourceAmounts {
        let mut running = ResourceAmounts::default();
        for container in &self.containers {
            running.add(&of(container));
        }
        let mut sidecars = ResourceAmounts::default();
        let mut initialising = ResourceAmounts::default();
        for container in &self.init_containers {
            let mut moment = of(container);
            if container.restarts_always {
                sidecars.add(&moment);
                initialising.raise(&sidecars);
            } else {
                moment.add(&sidecars);
                initialising.raise(&moment);
            }
        }
        running.add(&sidecars);
        running.raise(&initialising);
        running
    }
}
