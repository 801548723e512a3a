//! Ports of the node that pods occupy (`hostPort`).

use crate::model::NodeInfo;
use crate::scheduling::{PodQuery, Rejection};

/// Whether all ports of the node that the pod needs are free.
///
/// # Errors
/// [`Rejection::NodePorts`] with the first one that is not.
pub fn filter(query: &PodQuery, info: &NodeInfo) -> Result<(), Rejection> {
    let taken = query.host_ports.iter().find(|port| info.host_ports.iter().any(|used| used.conflicts(port)));
    taken.map_or(Ok(()), |port| Err(Rejection::NodePorts { port: port.clone() }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Container, HostPort, Pod};
    use crate::scheduling::rejection::Code;
    use crate::scheduling::tests::world::{info, node, query};

    fn container(ports: &[(&str, &str, i32)]) -> Container {
        let port = |(ip, protocol, port): &(&str, &str, i32)| HostPort {
            ip: (*ip).into(),
            protocol: (*protocol).into(),
            port: *port,
        };
        Container { host_ports: ports.iter().map(port).collect(), ..Container::default() }
    }

    fn pod(ports: &[(&str, &str, i32)]) -> Pod {
        Pod { containers: Box::new([container(ports)]), ..Pod::default() }
    }

    fn fits(wanted: &[(&str, &str, i32)], used: &[(&str, &str, i32)]) -> bool {
        filter(&query(pod(wanted)), &info(node("a")).with_pod(pod(used).into())).is_ok()
    }

    #[test]
    fn a_port_conflicts_with_the_same_one_on_the_same_or_every_address() {
        let used = [("127.0.0.1", "TCP", 80), ("0.0.0.0", "UDP", 53)];
        assert!(fits(&[], &used));
        assert!(fits(&[("127.0.0.2", "TCP", 80)], &used));
        assert!(fits(&[("127.0.0.1", "UDP", 80)], &used));
        assert!(fits(&[("127.0.0.1", "TCP", 81)], &used));
        assert!(!fits(&[("127.0.0.1", "TCP", 80)], &used));
        assert!(!fits(&[("0.0.0.0", "TCP", 80)], &used));
        assert!(!fits(&[("10.0.0.1", "UDP", 53)], &used));
        assert!(!fits(&[("127.0.0.2", "TCP", 80), ("127.0.0.2", "UDP", 53)], &used));
    }

    #[test]
    fn sidecars_hold_ports_and_other_init_containers_do_not() {
        let init = container(&[("0.0.0.0", "TCP", 80)]);
        let mut running = Pod { init_containers: Box::new([init]), ..Pod::default() };
        let wanted = query(pod(&[("0.0.0.0", "TCP", 80)]));
        assert_eq!(filter(&wanted, &info(node("a")).with_pod(running.clone().into())), Ok(()));
        running.init_containers[0].restarts_always = true;
        let rejection = filter(&wanted, &info(node("a")).with_pod(running.into())).expect_err("taken");
        assert_eq!(rejection.code(), Code::Unschedulable);
    }
}
