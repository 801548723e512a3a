//! Tests of the room as a whole.

mod cases;
mod limits;
mod mistakes;
mod refused;
mod yaml;
