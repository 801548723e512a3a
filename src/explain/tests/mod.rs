//! Tests of the wording, by topic.

mod status;
