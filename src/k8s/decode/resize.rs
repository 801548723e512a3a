//! What a pod's status says of its resources while it is resized in place (KEP-1287, KEP-5419).

use super::{Interner, Result, resources, text};
use crate::k8s::field::Field;
use crate::model::pod::PodResize;
use crate::model::resources::ResourceList;
use crate::model::{Container, Pod};

/// Adds what the status of a pod reports to the pod.
pub(super) fn report(pod: &mut Pod, status: &Field<'_, '_>, interner: &mut Interner) -> Result<()> {
    let whole = status.child("resources");
    let actual = whole.is_set().then(|| resources(&whole.child("requests"), interner)).transpose()?;
    pod.resize = PodResize {
        allocated: resources(&status.child("allocatedResources"), interner)?,
        actual,
        infeasible: is_infeasible(status)?,
    };
    let lists = [status.child("containerStatuses"), status.child("initContainerStatuses")];
    for container in pod.containers.iter_mut().chain(&mut pod.init_containers) {
        let mut all = lists.iter().flat_map(Field::items);
        let named = |item: &Field<'_, '_>| item.child("name").str() == Some(container.name.as_str());
        if let Some(reported) = all.find(named) {
            container_report(container, &reported, pod.resize.infeasible, interner)?;
        }
    }
    Ok(())
}

/// Most containers have what they ask for; of those nothing is kept.
fn container_report(
    container: &mut Container,
    reported: &Field<'_, '_>,
    infeasible: bool,
    interner: &mut Interner,
) -> Result<()> {
    let allocated = resources(&reported.child("allocatedResources"), interner)?;
    let actual = resources(&reported.child("resources").child("requests"), interner)?;
    let says_nothing = |list: &ResourceList| list.is_empty() || *list == container.requests;
    if infeasible || !says_nothing(&allocated) || !says_nothing(&actual) {
        (container.allocated, container.actual) = (allocated, actual);
    }
    Ok(())
}

/// Whether the first condition `PodResizePending` says that the node can never give so much.
fn is_infeasible(status: &Field<'_, '_>) -> Result<bool> {
    for condition in status.child("conditions").items() {
        if text(&condition.child("type"))? == Some("PodResizePending") {
            return Ok(text(&condition.child("reason"))? == Some("Infeasible"));
        }
    }
    Ok(false)
}
