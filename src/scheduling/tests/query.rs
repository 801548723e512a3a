use std::sync::Arc;

use super::world::{
    CLASS, Made, allocated, claim, exactly, first_available, owner, pod, pod_of_template, world,
};
use crate::model::pod::{ClaimSource, UnservedFeature};
use crate::model::{
    Allocation, ClaimKey, ClassName, FeatureGate, Features, Pod, PodClaim, RequestKind, Snapshot,
};
use crate::scheduling::options::{Absence, Absences};
use crate::scheduling::{Options, PodQuery, QueryError};

fn query(snapshot: &Snapshot, pod: &Pod) -> Result<PodQuery, QueryError> {
    PodQuery::new(snapshot, &Arc::new(pod.clone()), &Options::default())
}

fn error(snapshot: &Snapshot, pod: &Pod) -> QueryError {
    query(snapshot, pod).expect_err("the pod cannot be looked at")
}

fn key(name: &str) -> ClaimKey {
    ClaimKey::new("default", name)
}

#[test]
fn a_template_whose_claim_is_not_made_yet_is_named() {
    let pod = pod_of_template("p", "not-there", &Made::NotYet);
    let template = key("not-there");
    assert_eq!(
        error(&world(1, 1), &pod),
        QueryError::ClaimNotCreated { pod_claim: "g".into(), template: template.clone(), absence: None }
    );

    let mut absences = Absences::default();
    absences.templates.insert(template.clone(), Absence::NotFound);
    let options = Options { absences: Arc::new(absences), ..Options::default() };
    let error = PodQuery::new(&world(1, 1), &Arc::new(pod), &options).expect_err("no claim");
    let absence = Some(Absence::NotFound);
    assert_eq!(error, QueryError::ClaimNotCreated { pod_claim: "g".into(), template, absence });
}

#[test]
fn a_template_that_needed_no_claim_is_skipped() {
    let query =
        query(&world(1, 1), &pod_of_template("p", "t", &Made::NotNeeded)).expect("nothing is missing");
    assert!(query.claims.is_empty());
}

#[test]
fn a_claim_that_is_missing_or_invalid_is_named() {
    let pod = pod("p", &[("g", "gone")]);
    let not_found =
        |absence| QueryError::ClaimNotFound { pod_claim: "g".into(), claim: key("gone"), absence };
    assert_eq!(error(&world(1, 1), &pod), not_found(None));

    let mut absences = Absences::default();
    absences.claims.insert(key("gone"), Absence::Invalid);
    let options = Options { absences: Arc::new(absences), ..Options::default() };
    let error = PodQuery::new(&world(1, 1), &Arc::new(pod), &options).expect_err("no claim");
    assert_eq!(error, not_found(Some(Absence::Invalid)));
}

#[test]
fn an_entry_without_claim_and_template_is_refused() {
    let entry = PodClaim { name: "g".into(), source: ClaimSource::Unknown };
    let pod = Pod { claims: Box::new([entry]), ..pod("p", &[]) };
    assert_eq!(error(&world(1, 1), &pod), QueryError::NoClaimSource { pod_claim: "g".into() });
}

#[test]
fn a_claim_that_is_being_deleted_is_not_used() {
    let mut snapshot = world(1, 1);
    let mut going = claim("c", [exactly("r", 1)]);
    going.deleting = true;
    snapshot.set_claim(Arc::new(going));
    assert_eq!(error(&snapshot, &pod("p", &[("g", "c")])), QueryError::ClaimDeleting { claim: key("c") });
}

#[test]
fn a_generated_claim_must_belong_to_the_pod_and_a_named_one_need_not() {
    let mut snapshot = world(1, 1);
    let other = pod("other", &[]);
    let mut foreign = claim("c", [exactly("r", 1)]);
    foreign.controller = Some(owner(&other));
    snapshot.set_claim(Arc::new(foreign.clone()));
    let generated = pod_of_template("p", "t", &Made::Claim("c"));
    assert_eq!(
        error(&snapshot, &generated),
        QueryError::NotOwner { claim: key("c"), owner: Some(owner(&other)) }
    );
    assert!(query(&snapshot, &pod("p", &[("g", "c")])).is_ok());

    foreign.controller = Some(owner(&generated));
    snapshot.set_claim(Arc::new(foreign));
    assert!(query(&snapshot, &generated).is_ok());
}

#[test]
fn the_257th_user_is_turned_away_before_a_node_is_chosen() {
    let users: Vec<String> = (0..256).map(|index| format!("user-{index}")).collect();
    let users: Vec<&str> = users.iter().map(String::as_str).collect();
    let mut snapshot = world(1, 1);
    snapshot.set_claim(Arc::new(allocated(claim("c", [exactly("r", 1)]), Allocation::default(), &users)));
    let late = pod("late", &[("g", "c")]);
    assert_eq!(error(&snapshot, &late), QueryError::ClaimInUse { claim: key("c"), users: 256 });
    assert!(query(&snapshot, &pod("user-255", &[("g", "c")])).is_ok(), "it is a user already");

    snapshot.set_claim(Arc::new(allocated(
        claim("c", [exactly("r", 1)]),
        Allocation::default(),
        &users[..255],
    )));
    assert!(query(&snapshot, &late).is_ok());
}

#[test]
fn a_claim_that_is_being_allocated_makes_others_wait() {
    let mut snapshot = world(1, 1);
    let shared = claim("c", [exactly("r", 1)]);
    snapshot.set_in_flight(&shared.uid, true);
    snapshot.set_claim(Arc::new(shared.clone()));
    let pod = pod("p", &[("g", "c")]);
    assert_eq!(error(&snapshot, &pod), QueryError::ClaimInFlight { claim: key("c") });
    snapshot.set_in_flight(&shared.uid, false);
    assert!(query(&snapshot, &pod).is_ok());
}

#[test]
fn a_class_that_is_missing_is_named_with_its_request() {
    let mut snapshot = world(1, 1);
    snapshot.remove_class(&ClassName::from(CLASS));
    snapshot.set_claim(Arc::new(claim("c", [exactly("r", 1)])));
    let missing = |request: &str, class: &str| QueryError::ClassNotFound {
        claim: key("c"),
        request: request.into(),
        class: class.into(),
        absence: None,
    };
    let pod = pod("p", &[("g", "c")]);
    assert_eq!(error(&snapshot, &pod), missing("r", CLASS));

    let alternatives = claim("c", [first_available("r", &[("fast", CLASS), ("slow", "none")])]);
    snapshot.set_claim(Arc::new(alternatives));
    assert_eq!(error(&snapshot, &pod), missing("r/fast", CLASS));
    snapshot.set_class(super::world::class(CLASS));
    assert_eq!(error(&snapshot, &pod), missing("r/slow", "none"));
}

#[test]
fn requests_of_unknown_kind_or_without_class_are_never_taken_for_nothing() {
    let mut snapshot = world(1, 1);
    let pod = pod("p", &[("g", "c")]);
    let mut request = exactly("r", 1);
    request.kind = RequestKind::Unknown;
    snapshot.set_claim(Arc::new(claim("c", [request])));
    let unknown = QueryError::UnknownRequestType { claim: key("c"), request: "r".into() };
    assert!(!unknown.is_error());
    assert_eq!(error(&snapshot, &pod), unknown);

    let request = first_available("r", &[("a", "")]);
    snapshot.set_claim(Arc::new(claim("c", [request])));
    let no_class = QueryError::NoClassName { claim: key("c"), request: "r/a".into() };
    assert!(no_class.is_error());
    assert_eq!(error(&snapshot, &pod), no_class);
}

#[test]
fn alternatives_need_their_gate() {
    let mut snapshot = Snapshot::new(Features::default().with(FeatureGate::DRAPrioritizedList, false));
    snapshot.set_class(super::world::class(CLASS));
    snapshot.set_claim(Arc::new(claim("c", [first_available("r", &[("a", CLASS)])])));
    assert_eq!(
        error(&snapshot, &pod("p", &[("g", "c")])),
        QueryError::PrioritizedListDisabled { claim: key("c"), request: "r".into() }
    );
}

#[test]
fn what_is_not_judged_is_said_and_not_ignored() {
    let features: Box<[_]> = Box::new([UnservedFeature::Volume("data".into()), UnservedFeature::PodAffinity]);
    let pod = Pod { unserved: features.clone(), ..pod("p", &[]) };
    assert_eq!(error(&world(1, 1), &pod), QueryError::Unserved { features });
}

#[test]
fn the_first_claim_that_is_wrong_is_the_one_reported() {
    let mut snapshot = world(1, 1);
    let mut going = claim("second", [exactly("r", 1)]);
    going.deleting = true;
    snapshot.set_claim(Arc::new(going));
    let pod = pod("p", &[("a", "first"), ("b", "second")]);
    assert!(
        matches!(error(&snapshot, &pod), QueryError::ClaimNotFound { claim, .. } if claim == key("first"))
    );
}
