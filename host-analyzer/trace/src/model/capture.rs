//! Capture options for operators: in force, and refused.

use super::filter::{Filter, FilterOn};
use super::refusal::Refusal;

/// Which ends of an operator had a probe.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ends {
    /// Start and end.
    #[default]
    Both,
    /// The start only. A span's work includes the wait after it, and the wait alone is unknown.
    None,
}

/// An option of the capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CaptureOption {
    /// Share of the decode calls with operators.
    Duty,
    /// Starts only.
    Ends,
    /// Minimum speed.
    KeepAbove,
    /// Maximum slowdown.
    MaxSlowdown,
}

/// The options in force at the end of the session. Without a request, those that leave out nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// Configured share of the decode calls whose operators are captured, thousandths; 1000 is all.
    pub duty_permille: u16,
    /// Which ends of an operator had a probe.
    pub ends: Ends,
    /// Minimum speed of the controller, thousandths of a token per second.
    pub keep_above_milli: Option<u32>,
    /// Maximum slowdown over all tokens of the controller, millionths.
    pub max_slowdown_ppm: Option<u32>,
    /// Requested options that are not in force, in the order of [`CaptureOption`].
    pub refused: Vec<(CaptureOption, Refusal)>,
    /// Requested filters, in force or refused; at most one on each thing.
    pub filters: Vec<Filter>,
}

/// The share that means every decode call, thousandths.
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
    /// Filters in force.
    pub fn in_force(&self) -> impl Iterator<Item = &Filter> + '_ {
        self.filters.iter().filter(|f| f.in_force())
    }

    /// Operators of a captured graph call may be missing, because a filter left out nodes or
    /// threads.
    #[must_use]
    pub fn operators_left_out(&self) -> bool {
        self.in_force().any(|f| f.on.of_nodes() || f.on == FilterOn::Thread)
    }

    /// Spans of a thread may be missing between others of the same graph call, because a filter
    /// left them out.
    #[must_use]
    pub fn nodes_left_out(&self) -> bool {
        self.filters.iter().any(|f| f.in_force() && f.on.of_nodes())
    }
}
