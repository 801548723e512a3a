//! Tests of the room as a whole.

mod cases;
mod mistakes;
mod yaml;
