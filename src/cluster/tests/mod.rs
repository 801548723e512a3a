//! Tests of what the room remembers.

mod cache;
