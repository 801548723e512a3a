//! The order of pods in the queue.

use std::cmp::Ordering;

use crate::model::{Pod, Timestamp};

/// Which of two pods is scheduled first: the one of higher priority, then the one that was queued
/// earlier.
pub fn compare(a: (&Pod, Timestamp), b: (&Pod, Timestamp)) -> Ordering {
    b.0.priority.cmp(&a.0.priority).then(a.1.cmp(&b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn higher_priority_goes_first_and_then_the_longer_wait() {
        let pod = |priority| Pod { priority, ..Pod::default() };
        let (low, high) = (pod(0), pod(1000));
        assert_eq!(compare((&high, Timestamp(2)), (&low, Timestamp(1))), Ordering::Less);
        assert_eq!(compare((&low, Timestamp(1)), (&pod(-1), Timestamp(1))), Ordering::Less);
        assert_eq!(compare((&low, Timestamp(2)), (&low, Timestamp(1))), Ordering::Greater);
        assert_eq!(compare((&low, Timestamp(1)), (&low, Timestamp(1))), Ordering::Equal);
    }
}
