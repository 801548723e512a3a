//! A progress bar for simulations that take long.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Fewer pods than this are done before anybody looks.
const WORTH_SHOWING: usize = 200;

/// How far a simulation has come. Shows nothing unless it is asked to.
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// The progress of scheduling `pods` pods, on standard error.
    pub fn new(pods: usize, shown: bool) -> Self {
        if !shown || pods < WORTH_SHOWING {
            return Self { bar: ProgressBar::hidden() };
        }
        let length = u64::try_from(pods).unwrap_or(u64::MAX);
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr_with_hz(5));
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} pods, {eta} left") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(500));
        Self { bar }
    }

    /// `left` pods are left in this round.
    pub fn show(&self, left: usize) {
        let left = u64::try_from(left).unwrap_or(u64::MAX);
        self.bar.set_position(self.bar.length().unwrap_or(0).saturating_sub(left));
    }

    /// Takes the bar away.
    pub fn end(&self) {
        self.bar.finish_and_clear();
    }
}
