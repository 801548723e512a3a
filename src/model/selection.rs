//! Labels and the selection of nodes by them.

use super::ids::{Name, NodeName};

/// A set of labels, sorted by key.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Labels(Box<[(Name, Name)]>);

impl Labels {
    /// Looks a label up.
    pub fn get(&self, key: &str) -> Option<&Name> {
        self.0.binary_search_by(|(k, _)| k.as_str().cmp(key)).ok().map(|at| &self.0[at].1)
    }

    /// The labels in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &Name)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(Name, Name)> for Labels {
    /// Collects labels; of equal keys the last one stays.
    fn from_iter<T: IntoIterator<Item = (Name, Name)>>(labels: T) -> Self {
        let map: std::collections::BTreeMap<Name, Name> = labels.into_iter().collect();
        Self(map.into_iter().collect())
    }
}

/// How a requirement compares a label or field with its values.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SelectorOperator {
    /// The value is one of those listed.
    In,
    /// The value is none of those listed, or absent.
    NotIn,
    /// The key is there.
    Exists,
    /// The key is not there.
    DoesNotExist,
    /// The value is an integer above the one listed.
    Gt,
    /// The value is an integer below the one listed.
    Lt,
    /// An operator that this release does not know.
    Other(Name),
}

impl SelectorOperator {
    /// Reads the operator as the API spells it.
    pub fn parse(text: &str) -> Self {
        match text {
            "In" => Self::In,
            "NotIn" => Self::NotIn,
            "Exists" => Self::Exists,
            "DoesNotExist" => Self::DoesNotExist,
            "Gt" => Self::Gt,
            "Lt" => Self::Lt,
            other => Self::Other(Name::from(other)),
        }
    }

    /// The operator as the API spells it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::In => "In",
            Self::NotIn => "NotIn",
            Self::Exists => "Exists",
            Self::DoesNotExist => "DoesNotExist",
            Self::Gt => "Gt",
            Self::Lt => "Lt",
            Self::Other(name) => name,
        }
    }
}

/// One condition on a label or field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Requirement {
    /// The label's key, or a field's path.
    pub key: Name,
    /// How it is compared.
    pub operator: SelectorOperator,
    /// What it is compared with.
    pub values: Box<[Name]>,
}

/// Conditions that must hold together. A term without any matches nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct NodeSelectorTerm {
    /// Conditions on labels.
    pub match_expressions: Box<[Requirement]>,
    /// Conditions on fields; only `metadata.name` is known.
    pub match_fields: Box<[Requirement]>,
}

/// Terms of which one must match (`core/v1 NodeSelector`).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct NodeSelector {
    /// The alternatives.
    pub terms: Box<[NodeSelectorTerm]>,
}

/// Why a selector cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SelectorError {
    /// The operator is unknown, or not allowed for a field.
    Operator {
        /// The requirement's key.
        key: Name,
        /// The operator as given.
        operator: Name,
    },
    /// The number of values does not suit the operator.
    ValueCount {
        /// The requirement's key.
        key: Name,
        /// The operator as given.
        operator: Name,
        /// How many values there are.
        count: usize,
    },
    /// `Gt` and `Lt` compare integers.
    NotAnInteger {
        /// The requirement's key.
        key: Name,
        /// The value as given.
        value: Name,
    },
    /// Only `metadata.name` can be selected by field.
    UnknownField {
        /// The field as given.
        key: Name,
    },
}

impl std::fmt::Display for SelectorError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Operator { key, operator } => {
                write!(f, "{key}: \"{operator}\" is not a valid node selector operator")
            }
            Self::ValueCount { key, operator, count } => {
                write!(f, "{key}: operator {operator} does not go with {count} values")
            }
            Self::NotAnInteger { key, value } => write!(f, "{key}: {value:?} is not an integer"),
            Self::UnknownField { key } => {
                write!(f, "{key}: not a field that nodes can be selected by (metadata.name is)")
            }
        }
    }
}

impl std::error::Error for SelectorError {}

impl Requirement {
    fn check_label(&self) -> Result<(), SelectorError> {
        let count = self.values.len();
        let fits = match self.operator {
            SelectorOperator::In | SelectorOperator::NotIn => count > 0,
            SelectorOperator::Exists | SelectorOperator::DoesNotExist => count == 0,
            SelectorOperator::Gt | SelectorOperator::Lt => count == 1,
            SelectorOperator::Other(ref operator) => {
                return Err(SelectorError::Operator { key: self.key.clone(), operator: operator.clone() });
            }
        };
        if !fits {
            return Err(self.value_count());
        }
        if matches!(self.operator, SelectorOperator::Gt | SelectorOperator::Lt)
            && let Some(value) = self.values.iter().find(|v| v.parse::<i64>().is_err())
        {
            return Err(SelectorError::NotAnInteger { key: self.key.clone(), value: value.clone() });
        }
        Ok(())
    }

    fn check_field(&self) -> Result<(), SelectorError> {
        if !matches!(self.operator, SelectorOperator::In | SelectorOperator::NotIn) {
            return Err(SelectorError::Operator {
                key: self.key.clone(),
                operator: Name::from(self.operator.as_str()),
            });
        }
        if self.values.len() != 1 {
            return Err(self.value_count());
        }
        if self.key != "metadata.name" {
            return Err(SelectorError::UnknownField { key: self.key.clone() });
        }
        Ok(())
    }

    fn value_count(&self) -> SelectorError {
        SelectorError::ValueCount {
            key: self.key.clone(),
            operator: Name::from(self.operator.as_str()),
            count: self.values.len(),
        }
    }

    fn holds(&self, actual: Option<&Name>) -> bool {
        let compare = |better: fn(i64, i64) -> bool| {
            let actual = actual.and_then(|v| v.parse::<i64>().ok());
            let wanted = self.values.first().and_then(|v| v.parse::<i64>().ok());
            actual.zip(wanted).is_some_and(|(a, w)| better(a, w))
        };
        match self.operator {
            SelectorOperator::In => actual.is_some_and(|v| self.values.contains(v)),
            SelectorOperator::NotIn => actual.is_none_or(|v| !self.values.contains(v)),
            SelectorOperator::Exists => actual.is_some(),
            SelectorOperator::DoesNotExist => actual.is_none(),
            SelectorOperator::Gt => compare(|actual, wanted| actual > wanted),
            SelectorOperator::Lt => compare(|actual, wanted| actual < wanted),
            SelectorOperator::Other(_) => false,
        }
    }
}

impl NodeSelectorTerm {
    /// Whether nothing is asked; such a term matches no node.
    pub fn is_empty(&self) -> bool {
        self.match_expressions.is_empty() && self.match_fields.is_empty()
    }

    /// The first requirement that cannot be evaluated, if any.
    ///
    /// # Errors
    /// The reason why.
    pub fn check(&self) -> Result<(), SelectorError> {
        self.match_expressions.iter().try_for_each(Requirement::check_label)?;
        self.match_fields.iter().try_for_each(Requirement::check_field)
    }

    /// Whether a node of that name and those labels satisfies every requirement.
    pub fn matches(&self, name: &NodeName, labels: &Labels) -> bool {
        !self.is_empty()
            && self.match_expressions.iter().all(|r| r.holds(labels.get(&r.key)))
            && self.match_fields.iter().all(|r| r.key == "metadata.name" && r.holds(Some(&name.0)))
    }
}

impl NodeSelector {
    /// Strict matching, as `ResourceSlices` and allocations use it: one bad term spoils the whole.
    ///
    /// # Errors
    /// When any term cannot be evaluated, even if another one matches.
    pub fn matches_strictly(&self, name: &NodeName, labels: &Labels) -> Result<bool, SelectorError> {
        self.terms.iter().filter(|term| !term.is_empty()).try_for_each(NodeSelectorTerm::check)?;
        Ok(self.terms.iter().any(|term| term.matches(name, labels)))
    }

    /// Lenient matching, as pods' node affinity uses it: a bad term is no match.
    ///
    /// # Errors
    /// When no term matches and at least one cannot be evaluated.
    pub fn matches_leniently(&self, name: &NodeName, labels: &Labels) -> Result<bool, SelectorError> {
        let mut failure = None;
        for term in self.terms.iter().filter(|term| !term.is_empty()) {
            match term.check() {
                Ok(()) if term.matches(name, labels) => return Ok(true),
                Ok(()) => {}
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(false), Err)
    }

    /// The selector that only the node of that name satisfies.
    pub fn of_node(name: &NodeName) -> Self {
        let requirement = Requirement {
            key: Name::from("metadata.name"),
            operator: SelectorOperator::In,
            values: Box::new([name.0.clone()]),
        };
        Self {
            terms: Box::new([NodeSelectorTerm {
                match_expressions: Box::default(),
                match_fields: Box::new([requirement]),
            }]),
        }
    }
}
