//! The command `repair`: removes the direct probes that a killed agent left.

use super::DEFAULT_NAME;
use crate::cli::Repair;
use crate::direct::repair;
use crate::error::{Diagnostic, Result, log};
use crate::target::process;

/// Returns the exit status: 1 if some instructions stay changed.
pub(super) fn repair(options: &Repair) -> Result<i32> {
    let name = options.name.as_deref().unwrap_or(DEFAULT_NAME);
    let pids = options.pid.map_or_else(|| process::find(name), |pid| vec![pid]);
    if let Some(pid) = options.pid {
        process::check(pid)?;
    }
    let mut complete = true;
    for pid in pids {
        let repaired = repair::repair(pid).map_err(|e| {
            let tried = format!("removing direct probes from process {pid} ({})", process::name(pid));
            Diagnostic::new(tried, &e, e.help())
        })?;
        log(&repair::words(pid, repaired));
        complete &= repaired.places.left == 0;
    }
    Ok(i32::from(!complete))
}
