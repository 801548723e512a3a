//! Decisions as text and data for people. Pure.
//!
//! [`status_line`] words a decision as kube-scheduler does; [`message`] adds what it leaves out: which
//! step took which devices away. [`DecisionView`] is the same as data.

mod details;
mod devices;
mod reasons;
mod status;
mod view;

pub use status::{message, status_line, text};
pub use view::DecisionView;

#[cfg(test)]
mod tests;
