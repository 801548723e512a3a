//! API objects to model and back, with checks; no network.
