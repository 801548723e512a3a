//! Texts as quantities: what is written is read back as the same number, and the laws of order and
//! addition hold.

use std::cmp::Ordering;

use stowplan::model::Quantity;
use stowplan::model::quantity::Format;

/// Holds the quantities of the lines of this text to the laws. Says whether there are any.
pub fn check(bytes: &[u8]) -> &'static str {
    let text = String::from_utf8_lossy(bytes);
    let quantities: Vec<_> = text.lines().take(3).filter_map(|line| Quantity::parse(line).ok()).collect();
    for one in &quantities {
        reads_back(one);
        converts(one);
        assert!(one.add(&one.neg()).is_zero(), "{one} less itself");
        for other in &quantities {
            together(one, other);
            for third in &quantities {
                if one.compare(other).is_le() && other.compare(third).is_le() {
                    assert!(one.compare(third).is_le(), "{one}, {other} and {third} in order");
                }
            }
        }
    }
    if quantities.is_empty() { "no quantity" } else { "quantity" }
}

fn reads_back(quantity: &Quantity) {
    for text in [quantity.to_string(), quantity.add(&Quantity::zero()).to_string()] {
        let again = Quantity::parse(&text).expect("a quantity that was written");
        // Of numbers from 1000E on upstream leaves out the suffix, and exponents are cut to 32 bits.
        if quantity.as_approximate_f64().abs() < 1e21 {
            assert_eq!(again.compare(quantity), Ordering::Equal, "{quantity} read back from {text}");
            assert_eq!(again.to_string(), text);
        }
    }
}

fn converts(quantity: &Quantity) {
    let sign = quantity.compare(&Quantity::zero());
    assert_eq!(quantity.sign(), sign as i32, "sign of {quantity}");
    assert_eq!(quantity.is_zero(), sign.is_eq(), "{quantity} as zero");
    assert_eq!(quantity.is_negative(), sign.is_lt(), "{quantity} as negative");
    if let Some(value) = quantity.as_i64() {
        assert_eq!(quantity.exact_scaled_value(0), Some(value), "{quantity} as integer");
    }
    if let Some(value) = quantity.exact_scaled_value(0) {
        let whole = Quantity::from_i64(value, Format::DecimalSI);
        assert_eq!(whole.compare(quantity), Ordering::Equal, "{quantity} as integer");
        // Upstream loses digits of negative numbers with many places.
        assert!(quantity.value() == value || value < 0, "{quantity} as integer");
    }
    let (_, _) = (quantity.milli_value(), quantity.scaled_value(-9));
}

fn together(one: &Quantity, other: &Quantity) {
    let order = one.compare(other);
    assert_eq!(order, other.compare(one).reverse(), "{one} and {other} in order");
    let (sum, difference) = (one.add(other), one.sub(other));
    assert_eq!(sum.compare(&other.add(one)), Ordering::Equal, "{one} and {other} added");
    assert_eq!(difference.compare(&other.sub(one).neg()), Ordering::Equal, "{one} less {other}");
    // Of numbers too far apart sums are not exact, and exponents wrap around at 32 bits as upstream's do.
    if [one, other].iter().all(|quantity| quantity.as_approximate_f64().is_finite()) {
        assert_eq!(difference.sign(), order as i32, "{one} less {other}");
        assert_eq!(sum.sub(other).compare(one), Ordering::Equal, "{one} with {other} and without");
    }
}
