//! Inputs made to exhaust memory, time or the stack.
