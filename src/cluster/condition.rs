//! The condition `PodScheduled=False`, by which a pod says why it is pending.

use k8s_openapi::jiff::Timestamp;
use serde_json::{Value, json};

/// Why a pod is not scheduled (`reason` of the condition).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// No node fits, as things are.
    Unschedulable,
    /// The attempt itself failed.
    SchedulerError,
}

impl Reason {
    /// As the API has it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unschedulable => "Unschedulable",
            Self::SchedulerError => "SchedulerError",
        }
    }
}

/// What a pod's condition `PodScheduled` said when it was last seen.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct SeenCondition {
    status: String,
    reason: String,
    message: String,
    since: Option<String>,
    generation: Option<i64>,
}

impl SeenCondition {
    /// Reads it from a pod.
    pub fn of(pod: &Value) -> Self {
        let generation = pod.pointer("/metadata/generation").and_then(Value::as_i64);
        let conditions = pod.pointer("/status/conditions").and_then(Value::as_array);
        let found = conditions.and_then(|all| all.iter().find(|one| one["type"] == "PodScheduled"));
        let Some(condition) = found else { return Self { generation, ..Self::default() } };
        let text = |field: &str| condition[field].as_str().unwrap_or_default().to_owned();
        Self {
            status: text("status"),
            reason: text("reason"),
            message: text("message"),
            since: condition["lastTransitionTime"].as_str().map(str::to_owned),
            generation,
        }
    }

    /// The strategic merge patch of the pod's status that says this instead; `None` if it says so
    /// already. The moment of transition moves only when the status flips.
    pub fn patch(&self, pod_uid: &str, reason: Reason, message: &str, now: Timestamp) -> Option<Value> {
        let pending_already = self.status == "False";
        if pending_already && self.reason == reason.as_str() && self.message == message {
            return None;
        }
        let since = match &self.since {
            Some(since) if pending_already => since.clone(),
            _ => rfc3339(now),
        };
        let mut condition = json!({
            "type": "PodScheduled",
            "status": "False",
            "reason": reason.as_str(),
            "message": message,
            "lastProbeTime": null,
            "lastTransitionTime": since,
        });
        if let Some(generation) = self.generation {
            condition["observedGeneration"] = generation.into();
        }
        Some(json!({"metadata": {"uid": pod_uid}, "status": {"conditions": [condition]}}))
    }
}

/// A moment as the API writes it: UTC, whole seconds.
pub fn rfc3339(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(message: &str) -> SeenCondition {
        SeenCondition::of(&json!({"metadata": {"generation": 3}, "status": {"conditions": [
            {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
             "lastTransitionTime": "2026-01-02T03:04:05Z"},
        ]}}))
    }

    #[test]
    fn the_same_words_are_not_written_twice() {
        assert_eq!(seen("no room").patch("u", Reason::Unschedulable, "no room", Timestamp::UNIX_EPOCH), None);
        assert!(
            seen("no room").patch("u", Reason::SchedulerError, "no room", Timestamp::UNIX_EPOCH).is_some()
        );
    }

    #[test]
    fn a_new_message_keeps_the_moment_since_which_the_pod_is_pending() {
        let patch = seen("a").patch("u", Reason::Unschedulable, "b", Timestamp::UNIX_EPOCH).unwrap();
        let condition = &patch["status"]["conditions"][0];
        assert_eq!(condition["lastTransitionTime"], "2026-01-02T03:04:05Z");
        assert_eq!(condition["observedGeneration"], 3);
        assert_eq!(patch["metadata"]["uid"], "u");
    }

    #[test]
    fn the_first_message_says_since_when() {
        let seen = SeenCondition::of(&json!({"metadata": {}}));
        let patch = seen.patch("u", Reason::Unschedulable, "b", Timestamp::UNIX_EPOCH).unwrap();
        assert_eq!(patch["status"]["conditions"][0]["lastTransitionTime"], "1970-01-01T00:00:00Z");
    }
}
