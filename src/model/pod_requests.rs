//! How much a pod requests of its node, by the rules of init containers, sidecars, pod-level
//! resources, overhead and resizing in place (KEP-753, KEP-2837, KEP-1287;
//! `k8s.io/component-helpers/resource`).
//!
//! Sums are made of quantities and rounded once, at the end.

use std::collections::BTreeMap;

use super::ids::Name;
use super::pod::{Container, Pod, PodResize, SCORED_MEMORY, SCORED_MILLI_CPU};
use super::quantity::{Format, Quantity};
use super::resources::{CPU, HUGE_PAGES_PREFIX, MEMORY, ResourceAmounts};

/// What containers count that request no CPU or no memory.
#[derive(Clone, Copy, Default)]
struct Defaults {
    cpu: bool,
    memory: bool,
}

/// Where the amounts of a container are taken from.
#[derive(Clone, Copy)]
enum Source {
    /// What the specification asks for.
    Asked,
    /// What the kubelet has set aside; as asked where it says nothing.
    Allocated,
    /// What the container runs with; as set aside where nothing is said.
    Actual,
}

impl Pod {
    /// What the pod requests of a node that it is to be placed on.
    pub fn requests(&self) -> ResourceAmounts {
        self.asked(Defaults::default()).amounts()
    }

    /// What a pod to be placed counts in scores: its containers' requests, where a container without
    /// a CPU or memory request counts a default, so that empty requests do not pile up on one node.
    /// Upstream leaves the requests of the pod as a whole out here.
    pub fn scored_requests(&self) -> ResourceAmounts {
        let mut total = self.container_requests(Source::Asked, Defaults { cpu: true, memory: true });
        total.add_list(&self.overhead);
        total.amounts()
    }

    /// What a pod counts on the node that it is on: its requests, and while it is resized in place
    /// the most of what it asks for, is promised and still has.
    pub fn usage(&self) -> ResourceAmounts {
        self.used(Defaults::default()).amounts()
    }

    /// What a pod on a node counts in scores: the same with those defaults. Of a resource that is
    /// requested for the pod as a whole, that counts alone.
    pub fn scored_usage(&self) -> ResourceAmounts {
        let pod_level = self.pod_level().next().is_some();
        let used = self.used(Defaults::default());
        let counted = |name| pod_level && used.0.contains_key(&Name::from(name));
        self.used(Defaults { cpu: !counted(CPU), memory: !counted(MEMORY) }).amounts()
    }

    fn asked(&self, defaults: Defaults) -> Sum {
        let mut total = self.container_requests(Source::Asked, defaults);
        total.replace(self.pod_level());
        total.add_list(&self.overhead);
        total
    }

    fn used(&self, defaults: Defaults) -> Sum {
        if !self.reports_resources() {
            return self.asked(defaults);
        }
        let PodResize { allocated, actual, infeasible } = &self.resize;
        let mut total = match actual {
            Some(actual) if !actual.is_empty() && !allocated.is_empty() => Sum::most_of([actual, allocated]),
            _ => {
                let mut total = self.container_requests(Source::Allocated, defaults);
                total.raise(&self.container_requests(Source::Actual, defaults));
                total
            }
        };
        if !infeasible {
            total.raise(&self.container_requests(Source::Asked, defaults));
        }
        if self.pod_level().next().is_some() {
            let asked = self.pod_requests.as_deref().unwrap_or_default();
            let whole = match actual {
                None => Sum::most_of([asked]),
                Some(actual) if *infeasible => Sum::most_of([actual, allocated]),
                Some(actual) => Sum::most_of([asked, actual, allocated]),
            };
            total.replace(whole.0.iter().filter(|(name, _)| is_pod_level(name)));
        }
        total.add_list(&self.overhead);
        total
    }

    /// Whether the status says anything of resources that its specification does not.
    fn reports_resources(&self) -> bool {
        let mut containers = self.containers.iter().chain(&self.init_containers);
        self.resize != PodResize::default()
            || containers.any(|container| !container.allocated.is_empty() || !container.actual.is_empty())
    }

    /// Requests of the pod as a whole, of the resources that can be requested that way.
    fn pod_level(&self) -> impl Iterator<Item = (&Name, &Quantity)> {
        let all = self.pod_requests.iter().flatten().map(|(name, quantity)| (name, quantity));
        all.filter(|(name, _)| is_pod_level(name))
    }

    /// The larger of what runs in the end and what any moment of the initialisation needs.
    fn container_requests(&self, source: Source, defaults: Defaults) -> Sum {
        let mut running = Sum::default();
        for container in &self.containers {
            running.add_container(self.amounts_of(container, source), defaults);
        }
        let mut sidecars = Sum::default();
        let mut initialising = Sum::default();
        for container in &self.init_containers {
            let amounts = self.amounts_of(container, source);
            if container.restarts_always {
                running.add_container(amounts, defaults);
                sidecars.add_container(amounts, defaults);
                initialising.raise(&sidecars);
            } else {
                let mut moment = sidecars.clone();
                moment.add_container(amounts, defaults);
                initialising.raise(&moment);
            }
        }
        running.raise(&initialising);
        running
    }

    fn amounts_of<'a>(&self, container: &'a Container, source: Source) -> &'a [(Name, Quantity)] {
        let asked: &[_] = if self.resize.infeasible { &[] } else { &container.requests };
        let allocated = if container.allocated.is_empty() { asked } else { &container.allocated };
        match source {
            Source::Asked => &container.requests,
            Source::Allocated => allocated,
            Source::Actual if container.actual.is_empty() => allocated,
            Source::Actual => &container.actual,
        }
    }
}

fn is_pod_level(name: &Name) -> bool {
    matches!(name.as_str(), CPU | MEMORY) || name.as_str().starts_with(HUGE_PAGES_PREFIX)
}

/// Quantities per resource.
#[derive(Clone, Default)]
struct Sum(BTreeMap<Name, Quantity>);

impl Sum {
    /// The largest amount of each resource in any of the lists.
    fn most_of<const N: usize>(lists: [&[(Name, Quantity)]; N]) -> Self {
        let mut most = Self::default();
        for list in lists {
            most.raise(&Self(list.iter().cloned().collect()));
        }
        most
    }

    fn replace<'a>(&mut self, amounts: impl Iterator<Item = (&'a Name, &'a Quantity)>) {
        self.0.extend(amounts.map(|(name, quantity)| (name.clone(), quantity.clone())));
    }

    fn add(&mut self, name: &Name, quantity: &Quantity) {
        let sum = self.0.entry(name.clone()).or_default();
        *sum = sum.add(quantity);
    }

    fn add_list(&mut self, list: &[(Name, Quantity)]) {
        for (name, quantity) in list {
            self.add(name, quantity);
        }
    }

    fn add_container(&mut self, amounts: &[(Name, Quantity)], defaults: Defaults) {
        self.add_list(amounts);
        let lacks = |key: &str| amounts.iter().all(|(name, _)| *name != *key);
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
        assert_eq!(cpu_and_memory(&pod.scored_usage()), expected);
        assert_eq!(cpu_and_memory(&pod.scored_requests()), expected);
        assert_eq!(cpu_and_memory(&pod.requests()), (1000, 0));
    }

    #[test]
    fn a_pending_pod_is_scored_by_its_containers_and_a_placed_one_by_its_own_requests() {
        let mut pod = pod(vec![], vec![container(&[]), container(&[])]);
        pod.pod_requests = Some(list(&[("cpu", "3")]));
        assert_eq!(cpu_and_memory(&pod.scored_requests()), (200, 2 * SCORED_MEMORY));
        assert_eq!(cpu_and_memory(&pod.scored_usage()), (3000, 2 * SCORED_MEMORY));
        // A request of one container keeps the default from the other once the pod has its own.
        pod.containers = Box::new([container(&[("memory", "1Mi")]), container(&[])]);
        assert_eq!(cpu_and_memory(&pod.scored_usage()), (3000, MI));
    }

    /// A container that asks for, was promised, and runs with so many cores.
    fn resized(asked: &str, allocated: &str, actual: &str) -> Container {
        let cpu = |text: &str| if text.is_empty() { Box::default() } else { list(&[("cpu", text)]) };
        Container { allocated: cpu(allocated), actual: cpu(actual), ..container(&[("cpu", asked)]) }
    }

    #[test]
    fn a_pod_on_a_node_counts_the_most_of_what_it_asks_is_promised_and_has() {
        let growing = pod(vec![], vec![resized("3", "1", "1")]);
        assert_eq!((growing.usage().milli_cpu, growing.requests().milli_cpu), (3000, 3000));
        let shrinking = pod(vec![], vec![resized("1", "1", "2")]);
        assert_eq!((shrinking.usage().milli_cpu, shrinking.requests().milli_cpu), (2000, 1000));
        let promised = pod(vec![], vec![resized("1", "4", "")]);
        assert_eq!(promised.usage().milli_cpu, 4000);
        // The sums are compared, not container by container.
        let both = pod(vec![], vec![resized("3", "1", "1"), resized("1", "3", "3")]);
        assert_eq!(both.usage().milli_cpu, 4000);
        let sidecars = vec![Container { restarts_always: true, ..resized("1", "1", "2") }];
        assert_eq!(pod(sidecars, vec![container(&[("cpu", "1")])]).usage().milli_cpu, 3000);
    }

    #[test]
    fn what_the_node_can_never_give_does_not_count() {
        let mut pod = pod(vec![], vec![resized("9", "2", "1"), container(&[("cpu", "1")])]);
        pod.resize.infeasible = true;
        // The second container reports nothing, and what it asks for is not looked at.
        assert_eq!((pod.usage().milli_cpu, pod.requests().milli_cpu), (2000, 10_000));
        assert_eq!(pod.scored_usage().milli_cpu, 2100);
    }

    #[test]
    fn what_is_reported_of_the_pod_as_a_whole_replaces_what_its_containers_report() {
        let mut pod = pod(vec![], vec![resized("1", "5", "6")]);
        pod.resize.allocated = list(&[("cpu", "2")]);
        pod.resize.actual = Some(list(&[("cpu", "3")]));
        assert_eq!(pod.usage().milli_cpu, 3000);
        pod.resize.actual = Some(Box::default());
        assert_eq!(pod.usage().milli_cpu, 6000, "both are needed for that");
    }

    #[test]
    fn requests_of_the_pod_as_a_whole_are_resized_too() {
        let mut pod = pod(vec![], vec![resized("1", "5", "6")]);
        pod.pod_requests = Some(list(&[("cpu", "2")]));
        assert_eq!(pod.usage().milli_cpu, 2000, "nothing is reported of the whole");
        pod.resize.allocated = list(&[("cpu", "3"), ("example.com/gpu", "1")]);
        assert_eq!(pod.usage().milli_cpu, 2000, "nor is it without `status.resources`");
        pod.resize.actual = Some(list(&[("memory", "1Mi")]));
        assert_eq!(cpu_and_memory(&pod.usage()), (3000, MI));
        assert_eq!(pod.usage().get("example.com/gpu"), 1, "from the containers' place, not over it");
        pod.pod_requests = Some(list(&[("cpu", "7")]));
        assert_eq!(pod.usage().milli_cpu, 7000);
        pod.resize.infeasible = true;
        assert_eq!(pod.usage().milli_cpu, 3000);
    }
}
