//! The CEL expressions of selectors and derived attributes, evaluated on one device.

use std::cell::RefCell;

use crate::cel::{self, DeviceInput, Environment, Programs};
use crate::model::{AttributeValue, DerivedAttribute, DeviceContent, DeviceSelector, Features, Name};

/// Evaluates expressions, each selector compiled once.
pub(super) struct Selectors<'a> {
    features: &'a Features,
    programs: RefCell<&'a mut Programs>,
}

impl<'a> Selectors<'a> {
    pub fn new(features: &'a Features, programs: &'a mut Programs) -> Self {
        Self { features, programs: RefCell::new(programs) }
    }

    /// Whether a selector selects a device.
    pub fn select(
        &self,
        selector: &DeviceSelector,
        driver: &Name,
        content: &DeviceContent,
    ) -> Result<bool, String> {
        let expression = selector.expression.as_ref().ok_or("it has no expression")?;
        let compiled = self.programs.borrow_mut().get(expression);
        let program = compiled.as_ref().as_ref().map_err(ToString::to_string)?;
        program.matches(&DeviceInput { driver, content }).map_err(|error| error.to_string())
    }

    /// The value of a derived attribute of a device.
    pub fn derive(
        &self,
        derived: &DerivedAttribute,
        driver: &Name,
        content: &DeviceContent,
    ) -> Result<AttributeValue, String> {
        let environment = Environment::new(self.features);
        let program = cel::compile_derived(&derived.expression, &environment);
        program.map_err(|error| error.to_string())?.attribute(&DeviceInput { driver, content })
    }
}
