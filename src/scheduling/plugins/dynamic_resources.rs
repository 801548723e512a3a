//! Claims and devices.
