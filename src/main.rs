//! The `stowplan` command.

fn main() {}
