//! Which sensors to ask the agent for.

use profinfer_boards::{Board, Catalog};
use profinfer_wire::record::control::GaugeRequest;

use super::{Diagnostic, Result};

/// The profile whose sensors many kernels have: frequencies of the cores and temperatures.
const GENERIC: &str = "generic-aarch64";

/// The board that names the sensors: this one; where it names none, or none was named, the generic one.
pub(super) fn board(board: Option<&Board>) -> Result<Board> {
    match board {
        Some(board) if !board.uncore.is_empty() => Ok(board.clone()),
        _ => {
            let failed = |e: &dyn std::fmt::Display| {
                Diagnostic::new(format!("reading the profile `{GENERIC}`"), e, "use --sample-hz 0")
            };
            let catalog = Catalog::shipped().map_err(|e| failed(&e))?;
            catalog.find(GENERIC).cloned().map_err(|e| failed(&e))
        }
    }
}

/// Its sensors, read so often a second; none for 0.
pub(super) fn requests(board: &Board, sample_hz: u32) -> Vec<GaugeRequest<'_>> {
    1000u32.checked_div(sample_hz).map_or_else(Vec::new, |period_ms| board.gauge_plan(period_ms))
}
