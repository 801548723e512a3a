//! Placeholder until the room stands.

fn main() {}
