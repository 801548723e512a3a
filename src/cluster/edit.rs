//! The changes that a scheduler makes to a claim's JSON. Everything else in it stays as it was.

use serde_json::{Map, Value, json};

use crate::model::{CLAIM_FINALIZER, ConsumerReference};

/// Whether the claim is being deleted.
pub fn is_deleting(claim: &Value) -> bool {
    claim.pointer("/metadata/deletionTimestamp").is_some_and(|moment| !moment.is_null())
}

/// Whether devices have been given to the claim.
pub fn is_allocated(claim: &Value) -> bool {
    claim.pointer("/status/allocation").is_some_and(|allocation| !allocation.is_null())
}

/// Whether the finalizer that keeps an allocated claim is there.
pub fn has_finalizer(claim: &Value) -> bool {
    let finalizers = claim.pointer("/metadata/finalizers").and_then(Value::as_array);
    finalizers.is_some_and(|finalizers| finalizers.iter().any(|name| name == CLAIM_FINALIZER))
}

/// Adds the finalizer if it is missing.
pub fn add_finalizer(claim: &mut Value) {
    if has_finalizer(claim) {
        return;
    }
    match object_at(claim, "metadata").entry("finalizers").or_insert_with(|| json!([])) {
        Value::Array(finalizers) => finalizers.push(CLAIM_FINALIZER.into()),
        absent => *absent = json!([CLAIM_FINALIZER]),
    }
}

/// Removes the finalizer.
pub fn remove_finalizer(claim: &mut Value) {
    if let Some(Value::Array(finalizers)) = claim.pointer_mut("/metadata/finalizers") {
        finalizers.retain(|name| name != CLAIM_FINALIZER);
    }
}

/// Gives the claim an allocation, encoded as the API has it.
pub fn set_allocation(claim: &mut Value, allocation: Value) {
    object_at(claim, "status").insert("allocation".into(), allocation);
}

/// Takes the devices from a claim, and with them its users and what drivers said about them.
pub fn deallocate(claim: &mut Value) {
    if let Some(status) = claim.get_mut("status").and_then(Value::as_object_mut) {
        for field in ["allocation", "reservedFor", "devices"] {
            status.shift_remove(field);
        }
    }
}

/// Adds a user of the claim, unless that very one is there.
pub fn reserve(claim: &mut Value, consumer: &ConsumerReference) {
    let entry = json!({
        "resource": consumer.resource.as_str(),
        "name": consumer.name.as_str(),
        "uid": consumer.uid.as_str(),
    });
    let entry = with_api_group(entry, &consumer.api_group);
    match object_at(claim, "status").entry("reservedFor").or_insert_with(|| json!([])) {
        Value::Array(consumers) => {
            if consumers.iter().all(|other| other["uid"] != entry["uid"]) {
                consumers.push(entry);
            }
        }
        absent => *absent = json!([entry]),
    }
}

fn with_api_group(mut entry: Value, group: &str) -> Value {
    if !group.is_empty() {
        entry["apiGroup"] = group.into();
    }
    entry
}

/// The strategic merge patch that takes one reservation back. Were the claim another one of the
/// same name by now, the uid would make the server refuse it.
pub fn unreserve_patch(claim_uid: &str, pod_uid: &str) -> Value {
    json!({
        "metadata": {"uid": claim_uid},
        "status": {"reservedFor": [{"$patch": "delete", "uid": pod_uid}]},
    })
}

/// The object in a field, made where it is missing.
fn object_at<'a>(object: &'a mut Value, field: &str) -> &'a mut Map<String, Value> {
    if !object[field].is_object() {
        object[field] = json!({});
    }
    object[field].as_object_mut().expect("it was made an object just now")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Name, Uid};

    fn pod(name: &str, uid: &str) -> ConsumerReference {
        ConsumerReference {
            api_group: Name::default(),
            resource: "pods".into(),
            name: name.into(),
            uid: Uid::from(uid),
        }
    }

    #[test]
    fn a_reservation_is_added_once_and_the_others_stay() {
        let mut claim = json!({"status": {"reservedFor": [{"resource": "pods", "name": "a", "uid": "1"}], "later": true}});
        reserve(&mut claim, &pod("b", "2"));
        reserve(&mut claim, &pod("b", "2"));
        assert_eq!(
            claim,
            json!({"status": {
                "reservedFor": [{"resource": "pods", "name": "a", "uid": "1"}, {"resource": "pods", "name": "b", "uid": "2"}],
                "later": true,
            }})
        );
    }

    #[test]
    fn a_claim_without_status_gets_one() {
        let mut claim = json!({"metadata": {"name": "c"}, "spec": {"unheardOf": 1}});
        set_allocation(&mut claim, json!({"devices": {}}));
        reserve(&mut claim, &pod("a", "1"));
        assert!(is_allocated(&claim));
        assert_eq!(claim["spec"], json!({"unheardOf": 1}));
        assert_eq!(claim["status"]["reservedFor"][0]["uid"], "1");
    }

    #[test]
    fn the_finalizer_is_added_beside_others_and_removed_alone() {
        let mut claim = json!({"metadata": {"finalizers": ["other"]}});
        add_finalizer(&mut claim);
        add_finalizer(&mut claim);
        assert_eq!(claim["metadata"]["finalizers"], json!(["other", CLAIM_FINALIZER]));
        remove_finalizer(&mut claim);
        assert_eq!(claim["metadata"]["finalizers"], json!(["other"]));
    }

    #[test]
    fn a_null_is_no_allocation_and_no_deletion() {
        let claim = json!({"metadata": {"deletionTimestamp": null}, "status": {"allocation": null}});
        assert!(!is_allocated(&claim));
        assert!(!is_deleting(&claim));
    }
}
