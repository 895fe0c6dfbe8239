//! The command `doctor`.

use serde::Serialize;

use super::json;
use crate::cli::{Doctor, Format};
use crate::doctor;
use crate::error::{Diagnostic, Result};
use crate::target::process::Target;

/// The result as JSON.
#[derive(Debug, Serialize)]
struct Examined<'a> {
    schema: u32,
    /// False if something known prevents operator tracing on this machine.
    works: bool,
    /// Probes work on this kernel.
    probes: bool,
    /// Operators of the running engines can be traced. `null` if no engine runs.
    operators: Option<bool>,
    /// Cost of the two probes of one operator. `null` if probes cannot be attached.
    probe_pair_ns: Option<u64>,
    /// Sections of rows, each with `name`, `verdict` (`yes`, `no`, `info`) and `text`, which is for
    /// people.
    sections: &'a [doctor::Section],
}

pub(super) fn doctor(options: &Doctor) -> Result<i32> {
    let target = match &options.name {
        Some(name) => Some(Target::Name { name: name.clone(), restarts: false }),
        None => options.pid.map(|pid| Target::Pid { pid, follow: false }),
    };
    let examined = doctor::examine(target.as_ref());
    match options.format.format {
        Format::Json => json::print(&Examined {
            schema: json::SCHEMA,
            works: examined.works(),
            probes: examined.probes,
            operators: examined.operators,
            probe_pair_ns: examined.probe_pair_ns,
            sections: &examined.sections,
        })?,
        Format::Text => doctor::write(&examined, &mut std::io::stdout().lock()).map_err(|e| {
            Diagnostic::new("writing the table", e, "redirect standard output to a terminal or a file")
        })?,
    }
    Ok(i32::from(!examined.works()))
}
