//! Tests of the room as a whole.

mod cases;
mod limits;
mod mistakes;
mod objects;
mod refused;
mod yaml;
