//! The kinds of objects that are read.

use crate::model::KubernetesVersion;

/// A kind of object that matters for placing pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `v1 Node`.
    Node,
    /// `v1 Namespace`.
    Namespace,
    /// `v1 Pod`.
    Pod,
    /// `apps/v1 Deployment`.
    Deployment,
    /// `apps/v1 ReplicaSet`.
    ReplicaSet,
    /// `apps/v1 StatefulSet`.
    StatefulSet,
    /// `apps/v1 DaemonSet`.
    DaemonSet,
    /// `batch/v1 Job`.
    Job,
    /// `resource.k8s.io ResourceClaim`.
    ResourceClaim,
    /// `resource.k8s.io ResourceClaimTemplate`.
    ResourceClaimTemplate,
    /// `resource.k8s.io DeviceClass`.
    DeviceClass,
    /// `resource.k8s.io ResourceSlice`.
    ResourceSlice,
    /// `resource.k8s.io DeviceTaintRule`.
    DeviceTaintRule,
}

/// A version of an API group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// `v1alpha3`
    V1Alpha3,
    /// `v1beta1`
    V1Beta1,
    /// `v1beta2`
    V1Beta2,
    /// `v1`
    V1,
}

impl Version {
    /// All of them, oldest first.
    pub const ALL: [Self; 4] = [Self::V1Alpha3, Self::V1Beta1, Self::V1Beta2, Self::V1];

    /// The version as the API spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V1Alpha3 => "v1alpha3",
            Self::V1Beta1 => "v1beta1",
            Self::V1Beta2 => "v1beta2",
            Self::V1 => "v1",
        }
    }
}

/// What an `apiVersion` and `kind` name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// A kind that is read.
    Known(Kind, Version),
    /// A kind that is read, in a version that no release has or that is not read.
    WrongVersion(Kind),
    /// Some other kind.
    Other,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Node,
        Self::Namespace,
        Self::Pod,
        Self::Deployment,
        Self::ReplicaSet,
        Self::StatefulSet,
        Self::DaemonSet,
        Self::Job,
        Self::ResourceClaim,
        Self::ResourceClaimTemplate,
        Self::DeviceClass,
        Self::ResourceSlice,
        Self::DeviceTaintRule,
    ];

    /// The kind as the API spells it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Node => "Node",
            Self::Namespace => "Namespace",
            Self::Pod => "Pod",
            Self::Deployment => "Deployment",
            Self::ReplicaSet => "ReplicaSet",
            Self::StatefulSet => "StatefulSet",
            Self::DaemonSet => "DaemonSet",
            Self::Job => "Job",
            Self::ResourceClaim => "ResourceClaim",
            Self::ResourceClaimTemplate => "ResourceClaimTemplate",
            Self::DeviceClass => "DeviceClass",
            Self::ResourceSlice => "ResourceSlice",
            Self::DeviceTaintRule => "DeviceTaintRule",
        }
    }

    /// The API group; empty for the core.
    pub fn group(self) -> &'static str {
        match self {
            Self::Node | Self::Namespace | Self::Pod => "",
            Self::Deployment | Self::ReplicaSet | Self::StatefulSet | Self::DaemonSet => "apps",
            Self::Job => "batch",
            _ => "resource.k8s.io",
        }
    }

    /// Whether objects of this kind live in a namespace.
    pub fn is_namespaced(self) -> bool {
        !matches!(
            self,
            Self::Node | Self::Namespace | Self::DeviceClass | Self::ResourceSlice | Self::DeviceTaintRule
        )
    }

    /// The versions that are read, newest first.
    pub fn versions(self) -> &'static [Version] {
        match self {
            Self::DeviceTaintRule => &[Version::V1, Version::V1Beta2, Version::V1Alpha3],
            Self::ResourceClaim | Self::ResourceClaimTemplate | Self::DeviceClass | Self::ResourceSlice => {
                &[Version::V1, Version::V1Beta2, Version::V1Beta1]
            }
            _ => &[Version::V1],
        }
    }

    /// Whether a release has this kind in this version. Where an administrator must enable a
    /// version first, it counts as there.
    pub fn is_served(self, version: Version, release: KubernetesVersion) -> bool {
        let since = match (self, version) {
            (Self::DeviceTaintRule, Version::V1) => KubernetesVersion::V1_37,
            (Self::DeviceTaintRule, Version::V1Beta2) => KubernetesVersion::V1_36,
            _ => KubernetesVersion::V1_34,
        };
        self.versions().contains(&version) && release >= since
    }

    /// The kind that `apiVersion` and `kind` name.
    pub fn named(api_version: &str, kind: &str) -> Named {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let known = Self::ALL.into_iter().find(|known| known.as_str() == kind && known.group() == group);
        let Some(known) = known else { return Named::Other };
        let version = Version::ALL.into_iter().find(|v| v.as_str() == version);
        match version.filter(|version| known.versions().contains(version)) {
            Some(version) => Named::Known(known, version),
            None => Named::WrongVersion(known),
        }
    }
}
