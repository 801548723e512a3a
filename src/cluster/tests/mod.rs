//! Tests of what the room remembers and of what it writes.

mod cache;
mod commit;
mod server;
