//! Tests of the room.

mod basics;
mod random;
mod shapes;
mod world;
