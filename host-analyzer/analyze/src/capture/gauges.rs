//! The sensors to request from the agent.

use profinfer_boards::{Board, Catalog};
use profinfer_wire::record::control::GaugeRequest;

use crate::{Diagnostic, Result};

/// The profile with the sensors that many kernels have: core frequencies and temperatures.
const GENERIC: &str = "generic-aarch64";

/// The board whose sensors are read: this one, or the generic one if no board is named or this one
/// has no sensors.
pub(crate) fn board(board: Option<&Board>) -> Result<Board> {
    match board {
        Some(board) if !board.uncore.is_empty() => Ok(board.clone()),
        _ => {
            let failed = |e: &dyn std::fmt::Display| {
                Diagnostic::new(
                    format!("reading the profile `{GENERIC}`"),
                    e,
                    "capture without sensors: --sample-hz 0",
                )
            };
            let catalog = Catalog::shipped().map_err(|e| failed(&e))?;
            catalog.find(GENERIC).cloned().map_err(|e| failed(&e))
        }
    }
}

/// Requests to read the sensors of `board` `sample_hz` times per second. None for 0.
pub(crate) fn requests(board: &Board, sample_hz: u32) -> Vec<GaugeRequest<'_>> {
    1000u32.checked_div(sample_hz).map_or_else(Vec::new, |period_ms| board.gauge_plan(period_ms))
}
