//! Tests of the wording, by topic.

mod devices;
mod status;
