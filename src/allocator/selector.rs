//! CEL, as the allocator uses it: expressions to yes or no, or to an attribute, with the words of
//! failures as text.

use crate::cel::{self, DeviceInput, Environment};
use crate::model::{AttributeValue, DeviceContent, Features, Name};

use super::projection::Touched;

/// Compiles expressions.
#[derive(Debug)]
pub(super) struct Compiler(Environment);

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Program(cel::Program);

impl Compiler {
    pub fn new(features: &Features) -> Self {
        Self(Environment::new(features))
    }

    /// Compiles a selector.
    ///
    /// # Errors
    /// The compiler's words.
    pub fn selector(&self, expression: &str) -> Result<Program, Name> {
        cel::compile(expression, &self.0).map(Program).map_err(|error| Name::from(error.to_string()))
    }

    /// Compiles a derived attribute.
    ///
    /// # Errors
    /// The compiler's words.
    pub fn derived(&self, expression: &str) -> Result<Program, Name> {
        cel::compile_derived(expression, &self.0).map(Program).map_err(|error| Name::from(error.to_string()))
    }
}

impl Program {
    /// Whether a device matches.
    ///
    /// # Errors
    /// The evaluator's words.
    pub fn matches(&self, driver: &str, content: &DeviceContent) -> Result<bool, Name> {
        let device = DeviceInput { driver, content };
        self.0.matches(&device).map_err(|error| Name::from(error.to_string()))
    }

    /// The value of a derived attribute.
    ///
    /// # Errors
    /// The evaluator's words.
    pub fn value(&self, driver: &str, content: &DeviceContent) -> Result<AttributeValue, Name> {
        let device = DeviceInput { driver, content };
        self.0.attribute(&device).map_err(Name::from)
    }

    /// Which attributes the expression looks at.
    pub fn touched(&self) -> Touched {
        Touched::by_expression(&self.0.touched_paths())
    }
}
