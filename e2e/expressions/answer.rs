//! The answers of both sides to one expression, in the form in which they are compared.

use serde_json::{Value, json};
use stowplan::cel::{self, Bounds, COST_LIMIT, DeviceInput, Environment, EvalError, Program};
use stowplan::model::AttributeValue;

use crate::devices::Device;

/// What is to be known of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It does not compile.
    Refused(String),
    /// It compiles: one outcome a device, and what it may cost on any.
    Compiled(Vec<Outcome>, Bounds),
    /// Upstream's code panicked.
    Panic(String),
    /// What is said of two quantities or versions.
    Numbers(Value),
}

/// How an evaluation ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The value, or the text of the error.
    pub result: String,
    /// What it cost at run time; beyond the limit nobody sees how much.
    pub cost: u64,
    /// Whether it was cut off for another reason than its cost.
    pub cut_off: bool,
}

/// What two answers differ in; a smaller expression must show the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    /// One side refuses what the other compiles.
    Acceptance,
    /// The text of the refusal.
    RefusalText,
    /// A value or an error.
    Result,
    /// The text of an error.
    ErrorText,
    /// The run-time cost.
    Cost,
    /// The estimate of the cost.
    Estimate,
    /// Upstream's code panics.
    Panic,
}

impl Answer {
    /// What this project says.
    pub fn ours(expression: &str, derived: bool, env: &Environment, devices: &[Device]) -> Self {
        let compile = if derived { cel::compile_derived } else { cel::compile };
        let program = match compile(expression, env) {
            Ok(program) => program,
            Err(error) => return Self::Refused(error.to_string()),
        };
        let outcomes = devices.iter().map(|device| Outcome::ours(&program, derived, device)).collect();
        Self::Compiled(outcomes, program.cost_estimate())
    }

    /// What upstream says.
    pub fn upstream(answer: &Value) -> Self {
        if let Some(cause) = answer["panic"].as_str() {
            return Self::Panic(cause.to_owned());
        }
        if let Some(error) = answer["compile"].as_str() {
            return Self::Refused(error.to_owned());
        }
        let devices = answer["devices"].as_array().map_or(&[][..], Vec::as_slice);
        let bound = |name| answer["estimate"][name].as_u64().expect("what compiles has an estimate");
        let estimate = Bounds { min: bound("min"), max: bound("max") };
        Self::Compiled(devices.iter().map(Outcome::upstream).collect(), estimate)
    }

    /// What two answers differ in first.
    pub fn aspect(&self, upstream: &Self) -> Option<Aspect> {
        match (self, upstream) {
            _ if self == upstream => None,
            (_, Self::Panic(_)) => Some(Aspect::Panic),
            (Self::Refused(_), Self::Refused(_)) => Some(Aspect::RefusalText),
            (Self::Compiled(_, ours), Self::Compiled(_, theirs)) if ours != theirs => Some(Aspect::Estimate),
            (Self::Compiled(ours, _), Self::Compiled(theirs, _)) => {
                ours.iter().zip(theirs).find_map(|(ours, theirs)| ours.aspect(theirs))
            }
            _ => Some(Aspect::Acceptance),
        }
    }

    /// A word for tallies.
    pub fn class(&self) -> &'static str {
        match self {
            Self::Refused(_) => "refused",
            Self::Panic(_) => "panic",
            Self::Numbers(_) => "numbers",
            Self::Compiled(outcomes, _)
                if outcomes.iter().any(|o| o.result.contains("cost limit exceeded")) =>
            {
                "too costly"
            }
            Self::Compiled(outcomes, _)
                if outcomes.iter().any(|o| matches!(&*o.result, "true" | "false")) =>
            {
                "a truth value"
            }
            Self::Compiled(..) => "an error or another value",
        }
    }
}

impl Outcome {
    fn ours(program: &Program, derived: bool, device: &Device) -> Self {
        let input = DeviceInput { driver: &device.driver, content: &device.content };
        let (cost, value) = program.cost(&input);
        let result = if derived {
            program.attribute(&input).map_or_else(|error| error, |value| written(&value).to_string())
        } else {
            program.matches(&input).map_or_else(|error| error.to_string(), |matches| matches.to_string())
        };
        // An evaluation that never begins costs nothing.
        let cost = if matches!(value, Err(EvalError::Attribute { .. })) { 0 } else { cost };
        Self { result: without_hint(&result), cost: cost.min(COST_LIMIT + 1), cut_off: false }
    }

    fn upstream(verdict: &Value) -> Self {
        let result = match (verdict["error"].as_str(), &verdict["attribute"]) {
            (Some(error), _) => error.to_owned(),
            (None, Value::Null) => verdict["matches"].to_string(),
            (None, attribute) => attribute.to_string(),
        };
        Self {
            result,
            cost: verdict["cost"].as_u64().unwrap_or(0).min(COST_LIMIT + 1),
            cut_off: verdict["timedOut"] == true,
        }
    }

    fn aspect(&self, upstream: &Self) -> Option<Aspect> {
        let is_value = |text: &str| matches!(text, "true" | "false") || text.starts_with('{');
        match () {
            () if self == upstream => None,
            () if self.result == upstream.result => Some(Aspect::Cost),
            () if is_value(&self.result) || is_value(&upstream.result) => Some(Aspect::Result),
            () => Some(Aspect::ErrorText),
        }
    }
}

/// Upstream's allocator appends the hint, not its evaluator.
fn without_hint(text: &str) -> String {
    text.split(". consider using CEL optional chaining").next().unwrap_or(text).to_owned()
}

/// An attribute as Go writes it, which leaves out an empty list.
fn written(value: &AttributeValue) -> Value {
    let texts = |key: &str, texts: &[stowplan::model::Name]| match texts {
        [] => json!({}),
        texts => json!({key: texts.iter().map(stowplan::model::Name::as_str).collect::<Vec<_>>()}),
    };
    match value {
        AttributeValue::Int(value) => json!({"int": value}),
        AttributeValue::Bool(value) => json!({"bool": value}),
        AttributeValue::String(text) => json!({"string": text.as_str()}),
        AttributeValue::Version(text) => json!({"version": text.as_str()}),
        AttributeValue::Ints(values) => json!({"ints": values}),
        AttributeValue::Bools(values) => json!({"bools": values}),
        AttributeValue::Strings(values) => texts("strings", values),
        AttributeValue::Versions(values) => texts("versions", values),
        AttributeValue::Unsupported => json!({}),
    }
}
