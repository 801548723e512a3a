//! Compiles CEL device selectors and evaluates them with a cost limit. Pure.
