//! Which selectors an error of the allocator is about. The error names their owner and position, as
//! upstream does; a reader wants to see them.

use std::sync::Arc;

use crate::allocator::{AllocateError, FatalReason, SelectorOwner};
use crate::model::{ClaimKey, ClaimSpec, DeviceRequirement, RequestKind, Snapshot};

use super::query::PodQuery;

/// The expressions at the place that the error names. Several if requests of the claim have a
/// selector at the same position.
pub(super) fn faulty_selectors(
    snapshot: &Snapshot,
    query: &PodQuery,
    error: &AllocateError,
) -> Box<[Arc<str>]> {
    let AllocateError::Fatal(fatal) = error else { return Box::default() };
    let (FatalReason::SelectorCompile { owner, index, .. }
    | FatalReason::SelectorRuntime { owner, index, .. }) = &fatal.reason
    else {
        return Box::default();
    };
    let expressions: Vec<_> = match owner {
        SelectorOwner::Class(class) => {
            let class = snapshot.classes().get(class);
            class.iter().filter_map(|class| class.selectors.get(*index)).cloned().collect()
        }
        SelectorOwner::Claim => {
            let spec = fatal.claim.as_ref().and_then(|claim| spec(query, claim));
            let requirements = spec.into_iter().flat_map(requirements);
            requirements.filter_map(|requirement| requirement.selectors.get(*index)).cloned().collect()
        }
    };
    expressions.into_iter().filter_map(|selector| selector.expression).collect()
}

fn spec<'a>(query: &'a PodQuery, claim: &ClaimKey) -> Option<&'a ClaimSpec> {
    query.claims.iter().map(|queried| &queried.claim).find(|c| c.key == *claim).map(|claim| &*claim.spec)
}

fn requirements(spec: &ClaimSpec) -> Vec<&DeviceRequirement> {
    let mut requirements = Vec::new();
    for request in &spec.requests {
        match &request.kind {
            RequestKind::Exactly(requirement) => requirements.push(requirement),
            RequestKind::FirstAvailable(subrequests) => {
                requirements.extend(subrequests.iter().map(|subrequest| &subrequest.requirement));
            }
            RequestKind::Unknown => {}
        }
    }
    requirements
}
