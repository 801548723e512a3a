//! Taints and tolerations, of nodes and of devices. Both worlds share one matching rule; devices
//! add the effect `None` (KEP-5055).

use super::ids::{Name, Timestamp};

/// What a taint does to those who do not tolerate it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TaintEffect {
    /// No new pod or allocation.
    NoSchedule,
    /// A node is avoided when another one will do. Nodes only.
    PreferNoSchedule,
    /// As `NoSchedule`, and what is there already is evicted.
    NoExecute,
    /// Information only. Devices only.
    None,
    /// An effect of a later release; it blocks nothing.
    Other(Name),
}

impl TaintEffect {
    /// Reads the effect as the API spells it.
    pub fn parse(text: &str) -> Self {
        match text {
            "NoSchedule" => Self::NoSchedule,
            "PreferNoSchedule" => Self::PreferNoSchedule,
            "NoExecute" => Self::NoExecute,
            "None" => Self::None,
            other => Self::Other(Name::from(other)),
        }
    }

    /// The effect as the API spells it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::NoSchedule => "NoSchedule",
            Self::PreferNoSchedule => "PreferNoSchedule",
            Self::NoExecute => "NoExecute",
            Self::None => "None",
            Self::Other(name) => name,
        }
    }

    /// Whether an untolerated taint of this effect keeps pods and claims away.
    pub fn blocks(&self) -> bool {
        matches!(self, Self::NoSchedule | Self::NoExecute)
    }
}

/// A mark on a node or device that keeps away what does not tolerate it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Taint {
    /// The key that tolerations name.
    pub key: Name,
    /// The value, often empty.
    pub value: Name,
    /// What it does.
    pub effect: TaintEffect,
    /// When it was added.
    pub time_added: Option<Timestamp>,
}

/// How a toleration's value is compared.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TolerationOperator {
    /// The values are equal; also what an absent operator means.
    Equal,
    /// Any value will do.
    Exists,
    /// An operator that this release does not know; it tolerates nothing.
    Other(Name),
}

/// The permission to use what carries a matching taint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Toleration {
    /// The taint's key; empty means every key.
    pub key: Name,
    /// How `value` is compared.
    pub operator: TolerationOperator,
    /// Whether the operator stood in the object (written back as it came).
    pub operator_given: bool,
    /// The taint's value, for `Equal`.
    pub value: Name,
    /// The taint's effect; absent means every effect.
    pub effect: Option<TaintEffect>,
    /// How long an eviction waits. No meaning for placement.
    pub toleration_seconds: Option<i64>,
}

impl Toleration {
    /// Whether this toleration covers `taint`.
    ///
    /// An empty key with `Equal` compares values only, as upstream does.
    pub fn tolerates(&self, taint: &Taint) -> bool {
        self.effect.as_ref().is_none_or(|effect| *effect == taint.effect)
            && (self.key.is_empty() || self.key == taint.key)
            && match self.operator {
                TolerationOperator::Equal => self.value == taint.value,
                TolerationOperator::Exists => true,
                TolerationOperator::Other(_) => false,
            }
    }
}

/// The first taint that blocks and that none of `tolerations` covers.
pub fn first_untolerated<'a>(taints: &'a [Taint], tolerations: &[Toleration]) -> Option<&'a Taint> {
    taints.iter().find(|taint| taint.effect.blocks() && !tolerations.iter().any(|t| t.tolerates(taint)))
}
