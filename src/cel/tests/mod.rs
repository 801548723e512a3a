//! Expressions, devices and upstream's answers.

mod hostile;
mod patterns;
mod upstream;
