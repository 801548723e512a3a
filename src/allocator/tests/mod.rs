//! Tests of the room.

mod basics;
mod kinds;
mod pools;
mod random;
mod reasons;
mod releases;
mod shapes;
mod world;
