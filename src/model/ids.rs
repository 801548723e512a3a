//! Names and identities. Every id is a type of its own, so that a pool cannot be named without
//! its driver and a pod cannot be taken for a claim.

use std::borrow::Borrow;
use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

/// An immutable name, cheap to clone and ordered by bytes, as upstream orders its names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<str>);

impl Name {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The shared text itself, for interning.
    pub fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl Default for Name {
    fn default() -> Self {
        Self(Arc::from(""))
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Self {
        Self(Arc::from(text))
    }
}

impl From<String> for Name {
    fn from(text: String) -> Self {
        Self(Arc::from(text))
    }
}

impl From<Arc<str>> for Name {
    fn from(text: Arc<str>) -> Self {
        Self(text)
    }
}

impl Deref for Name {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for Name {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl PartialEq<str> for Name {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

impl PartialEq<&str> for Name {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == *other
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

macro_rules! named {
    ($(#[$doc:meta])* $id:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $id(pub Name);

        impl $id {
            /// The id as text.
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }
        }

        impl From<&str> for $id {
            fn from(text: &str) -> Self {
                Self(Name::from(text))
            }
        }

        impl From<String> for $id {
            fn from(text: String) -> Self {
                Self(Name::from(text))
            }
        }

        impl From<Name> for $id {
            fn from(name: Name) -> Self {
                Self(name)
            }
        }

        impl Borrow<str> for $id {
            fn borrow(&self) -> &str {
                self.0.as_str()
            }
        }

        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }
    };
}

named!(
    /// `metadata.name` of a Node.
    NodeName
);
named!(
    /// `metadata.name` of a `DeviceClass`.
    ClassName
);
named!(
    /// `metadata.uid` of any object.
    Uid
);
named!(
    /// The identity of one share of a device that several claims may hold (KEP-5075).
    ShareId
);

macro_rules! namespaced {
    ($(#[$doc:meta])* $id:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $id {
            /// `metadata.namespace`.
            pub namespace: Name,
            /// `metadata.name`.
            pub name: Name,
        }

        impl $id {
            /// The key of the object `namespace/name`.
            pub fn new(namespace: impl Into<Name>, name: impl Into<Name>) -> Self {
                Self { namespace: namespace.into(), name: name.into() }
            }
        }

        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}/{}", self.namespace, self.name)
            }
        }

        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

namespaced!(
    /// Namespace and name of a Pod.
    PodKey
);
namespaced!(
    /// Namespace and name of a `ResourceClaim`.
    ClaimKey
);

/// A pool of devices. Pool names are unique only within their driver.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct PoolId {
    /// The driver that publishes the pool.
    pub driver: Name,
    /// The pool's name.
    pub pool: Name,
}

impl PoolId {
    /// The pool `driver/pool`.
    pub fn new(driver: impl Into<Name>, pool: impl Into<Name>) -> Self {
        Self { driver: driver.into(), pool: pool.into() }
    }

    /// A device of this pool.
    pub fn device(&self, device: impl Into<Name>) -> DeviceId {
        DeviceId { pool: self.clone(), device: device.into() }
    }
}

impl fmt::Display for PoolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.driver, self.pool)
    }
}

impl fmt::Debug for PoolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A device: `driver/pool/device`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct DeviceId {
    /// The pool that lists the device.
    pub pool: PoolId,
    /// The device's name, unique in its pool.
    pub device: Name,
}

impl DeviceId {
    /// The device `driver/pool/device`.
    pub fn new(driver: impl Into<Name>, pool: impl Into<Name>, device: impl Into<Name>) -> Self {
        Self { pool: PoolId::new(driver, pool), device: device.into() }
    }

    /// The driver that publishes the device.
    pub fn driver(&self) -> &Name {
        &self.pool.driver
    }
}

impl fmt::Display for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.pool, self.device)
    }
}

impl fmt::Debug for DeviceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A moment, in nanoseconds since 1970-01-01T00:00:00Z. The pure rooms never ask for the present
/// one; they are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub i64);
