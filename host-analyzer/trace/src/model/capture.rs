//! What of the engine's operators was captured: options in force, and what was refused.

use super::filter::{Filter, FilterOn};
use super::refusal::Refusal;

/// Which edges of an operator had a probe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ends {
    /// Start and end.
    #[default]
    Both,
    /// The start only. A span's work holds the wait behind it, and no wait is known.
    None,
}

/// An option of the capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CaptureOption {
    /// Share of the token calls with operators.
    Duty,
    /// Starts only.
    Ends,
    /// Speed not to fall under.
    KeepAbove,
    /// Slowdown not to exceed.
    MaxSlowdown,
}

/// The options in force at the end of the session. Where none was asked for, those that leave out nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// Share of the token calls whose operators were to be captured, thousandths; 1000 is all.
    pub duty_permille: u16,
    /// Which edges of an operator had a probe.
    pub ends: Ends,
    /// Speed that the controller kept, thousandths of a token per second.
    pub keep_above_milli: Option<u32>,
    /// Slowdown of all tokens that the controller kept, millionths.
    pub max_slowdown_ppm: Option<u32>,
    /// What was asked for and is not in force, in the order of [`CaptureOption`].
    pub refused: Vec<(CaptureOption, Refusal)>,
    /// Filters asked for, in force or refused; at most one on each thing.
    pub filters: Vec<Filter>,
}

/// Share of every token call, thousandths.
pub const ALWAYS: u16 = 1000;

impl Default for Capture {
    fn default() -> Self {
        Self {
            duty_permille: ALWAYS,
            ends: Ends::Both,
            keep_above_milli: None,
            max_slowdown_ppm: None,
            refused: Vec::new(),
            filters: Vec::new(),
        }
    }
}

impl Capture {
    /// Filters that work.
    pub fn in_force(&self) -> impl Iterator<Item = &Filter> + '_ {
        self.filters.iter().filter(|f| f.in_force())
    }

    /// Operators of a graph call that was captured may be missing, because a filter left out nodes or threads.
    #[must_use]
    pub fn operators_left_out(&self) -> bool {
        self.in_force().any(|f| f.on.of_nodes() || f.on == FilterOn::Thread)
    }

    /// Spans of a thread may be missing between others of the same graph call, because a filter left them out.
    #[must_use]
    pub fn nodes_left_out(&self) -> bool {
        self.filters.iter().any(|f| f.in_force() && f.on.of_nodes())
    }
}
