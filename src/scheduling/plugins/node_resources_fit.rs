//! CPU, memory and all other resources of the node.

use crate::model::resources::{CPU, EPHEMERAL_STORAGE, MEMORY, PODS};
use crate::model::{Name, NodeInfo};
use crate::scheduling::plugins::MAX_NODE_SCORE;
use crate::scheduling::rejection::Shortage;
use crate::scheduling::{PodQuery, Rejection};

/// Whether the node has enough of everything that the pod requests. An extended resource that the
/// node does not offer and a device class serves is left to `DynamicResources`.
///
/// # Errors
/// [`Rejection::NodeResourcesFit`] with everything that is short.
pub fn filter(query: &PodQuery, info: &NodeInfo) -> Result<(), Rejection> {
    let (requests, used, has) = (&query.requests, &info.requested, &info.node.allocatable);
    let pods = i64::try_from(info.pods.len()).unwrap_or(i64::MAX);
    let named = [
        (CPU, requests.milli_cpu, used.milli_cpu, has.milli_cpu),
        (MEMORY, requests.memory, used.memory, has.memory),
        (EPHEMERAL_STORAGE, requests.ephemeral_storage, used.ephemeral_storage, has.ephemeral_storage),
    ];
    let scalar =
        requests.scalar.iter().map(|(name, amount)| (&**name, *amount, used.get(name), has.get(name)));
    let scalar = scalar.filter(|(name, _, _, has)| *has > 0 || !query.is_served_by_class(name));
    let shortages: Box<[Shortage]> = std::iter::once((PODS, 1, pods, info.node.allocatable_pods))
        .chain(named)
        .chain(scalar)
        .filter(|(_, requested, used, has)| *requested > 0 && *requested > has.saturating_sub(*used))
        .map(|(resource, requested, used, allocatable)| Shortage {
            resource: Name::from(resource),
            requested,
            used,
            allocatable,
        })
        .collect();
    if shortages.is_empty() { Ok(()) } else { Err(Rejection::NodeResourcesFit { shortages }) }
}

/// The share of CPU and memory that would stay free, 0..=100 (`LeastAllocated`). Containers without
/// a request count a default.
pub fn score(query: &PodQuery, info: &NodeInfo) -> i64 {
    let (requests, used, has) = (&query.scored_requests, &info.scored, &info.node.allocatable);
    let resources =
        [(requests.milli_cpu, used.milli_cpu, has.milli_cpu), (requests.memory, used.memory, has.memory)];
    let (sum, count) = resources
        .into_iter()
        .filter(|(_, _, has)| *has != 0)
        .map(|(requested, used, has)| free_share(used.saturating_add(requested), has))
        .fold((0, 0), |(sum, count), score| (sum + score, count + 1));
    if count == 0 { 0 } else { sum / count }
}

fn free_share(requested: i64, allocatable: i64) -> i64 {
    if requested > allocatable {
        return 0;
    }
    (allocatable - requested).saturating_mul(MAX_NODE_SCORE) / allocatable
}

/// Leaves the scores as they are: they already are 0..=100.
pub fn normalize(_scores: &mut [i64]) {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::resources::ResourceAmounts;
    use crate::model::{Container, DeviceClass, Node, Pod, PodKey, Snapshot};
    use crate::scheduling::Options;
    use crate::scheduling::rejection::Code;
    use crate::scheduling::tests::world::{class, info, node, query};

    type Amounts<'a> = &'a [(&'a str, &'a str)];

    fn pod(name: &str, requests: Amounts<'_>) -> Pod {
        let requests = requests
            .iter()
            .map(|(name, text)| (Name::from(*name), text.parse().expect("a quantity")))
            .collect();
        let container = Container { requests, ..Container::default() };
        Pod { key: PodKey::new("default", name), containers: Box::new([container]), ..Pod::default() }
    }

    fn with(allocatable: Amounts<'_>, pods: i64) -> NodeInfo {
        let list: Vec<_> = allocatable
            .iter()
            .map(|(name, text)| (Name::from(*name), text.parse().expect("a quantity")))
            .collect();
        let allocatable = ResourceAmounts::of(&list);
        info(Node { allocatable, allocatable_pods: pods, ..node("a") })
    }

    fn serving(resource: &str) -> Snapshot {
        let mut snapshot = Snapshot::default();
        snapshot.set_class(DeviceClass { extended_resource_name: Some(resource.into()), ..class("gpu") });
        snapshot
    }

    fn short(query: &PodQuery, info: &NodeInfo) -> Option<(Vec<String>, Code)> {
        let rejection = filter(query, info).err()?;
        let code = rejection.code();
        let Rejection::NodeResourcesFit { shortages } = rejection else { panic!("{rejection:?}") };
        Some((shortages.iter().map(|shortage| shortage.resource.to_string()).collect(), code))
    }

    #[test]
    fn everything_that_is_short_is_listed_in_order() {
        let node = with(
            &[("cpu", "2"), ("ephemeral-storage", "1Gi"), ("example.com/gpu", "2"), ("memory", "4Gi")],
            1,
        );
        let node = node.with_pod(pod("other", &[("cpu", "1"), ("example.com/gpu", "1")]).into());
        let asks = pod(
            "p",
            &[
                ("cpu", "1500m"),
                ("ephemeral-storage", "2Gi"),
                ("example.com/gpu", "2"),
                ("example.com/nic", "1"),
                ("memory", "4Gi"),
            ],
        );
        let expected = ["pods", "cpu", "ephemeral-storage", "example.com/gpu", "example.com/nic"];
        let (resources, code) = short(&query(asks.clone()), &node).expect("a rejection");
        assert_eq!(resources, expected);
        assert_eq!(code, Code::UnschedulableAndUnresolvable);
        let rejection = filter(&query(asks), &node).expect_err("a rejection");
        let Rejection::NodeResourcesFit { shortages } = rejection else { panic!("{rejection:?}") };
        let cpu = Shortage { resource: "cpu".into(), requested: 1500, used: 1000, allocatable: 2000 };
        assert_eq!(shortages[1], cpu);
    }

    #[test]
    fn only_what_the_empty_node_lacks_is_final() {
        let node = with(&[("cpu", "2")], 2).with_pod(pod("other", &[("cpu", "1")]).into());
        let code = |cpu| short(&query(pod("p", &[("cpu", cpu)])), &node).map(|(_, code)| code);
        assert_eq!(code("1"), None);
        assert_eq!(code("1001m"), Some(Code::Unschedulable));
        assert_eq!(code("2"), Some(Code::Unschedulable));
        assert_eq!(code("2001m"), Some(Code::UnschedulableAndUnresolvable));
        let full = node.with_pod(pod("more", &[]).into());
        assert_eq!(short(&query(pod("p", &[])), &full), Some((vec!["pods".into()], Code::Unschedulable)));
    }

    #[test]
    fn a_request_of_zero_never_fails() {
        let node = with(&[("cpu", "1")], 9).with_pod(pod("other", &[("cpu", "2")]).into());
        assert_eq!(
            short(&query(pod("p", &[("cpu", "0"), ("example.com/gpu", "0"), ("memory", "0")])), &node),
            None
        );
    }

    #[test]
    fn what_a_class_serves_and_the_node_does_not_offer_is_left_to_dra() {
        let mut snapshot = serving("example.com/gpu");
        snapshot.set_class(class("fpga"));
        let fits = |resource: &str, allocatable: Amounts<'_>| {
            let asks = pod("p", &[(resource, "1")]).into();
            let query = PodQuery::new(&snapshot, &asks, &Options::default()).expect("a query");
            filter(&query, &with(allocatable, 9)).is_ok()
        };
        assert!(fits("example.com/gpu", &[]));
        assert!(fits("example.com/gpu", &[("example.com/gpu", "0")]));
        assert!(fits("example.com/gpu", &[("example.com/gpu", "1")]));
        assert!(fits("deviceclass.resource.kubernetes.io/fpga", &[]));
        assert!(!fits("example.com/fpga", &[]));
        assert!(!fits("deviceclass.resource.kubernetes.io/tpu", &[]));
    }

    #[test]
    fn a_class_does_not_serve_a_node_whose_device_plugin_has_too_few() {
        let snapshot = serving("example.com/gpu");
        let asks = pod("p", &[("example.com/gpu", "2")]).into();
        let query = PodQuery::new(&snapshot, &asks, &Options::default()).expect("a query");
        let node = with(&[("example.com/gpu", "1")], 9);
        let expected = (vec!["example.com/gpu".to_owned()], Code::UnschedulableAndUnresolvable);
        assert_eq!(short(&query, &node), Some(expected));
    }

    #[test]
    fn the_score_is_the_mean_share_of_cpu_and_memory_that_stays_free() {
        let node = with(&[("cpu", "4"), ("memory", "10000")], 9);
        // CPU: (4000 - 3000) * 100 / 4000 = 25; memory: (10000 - 5000) * 100 / 10000 = 50.
        assert_eq!(score(&query(pod("p", &[("cpu", "3"), ("memory", "5000")])), &node), 37);
        // What is more than all scores nothing.
        assert_eq!(score(&query(pod("p", &[("cpu", "5"), ("memory", "5000")])), &node), 25);
        // Only what the node has counts.
        assert_eq!(score(&query(pod("p", &[("cpu", "1"), ("memory", "1")])), &with(&[("cpu", "4")], 9)), 75);
        assert_eq!(score(&query(pod("p", &[("cpu", "1")])), &with(&[], 9)), 0);
    }

    #[test]
    fn empty_requests_count_a_default_in_the_score_on_both_sides() {
        let node = with(&[("cpu", "1"), ("memory", "2000Mi")], 9).with_pod(pod("other", &[]).into());
        // CPU: 1000 - 100 - 100 of 1000; memory: 2000 - 200 - 200 of 2000 Mi.
        assert_eq!(score(&query(pod("p", &[])), &node), 80);
        assert_eq!(score(&query(pod("p", &[("cpu", "0"), ("memory", "0")])), &node), 90);
    }
}
