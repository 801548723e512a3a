//! Schedules the pods of manifests, without a cluster.
