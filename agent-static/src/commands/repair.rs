//! The command `repair`: removes the direct probes that a killed agent left.

use serde::Serialize;

use super::{DEFAULT_NAME, json};
use crate::cli::{Format, Repair};
use crate::direct::Refused;
use crate::direct::repair::{self, Repaired};
use crate::error::{Diagnostic, Result, log};
use crate::target::process;

/// Returns the exit status: 1 if some instructions stay changed.
pub(super) fn repair(options: &Repair) -> Result<i32> {
    let name = options.name.as_deref().unwrap_or(DEFAULT_NAME);
    let pids = options.pid.map_or_else(|| process::find(name), |pid| vec![pid]);
    if let Some(pid) = options.pid {
        process::check(pid)?;
    }
    let (mut complete, mut refused, mut processes) = (true, None, Vec::new());
    for pid in pids {
        let result = repair::repair(pid);
        processes.push(Process::new(pid, &result));
        match result {
            Ok(repaired) => {
                log(&repair::words(pid, repaired));
                complete &= repaired.places.left == 0;
            }
            Err(e) => {
                let tried = format!("removing direct probes from process {pid} ({})", process::name(pid));
                refused = Some(Diagnostic::new(tried, &e, e.help()));
                break;
            }
        }
    }
    if options.format.format == Format::Json {
        if let Some(error) = &refused {
            log(&error.to_string());
        }
        complete &= refused.is_none();
        json::print(&Repairs { schema: json::SCHEMA, complete, processes, error: refused })?;
    } else if let Some(error) = refused {
        return Err(error);
    }
    Ok(i32::from(!complete))
}

/// The object.
#[derive(Debug, Serialize)]
struct Repairs {
    schema: u32,
    complete: bool,
    processes: Vec<Process>,
    /// The refusal of the last process.
    error: Option<Diagnostic>,
}

#[derive(Debug, Serialize)]
struct Process {
    pid: u32,
    /// Pages of earlier sessions.
    pages: usize,
    places_put_back: u16,
    /// Places that another program has changed since.
    places_left: u16,
    /// Why nothing was done: the number of `why` in docs/wire-format.md.
    why: Option<u16>,
}

impl Process {
    fn new(pid: u32, result: &std::result::Result<Repaired, Refused>) -> Self {
        let found = result.as_ref().copied().unwrap_or_default();
        Self {
            pid,
            pages: found.pages,
            places_put_back: found.places.done,
            places_left: found.places.left,
            why: result.as_ref().err().map(Refused::why),
        }
    }
}
