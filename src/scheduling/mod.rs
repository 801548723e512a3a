//! One pod against one snapshot. Pure.
