//! `e2e/robustness/input.rs`, driven by coverage.
#![no_main]

#[path = "../../e2e/robustness/input.rs"]
mod input;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    input::check(bytes);
});
