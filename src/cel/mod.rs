//! Compiles CEL device selectors and evaluates them with a cost limit. Pure.
//!
//! An expression is compiled once: `parser` makes a tree and expands macros, `checker` resolves
//! names and types as cel-go does, `validate` checks literals, `codegen` folds constants and
//! makes flat code, which the machine in `eval` runs on any number of devices. No step recurses
//! deeper than the parser allows, and evaluating a selector that looks at attributes allocates
//! nothing.
//!
//! The environment is the one in which upstream's scheduler compiles stored device selectors
//! (`k8s.io/dynamic-resource-allocation/cel`, in `k8s.io/apiserver/pkg/cel/environment`).

mod ast;
mod checker;
mod codegen;
mod cost;
mod derived;
mod device;
mod error;
mod estimate;
mod eval;
mod functions;
mod lexer;
mod library;
mod macros;
mod parser;
mod program;
pub mod semver;
mod types;
mod validate;
mod value;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

pub use cost::COST_LIMIT;
pub use derived::compile_derived;
pub use device::{DeviceInput, Section};
pub use error::{CompileError, EvalError, Issue};
pub use estimate::Bounds;
pub use program::{Program, TouchedPaths};
pub use value::{List, Map, Value};

use crate::model::{FeatureGate, Features, KubernetesVersion};
use functions::{Declaration, Function};
use types::Type;

/// The most bytes of an expression (`CELSelectorExpressionMaxLength`).
pub const EXPRESSION_MAX: usize = 10 * 1024;

/// What an expression may refer to. The table of functions is made once for a release and shared.
#[derive(Clone, Debug)]
pub struct Environment {
    functions: Arc<BTreeMap<&'static str, Declaration>>,
    /// The type of attributes.
    attribute: Type,
}

impl Environment {
    /// The environment of stored expressions in the release that is emulated.
    pub fn new(features: &Features) -> Self {
        static TABLES: [OnceLock<Arc<BTreeMap<&'static str, Declaration>>>; KubernetesVersion::ALL.len()] =
            [const { OnceLock::new() }; KubernetesVersion::ALL.len()];
        let version = features.version;
        let hidden = move |function| function == Function::Includes && version < KubernetesVersion::V1_36;
        let make = || {
            let mut functions: BTreeMap<_, _> = functions::declarations(hidden).collect();
            if version < KubernetesVersion::V1_37 {
                functions.values_mut().for_each(functions::be_as_older_releases);
            }
            Arc::new(functions)
        };
        // In 1.36 the type follows the gate, in later releases stored expressions ignore it.
        let scalars_only = version < KubernetesVersion::V1_36
            || version == KubernetesVersion::V1_36 && !features.has(FeatureGate::DRAListTypeAttributes);
        Self {
            functions: Arc::clone(TABLES[version as usize].get_or_init(make)),
            attribute: if scalars_only { Type::Any } else { Type::Dyn },
        }
    }

    fn function(&self, name: &str) -> Option<&Declaration> {
        self.functions.get(name)
    }
}

/// Compiles a device selector.
///
/// # Errors
/// It is no valid expression, or says neither yes nor no.
pub fn compile(expression: &str, env: &Environment) -> Result<Program, CompileError> {
    compile_typed(expression, env, |ty| {
        let fits = *ty == Type::Bool || *ty == env.attribute;
        fits.then_some(()).ok_or("bool or the unknown type")
    })
}

fn compile_typed(
    expression: &str,
    env: &Environment,
    accept: impl FnOnce(&Type) -> Result<(), &'static str>,
) -> Result<Program, CompileError> {
    if expression.len() > EXPRESSION_MAX {
        return Err(CompileError::TooLong { length: expression.len() });
    }
    let invalid = |findings| CompileError::Invalid {
        source: expression.into(),
        issues: parser::issues(expression, findings),
    };
    let (ast, root) = parser::parse(expression).map_err(invalid)?;
    let checked = checker::check(&ast, root, env).map_err(|failure| match failure {
        checker::Failure::Findings(findings) => invalid(findings),
        checker::Failure::TooComplex => CompileError::TooComplex,
    })?;
    let findings = validate::validate(&ast, root, &checked);
    if !findings.is_empty() {
        return Err(invalid(findings));
    }
    let ty = checked.types[root.index()].clone().unwrap_or(Type::Dyn);
    accept(&ty).map_err(|wanted| CompileError::ResultType { found: type_text(&ty), wanted })?;
    codegen::generate(&ast, root, &checked)
}

/// A type as it names itself. Alone, `type` is that of a type that is not known.
fn type_text(ty: &Type) -> String {
    match ty {
        Type::Meta(of) if **of == Type::Dyn => "type(dyn)".to_owned(),
        ty => format!("{ty:#}"),
    }
}

/// Most expressions kept at a time; whoever writes claims must not be able to fill the memory.
const PROGRAMS_MAX: usize = 4096;

/// Compiled selectors by their text, so that each is compiled once.
#[derive(Debug)]
pub struct Programs {
    env: Environment,
    by_text: BTreeMap<Arc<str>, Arc<Result<Program, CompileError>>>,
}

impl Programs {
    /// An empty cache.
    pub fn new(env: Environment) -> Self {
        Self { env, by_text: BTreeMap::new() }
    }

    /// The program of a selector, or why there is none.
    pub fn get(&mut self, expression: &Arc<str>) -> Arc<Result<Program, CompileError>> {
        if let Some(known) = self.by_text.get(expression) {
            return Arc::clone(known);
        }
        if self.by_text.len() >= PROGRAMS_MAX {
            self.by_text.clear();
        }
        let compiled = Arc::new(compile(expression, &self.env));
        self.by_text.insert(Arc::clone(expression), Arc::clone(&compiled));
        compiled
    }
}
