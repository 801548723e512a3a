//! The right form of selectors that are often written wrongly.

use crate::model::DeviceId;

/// What a selector that failed on a device was probably meant to say.
///
/// Known: `device.attributes['memory'].quantity >= '40Gi'`. Attributes are keyed by domain, and none
/// has a quantity; sizes are capacities.
pub(super) fn selector_hint(expression: &str, device: &DeviceId) -> Option<String> {
    let (before, after) = expression.split_once(".quantity")?;
    let (_, subject) = before.rsplit_once("device.attributes")?;
    let names: Vec<&str> =
        quoted(subject).into_iter().chain(subject.rsplit_once("].").map(|(_, n)| n)).collect();
    let name = names.last().filter(|name| is_identifier(name)).copied().unwrap_or("memory");
    let (operator, amount) = comparison(after).unwrap_or((">=", "40Gi"));
    let driver = device.driver();
    Some(format!(
        "Attributes have no quantities; a size is a capacity, keyed by domain: \
         device.capacity['{driver}'].{name}.compareTo(quantity('{amount}')) {operator} 0"
    ))
}

/// The texts between quotes.
fn quoted(text: &str) -> Vec<&str> {
    text.split(['\'', '"']).skip(1).step_by(2).collect()
}

fn is_identifier(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// The operator and the quoted text at the start of `text`.
fn comparison(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let operator = [">=", "<=", "==", "!=", ">", "<"].into_iter().find(|op| text.starts_with(op))?;
    Some((operator, quoted(text).first()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(expression: &str) -> Option<String> {
        let hint = selector_hint(expression, &DeviceId::new("gpu.example.com", "n1", "gpu-0"))?;
        Some(hint.rsplit_once(": ").map(|(_, form)| form.to_owned()).expect("the form comes last"))
    }

    #[test]
    fn a_size_asked_of_an_attribute_is_shown_as_a_capacity_of_the_devices_driver() {
        assert_eq!(
            hint("device.attributes['memory'].quantity >= '40Gi'").as_deref(),
            Some("device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) >= 0")
        );
        assert_eq!(
            hint("true && device.attributes[\"gpu.example.com\"].vram.quantity < \"8Gi\"").as_deref(),
            Some("device.capacity['gpu.example.com'].vram.compareTo(quantity('8Gi')) < 0")
        );
        assert_eq!(
            hint("device.attributes['memory'].quantity.isGreaterThan(x)").as_deref(),
            Some("device.capacity['gpu.example.com'].memory.compareTo(quantity('40Gi')) >= 0")
        );
    }

    #[test]
    fn other_selectors_get_no_hint() {
        assert_eq!(hint("device.attributes['gpu.example.com'].model == 'h100'"), None);
        assert_eq!(hint("device.capacity['gpu.example.com'].memory.compareTo(quantity('1Gi')) > 0"), None);
    }
}
