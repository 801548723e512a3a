//! Why an expression is refused, and why an evaluation fails. The texts are upstream's, since users
//! read them in events and conditions and search for them.

use std::fmt;
use std::sync::Arc;

/// One finding of the parser, the type checker or a literal validator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// The line, from 1; 0 if the finding has no place.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// What is wrong.
    pub message: String,
}

/// Why an expression does not compile. `Display` is upstream's text after `CEL compile error: `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CompileError {
    /// The expression does not parse or does not type-check.
    Invalid {
        /// The expression, for the excerpt below each finding.
        source: Box<str>,
        /// The findings by place; at least one.
        issues: Box<[Issue]>,
    },
    /// The expression has a type that says neither yes nor no.
    ResultType {
        /// The type, as CEL writes it.
        found: String,
        /// The types that would do, as upstream words them.
        wanted: &'static str,
    },
    /// A conversion of a literal fails (`int("x")`), which upstream finds when it plans the program.
    Instantiation {
        /// The failure.
        reason: String,
    },
    /// It is longer than the API allows (10 KiB).
    TooLong {
        /// The length in bytes.
        length: usize,
    },
    /// Its types are too big to be checked. Upstream has no such limit and would not end.
    TooComplex,
}

impl CompileError {
    /// Line and column of the first finding, both from 1.
    pub fn position(&self) -> Option<(u32, u32)> {
        match self {
            Self::Invalid { issues, .. } => {
                issues.first().map(|issue| (issue.line, issue.column)).filter(|(line, _)| *line > 0)
            }
            _ => None,
        }
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid { source, issues } => {
                f.write_str("compilation failed: ")?;
                for (at, issue) in issues.iter().enumerate() {
                    if at > 0 {
                        f.write_str("\n")?;
                    }
                    write_issue(f, source, issue)?;
                }
                Ok(())
            }
            Self::ResultType { found, wanted } => write!(f, "must evaluate to {wanted}, not {found}"),
            Self::Instantiation { reason } => write!(f, "program instantiation failed: {reason}"),
            Self::TooLong { length } => {
                write!(f, "expression of {length} bytes is too long, may not be more than 10240 bytes")
            }
            Self::TooComplex => f.write_str("expression is too complex to be type-checked"),
        }
    }
}

impl std::error::Error for CompileError {}

/// A finding with the line it is in and a caret below its place, as cel-go prints it.
fn write_issue(f: &mut fmt::Formatter<'_>, source: &str, issue: &Issue) -> fmt::Result {
    if issue.line == 0 {
        return write!(f, "ERROR: <input>:-1:0: {}", issue.message);
    }
    write!(f, "ERROR: <input>:{}:{}: {}", issue.line, issue.column, issue.message)?;
    let Some(line) = source.split('\n').nth(issue.line as usize - 1) else { return Ok(()) };
    write!(f, "\n | {}\n | ", line.replace('\t', " "))?;
    let mut characters = line.chars();
    for wide in characters.by_ref().take(issue.column as usize - 1).map(|c| c.len_utf8() > 1) {
        f.write_str(if wide { "\u{ff0e}" } else { "." })?;
    }
    f.write_str(if characters.next().is_some_and(|c| c.len_utf8() > 1) { "\u{ff3e}" } else { "^" })
}

/// Why an evaluation ends without a value. `Display` is upstream's text after `CEL runtime error: `.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EvalError {
    /// An attribute of the device cannot be represented, which fails every expression on it.
    Attribute {
        /// The attribute's name as published.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A map has no such key, or a value that is no map was asked for one.
    NoSuchKey {
        /// The key.
        key: String,
    },
    /// No implementation of a function or operator takes these values.
    NoSuchOverload {
        /// The function with its argument types, where upstream says it.
        call: Option<String>,
    },
    /// Any other failure of an operation, in upstream's words.
    Operation {
        /// The failure.
        message: String,
    },
    /// The evaluation is too expensive.
    CostLimit,
    /// The result is no truth value.
    NotBool {
        /// The type of the result.
        found: String,
        /// How Go words the failing conversion.
        reason: String,
    },
}

impl EvalError {
    /// A failure that is shared by all values that it spoils.
    pub(super) fn operation<T>(message: impl Into<String>) -> Result<T, Arc<Self>> {
        Err(Arc::new(Self::Operation { message: message.into() }))
    }

    /// No implementation takes these values.
    pub(super) fn overload<T>() -> Result<T, Arc<Self>> {
        Err(Arc::new(Self::NoSuchOverload { call: None }))
    }
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Attribute { name, reason } => write!(f, "attribute {name}: {reason}"),
            Self::NoSuchKey { key } => write!(
                f,
                "no such key: {key}. consider using CEL optional chaining (.? followed by orValue()) or \
                 guarding the check with has() for optional fields"
            ),
            Self::NoSuchOverload { call: None } => f.write_str("no such overload"),
            Self::NoSuchOverload { call: Some(call) } => write!(f, "no such overload: {call}"),
            Self::Operation { message } => f.write_str(message),
            Self::CostLimit => f.write_str("operation cancelled: actual cost limit exceeded"),
            Self::NotBool { found, reason } => {
                write!(f, "CEL result of type {found} could not be converted to bool: {reason}")
            }
        }
    }
}

impl std::error::Error for EvalError {}
