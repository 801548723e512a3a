//! `e2e/robustness/cel.rs`, driven by coverage.
#![no_main]

#[path = "../../e2e/robustness/cel.rs"]
mod cel;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    cel::check(bytes);
});
