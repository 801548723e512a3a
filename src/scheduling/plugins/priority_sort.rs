//! The order of pods in the queue.

use std::cmp::Ordering;

use crate::model::{Pod, Timestamp};

/// Which of two pods is scheduled first: the one of higher priority, then the one that was queued
/// earlier.
pub fn compare(a: (&Pod, Timestamp), b: (&Pod, Timestamp)) -> Ordering {
    b.0.priority.cmp(&a.0.priority).then(a.1.cmp(&b.1))
}
