//! `e2e/robustness/quantity.rs`, driven by coverage.
#![no_main]

#[path = "../../e2e/robustness/quantity.rs"]
mod quantity;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    quantity::check(bytes);
});
