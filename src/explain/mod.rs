//! Decisions as text and data for people. Pure.
