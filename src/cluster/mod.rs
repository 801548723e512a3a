//! The live scheduler: watch, decide, write.
