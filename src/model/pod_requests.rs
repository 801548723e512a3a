//! How much a pod requests of its node, by the rules of init containers, sidecars, pod-level
//! resources and overhead (KEP-753, KEP-2837; `k8s.io/component-helpers/resource`).
//!
//! Sums are made of quantities and rounded once, at the end.

use std::collections::BTreeMap;

use super::ids::Name;
use super::pod::{Container, Pod, SCORED_MEMORY, SCORED_MILLI_CPU};
use super::quantity::{Format, Quantity};
use super::resources::{CPU, HUGE_PAGES_PREFIX, MEMORY, ResourceAmounts};

/// What containers count that request no CPU or no memory.
#[derive(Clone, Copy, Default)]
struct Defaults {
    cpu: bool,
    memory: bool,
}

impl Pod {
    /// What the pod requests of its node.
    pub fn requests(&self) -> ResourceAmounts {
        self.total(Defaults::default()).amounts()
    }

    /// What a pod on a node counts in scores: the same, where a container without a CPU or memory
    /// request counts a default, so that empty requests do not pile up on one node. Of a resource
    /// that is requested for the pod as a whole, that counts alone.
    pub fn scored_requests(&self) -> ResourceAmounts {
        let pod_level = self.pod_level().next().is_some();
        let requested = |name| pod_level && self.total(Defaults::default()).0.contains_key(&Name::from(name));
        self.total(Defaults { cpu: !requested(CPU), memory: !requested(MEMORY) }).amounts()
    }

    /// What a pod to be scheduled counts in scores: its containers' requests with those defaults.
    /// Upstream leaves the requests of the pod as a whole out here.
    pub fn pending_scored_requests(&self) -> ResourceAmounts {
        let mut total = self.container_requests(Defaults { cpu: true, memory: true });
        total.add_list(&self.overhead);
        total.amounts()
    }

    fn total(&self, defaults: Defaults) -> Sum {
        let mut total = self.container_requests(defaults);
        for (name, quantity) in self.pod_level() {
            total.0.insert(name.clone(), quantity.clone());
        }
        total.add_list(&self.overhead);
        total
    }

    /// Requests of the pod as a whole, of the resources that can be requested that way.
    fn pod_level(&self) -> impl Iterator<Item = &(Name, Quantity)> {
        let supported = |name: &Name| {
            matches!(name.as_str(), CPU | MEMORY) || name.as_str().starts_with(HUGE_PAGES_PREFIX)
        };
        self.pod_requests.iter().flatten().filter(move |(name, _)| supported(name))
    }

    /// The larger of what runs in the end and what any moment of the initialisation needs.
    fn container_requests(&self, defaults: Defaults) -> Sum {
        let mut running = Sum::default();
        for container in &self.containers {
            running.add_container(container, defaults);
        }
        let mut sidecars = Sum::default();
        let mut initialising = Sum::default();
        for container in &self.init_containers {
            if container.restarts_always {
                running.add_container(container, defaults);
                sidecars.add_container(container, defaults);
                initialising.raise(&sidecars);
            } else {
                let mut moment = sidecars.clone();
                moment.add_container(container, defaults);
                initialising.raise(&moment);
            }
        }
        running.raise(&initialising);
        running
    }
}

/// Quantities per resource.
#[derive(Clone, Default)]
struct Sum(BTreeMap<Name, Quantity>);

impl Sum {
    fn add(&mut self, name: &Name, quantity: &Quantity) {
        let sum = self.0.entry(name.clone()).or_default();
        *sum = sum.add(quantity);
    }

    fn add_list(&mut self, list: &[(Name, Quantity)]) {
        for (name, quantity) in list {
            self.add(name, quantity);
        }
    }

    fn add_container(&mut self, container: &Container, defaults: Defaults) {
        self.add_list(&container.requests);
        let lacks = |key: &str| container.requests.iter().all(|(name, _)| *name != *key);
        if defaults.cpu && lacks(CPU) {
            self.add(&Name::from(CPU), &Quantity::from_milli(SCORED_MILLI_CPU, Format::DecimalSI));
        }
        if defaults.memory && lacks(MEMORY) {
            self.add(&Name::from(MEMORY), &Quantity::from_i64(SCORED_MEMORY, Format::DecimalSI));
        }
    }

    /// Raises each quantity to that of `other` where that is more.
    fn raise(&mut self, other: &Self) {
        for (name, quantity) in &other.0 {
            let own = self.0.entry(name.clone()).or_insert_with(|| quantity.clone());
            if own.compare(quantity).is_lt() {
                *own = quantity.clone();
            }
        }
    }

    fn amounts(&self) -> ResourceAmounts {
        self.0.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MI: i64 = 1 << 20;

    fn list(resources: &[(&str, &str)]) -> Box<[(Name, Quantity)]> {
        resources.iter().map(|(name, text)| (Name::from(*name), text.parse().expect("a quantity"))).collect()
    }

    fn container(resources: &[(&str, &str)]) -> Container {
        Container { requests: list(resources), ..Container::default() }
    }

    fn sidecar(resources: &[(&str, &str)]) -> Container {
        Container { restarts_always: true, ..container(resources) }
    }

    fn pod(init: Vec<Container>, containers: Vec<Container>) -> Pod {
        Pod { init_containers: init.into(), containers: containers.into(), ..Pod::default() }
    }

    fn cpu_and_memory(amounts: &ResourceAmounts) -> (i64, i64) {
        (amounts.milli_cpu, amounts.memory)
    }

    #[test]
    fn containers_add_up_and_are_rounded_once() {
        let pod = pod(
            vec![],
            vec![
                container(&[("cpu", "500m"), ("example.com/gpu", "1"), ("memory", "500m")]),
                container(&[("cpu", "0.25"), ("ephemeral-storage", "1Gi"), ("memory", "400m")]),
            ],
        );
        let requests = pod.requests();
        assert_eq!(cpu_and_memory(&requests), (750, 1));
        assert_eq!(requests.ephemeral_storage, 1 << 30);
        assert_eq!(requests.get("example.com/gpu"), 1);
    }

    #[test]
    fn an_init_container_counts_where_it_needs_more_than_what_runs_later() {
        let init = vec![
            container(&[("cpu", "3"), ("memory", "1Mi")]),
            container(&[("cpu", "2"), ("example.com/gpu", "2"), ("memory", "4Mi")]),
        ];
        let pod = pod(init, vec![container(&[("cpu", "1"), ("memory", "2Mi")]), container(&[("cpu", "1")])]);
        let requests = pod.requests();
        assert_eq!(cpu_and_memory(&requests), (3000, 4 * MI));
        assert_eq!(requests.get("example.com/gpu"), 2);
    }

    #[test]
    fn sidecars_run_with_the_containers_and_with_later_init_containers() {
        let init = vec![
            container(&[("cpu", "4")]),
            sidecar(&[("cpu", "1"), ("memory", "1Mi")]),
            container(&[("cpu", "4"), ("memory", "1Mi")]),
            sidecar(&[("cpu", "2")]),
        ];
        // After the first sidecar the init container needs 4 + 1; in the end 1 + 1 + 2 run.
        assert_eq!(
            cpu_and_memory(&pod(init.clone(), vec![container(&[("cpu", "1")])]).requests()),
            (5000, 2 * MI)
        );
        // With more to run the sum of all that stay decides.
        assert_eq!(cpu_and_memory(&pod(init, vec![container(&[("cpu", "3")])]).requests()), (6000, 2 * MI));
    }

    #[test]
    fn overhead_comes_on_top_of_everything() {
        let mut pod = pod(vec![container(&[("cpu", "2")])], vec![container(&[("cpu", "1")])]);
        pod.overhead = list(&[("cpu", "100m"), ("memory", "10Mi")]);
        assert_eq!(cpu_and_memory(&pod.requests()), (2100, 10 * MI));
        pod.pod_requests = Some(list(&[("cpu", "500m")]));
        assert_eq!(cpu_and_memory(&pod.requests()), (600, 10 * MI));
    }

    #[test]
    fn requests_of_the_pod_as_a_whole_replace_cpu_memory_and_huge_pages_only() {
        let mut pod =
            pod(vec![], vec![container(&[("cpu", "2"), ("example.com/gpu", "2"), ("memory", "8Mi")])]);
        pod.pod_requests = Some(list(&[
            ("cpu", "1"),
            ("ephemeral-storage", "5Gi"),
            ("example.com/gpu", "7"),
            ("hugepages-2Mi", "4Mi"),
        ]));
        let requests = pod.requests();
        assert_eq!(cpu_and_memory(&requests), (1000, 8 * MI));
        assert_eq!(requests.ephemeral_storage, 0);
        assert_eq!((requests.get("example.com/gpu"), requests.get("hugepages-2Mi")), (2, 4 * MI));
    }

    #[test]
    fn scores_count_a_default_per_container_without_a_request_but_keep_an_explicit_zero() {
        let containers =
            vec![container(&[("cpu", "0"), ("memory", "0")]), container(&[("cpu", "1")]), container(&[])];
        let pod = pod(vec![], containers);
        let expected = (1100, 2 * SCORED_MEMORY);
        assert_eq!(cpu_and_memory(&pod.scored_requests()), expected);
        assert_eq!(cpu_and_memory(&pod.pending_scored_requests()), expected);
        assert_eq!(cpu_and_memory(&pod.requests()), (1000, 0));
    }

    #[test]
    fn a_pending_pod_is_scored_by_its_containers_and_a_placed_one_by_its_own_requests() {
        let mut pod = pod(vec![], vec![container(&[]), container(&[])]);
        pod.pod_requests = Some(list(&[("cpu", "3")]));
        assert_eq!(cpu_and_memory(&pod.pending_scored_requests()), (200, 2 * SCORED_MEMORY));
        assert_eq!(cpu_and_memory(&pod.scored_requests()), (3000, 2 * SCORED_MEMORY));
        // A request of one container keeps the default from the other once the pod has its own.
        pod.containers = Box::new([container(&[("memory", "1Mi")]), container(&[])]);
        assert_eq!(cpu_and_memory(&pod.scored_requests()), (3000, MI));
    }
}
