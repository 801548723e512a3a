//! Feature gates, by upstream's names and with the defaults of the release that is emulated.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// A minor release of Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum KubernetesVersion {
    /// 1.34
    V1_34,
    /// 1.35
    V1_35,
    /// 1.36
    V1_36,
    /// 1.37
    #[default]
    V1_37,
}

impl KubernetesVersion {
    /// All of them, oldest first.
    pub const ALL: [Self; 4] = [Self::V1_34, Self::V1_35, Self::V1_36, Self::V1_37];

    /// The release as users write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1_34 => "1.34",
            Self::V1_35 => "1.35",
            Self::V1_36 => "1.36",
            Self::V1_37 => "1.37",
        }
    }
}

impl fmt::Display for KubernetesVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

macro_rules! gates {
    ($($(#[$doc:meta])* $gate:ident = $defaults:expr;)*) => {
        /// A feature gate of kube-scheduler that changes what this project decides.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum FeatureGate { $($(#[$doc])* $gate,)* }

        impl FeatureGate {
            /// All gates.
            pub const ALL: &[Self] = &[$(Self::$gate,)*];

            /// Upstream's name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$gate => stringify!($gate),)* }
            }

            /// Default and whether it is locked, for 1.34, 1.35, 1.36 and 1.37.
            fn defaults(self) -> [State; 4] {
                match self { $(Self::$gate => $defaults,)* }
            }
        }
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not known to that release.
    Absent,
    /// Known and off.
    Off,
    /// Known and on.
    On,
    /// On, and cannot be turned off.
    Locked,
}
use State::{Absent, Locked, Off, On};

gates! {
    /// KEP-5018.
    DRAAdminAccess = [On, On, Locked, Locked];
    /// KEP-4816.
    DRAPrioritizedList = [On, On, On, Locked];
    /// KEP-4815.
    DRAPartitionableDevices = [Off, Off, On, On];
    /// KEP-5055.
    DRADeviceTaints = [Off, Off, On, On];
    /// KEP-5055, the rules.
    DRADeviceTaintRules = [Absent, Off, Off, On];
    /// KEP-5075.
    DRAConsumableCapacity = [Off, Off, On, On];
    /// KEP-5007.
    DRADeviceBindingConditions = [Off, Off, On, On];
    /// KEP-4817.
    DRAResourceClaimDeviceStatus = [On, On, On, Locked];
    /// KEP-5004.
    DRAExtendedResource = [Off, Off, On, Locked];
    /// KEP-5491.
    DRAListTypeAttributes = [Absent, Absent, Off, Off];
    /// Milli-unit arithmetic of capacity ranges; off in a stock 1.37.
    DRAFractionalCapacityRange = [Absent, Absent, Absent, Off];
    /// KEP-5963.
    DRADeviceCompatibilityGroups = [Absent, Absent, Absent, Off];
    /// Attributes computed for constraints.
    DRADerivedAttributes = [Absent, Absent, Absent, Off];
    /// Kubelet calls that a driver does without.
    DRAOptionalNodeOperations = [Absent, Absent, Absent, Off];
}

/// A change of kube-scheduler that came after the newest release known here, and that can be had
/// before: it alters what is feasible.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LaterChange {
    /// kubernetes/kubernetes#141898: a pool that is incomplete or contradicts itself keeps mode
    /// `All` from its own nodes, and no longer ends the whole attempt.
    UnusablePoolsAreLocal,
}

impl LaterChange {
    /// All of them.
    pub const ALL: &[Self] = &[Self::UnusablePoolsAreLocal];

    /// The number of upstream's pull request.
    pub fn number(self) -> u32 {
        match self {
            Self::UnusablePoolsAreLocal => 141_898,
        }
    }
}

/// Why a gate cannot be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateError {
    /// No such gate in that release.
    Unknown {
        /// The name given.
        name: String,
        /// The release.
        version: KubernetesVersion,
    },
    /// The gate is locked on.
    Locked {
        /// The gate.
        gate: FeatureGate,
        /// The release.
        version: KubernetesVersion,
    },
    /// No change of that number is known.
    UnknownChange {
        /// The number.
        number: u32,
    },
    /// The text is not `Gate=true|false`.
    Syntax {
        /// The text.
        text: String,
    },
}

impl fmt::Display for GateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { name, version } => {
                write!(f, "unrecognized feature gate {name:?} for Kubernetes {version}; known are: ")?;
                let known: Vec<_> = FeatureGate::ALL
                    .iter()
                    .filter(|gate| gate.state(*version) != Absent)
                    .map(|gate| gate.name())
                    .collect();
                f.write_str(&known.join(", "))
            }
            Self::Locked { gate, version } => write!(
                f,
                "cannot set feature gate {} to false: it is locked to true in Kubernetes {version}",
                gate.name()
            ),
            Self::UnknownChange { number } => {
                let known: Vec<_> =
                    LaterChange::ALL.iter().map(|change| change.number().to_string()).collect();
                write!(f, "no upstream change of number {number}; known are: {}", known.join(", "))
            }
            Self::Syntax { text } => write!(f, "{text:?} is not of the form Gate=true or Gate=false"),
        }
    }
}

impl std::error::Error for GateError {}

impl FeatureGate {
    fn state(self, version: KubernetesVersion) -> State {
        self.defaults()[version as usize]
    }
}

/// The gates of one emulated release.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Features {
    /// The release.
    pub version: KubernetesVersion,
    on: BTreeMap<FeatureGate, bool>,
    changes: BTreeSet<LaterChange>,
}

impl Default for Features {
    fn default() -> Self {
        Self::of(KubernetesVersion::default())
    }
}

impl Features {
    /// The defaults of a release.
    pub fn of(version: KubernetesVersion) -> Self {
        let on = FeatureGate::ALL.iter().map(|gate| (*gate, matches!(gate.state(version), On | Locked)));
        Self { version, on: on.collect(), changes: BTreeSet::new() }
    }

    /// Whether a gate is on.
    pub fn has(&self, gate: FeatureGate) -> bool {
        self.on.get(&gate).copied().unwrap_or(false)
    }

    /// The same with one gate set, whatever the release allows. For tests of single features.
    pub fn with(mut self, gate: FeatureGate, on: bool) -> Self {
        self.on.insert(gate, on);
        self
    }

    /// Sets gates from `Gate=true,Other=false`.
    ///
    /// # Errors
    /// A gate that the release does not know, one that is locked on, or bad syntax.
    pub fn set(&mut self, text: &str) -> Result<(), GateError> {
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let syntax = || GateError::Syntax { text: part.to_owned() };
            let (name, value) = part.split_once('=').ok_or_else(syntax)?;
            let value: bool = value.trim().to_ascii_lowercase().parse().map_err(|_| syntax())?;
            let gate = FeatureGate::ALL
                .iter()
                .copied()
                .find(|gate| gate.name() == name.trim() && gate.state(self.version) != Absent)
                .ok_or_else(|| GateError::Unknown { name: name.trim().to_owned(), version: self.version })?;
            if gate.state(self.version) == Locked && !value {
                return Err(GateError::Locked { gate, version: self.version });
            }
            self.on.insert(gate, value);
        }
        Ok(())
    }

    /// Whether a change that came after the release is followed all the same.
    pub fn follows(&self, change: LaterChange) -> bool {
        self.changes.contains(&change)
    }

    /// Follows the change of that number.
    ///
    /// # Errors
    /// No such change is known.
    pub fn follow(&mut self, number: u32) -> Result<(), GateError> {
        let known = LaterChange::ALL.iter().find(|change| change.number() == number);
        self.changes.insert(*known.ok_or(GateError::UnknownChange { number })?);
        Ok(())
    }

    /// Whether binding conditions are honoured: both gates of the feature are on.
    pub fn binding_conditions(&self) -> bool {
        self.has(FeatureGate::DRADeviceBindingConditions)
            && self.has(FeatureGate::DRAResourceClaimDeviceStatus)
    }
}
