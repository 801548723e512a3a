//! `e2e/robustness/allocator.rs`, driven by coverage.
#![no_main]
#![allow(dead_code, reason = "other tests use the rest of what is shared")]

#[path = "../../e2e/robustness/allocator.rs"]
mod allocator;
#[path = "../../e2e/properties/ask.rs"]
mod ask;
#[path = "../../e2e/properties/build.rs"]
mod build;
#[path = "../../e2e/robustness/decode.rs"]
mod decode;
#[path = "../../e2e/properties/meaning.rs"]
mod meaning;
#[path = "../../e2e/properties/oracle.rs"]
mod oracle;
#[path = "../../e2e/properties/pools.rs"]
mod pools;
#[path = "../../e2e/properties/recipe.rs"]
mod recipe;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    allocator::check(bytes);
});
