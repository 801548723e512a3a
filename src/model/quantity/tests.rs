//! Quantities against upstream's answers: every expected value was printed by apimachinery v0.37.

use std::cmp::Ordering;

use super::{Format, Quantity, QuantityError};

fn parse(text: &str) -> Quantity {
    Quantity::parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"))
}

#[test]
fn numbers_compare_whatever_their_suffixes() {
    for (smaller, larger) in [("999m", "1"), ("1k", "1Ki"), ("1Pi", "1e999999999"), ("-1Ei", "1n")] {
        assert_eq!(parse(smaller).compare(&parse(larger)), Ordering::Less, "{smaller} {larger}");
        assert_eq!(parse(larger).compare(&parse(smaller)), Ordering::Greater, "{larger} {smaller}");
    }
    for (a, b) in [("1Ki", "1024"), ("1000m", "1e0"), ("0.5Gi", "512Mi"), ("1Pi", "1125899906842624")] {
        assert_eq!(parse(a).compare(&parse(b)), Ordering::Equal, "{a} {b}");
    }
}

#[test]
fn what_is_not_a_quantity_is_refused_with_its_reason() {
    assert_eq!(Quantity::parse(""), Err(QuantityError::Format));
    assert_eq!(Quantity::parse("1K"), Err(QuantityError::Suffix));
    assert_eq!(Quantity::parse("e-10"), Err(QuantityError::Numeric));
}

#[test]
fn a_quantity_takes_sixteen_bytes() {
    assert_eq!(size_of::<Quantity>(), 16);
    assert_eq!(Quantity::zero().format(), Format::DecimalSI);
}
