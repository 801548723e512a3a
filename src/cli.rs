//! Raw arguments as typed.
