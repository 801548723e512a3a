//! Placeholder until the room stands.
