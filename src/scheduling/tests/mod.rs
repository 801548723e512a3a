//! Tests of the pipeline, by topic.

mod assume;
mod commit_plan;
mod cycle;
mod extended_resources;
mod query;
mod recall;
pub(crate) mod world;
