//! The command `repair`: puts back what an agent that was killed left of its direct probes.

use super::DEFAULT_NAME;
use crate::cli::Repair;
use crate::direct::repair;
use crate::error::{Diagnostic, Result, log};
use crate::target::process;

/// Repairs the processes that the command line names. The returned number is the exit status: 1 if some places stay changed.
pub(super) fn repair(options: &Repair) -> Result<i32> {
    let name = options.name.as_deref().unwrap_or(DEFAULT_NAME);
    let pids = options.pid.map_or_else(|| process::find(name), |pid| vec![pid]);
    if let Some(pid) = options.pid {
        process::check(pid)?;
    }
    let mut whole = true;
    for pid in pids {
        let repaired = repair::repair(pid).map_err(|e| {
            let tried = format!("taking direct probes out of process {pid} ({})", process::name(pid));
            Diagnostic::new(tried, &e, e.help())
        })?;
        log(&repair::words(pid, repaired));
        whole &= repaired.places.left == 0;
    }
    Ok(i32::from(!whole))
}
