//! Tests of the room.

mod basics;
mod random;
mod reasons;
mod shapes;
mod world;
