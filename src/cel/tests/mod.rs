//! Expressions, devices and upstream's answers.

mod estimates;
mod hostile;
mod patterns;
mod upstream;
