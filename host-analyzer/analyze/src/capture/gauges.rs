//! The sensors to request from the agent.

use profinfer_boards::{Board, Catalog};
use profinfer_wire::record::control::GaugeRequest;

use crate::{Diagnostic, Result};

/// The profile of sensors that many kernels have: frequencies of the cores, and temperatures.
const GENERIC: &str = "generic-aarch64";

/// The board whose sensors are read: this one, or the generic one if this one names no sensors or no board was named.
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

/// Its sensors, read `sample_hz` times per second; none for 0.
pub(crate) fn requests(board: &Board, sample_hz: u32) -> Vec<GaugeRequest<'_>> {
    1000u32.checked_div(sample_hz).map_or_else(Vec::new, |period_ms| board.gauge_plan(period_ms))
}
