//! The command `doctor`: prints what works here.

use serde::Serialize;

use super::json;
use crate::cli::{Doctor, Format};
use crate::doctor;
use crate::error::{Diagnostic, Result};
use crate::target::process::Target;

/// What was found, for programs.
#[derive(Debug, Serialize)]
struct Examined<'a> {
    schema: u32,
    /// Operators can be traced here, as far as it is known.
    works: bool,
    /// Probes work on this kernel.
    probes: bool,
    /// Operators of the engines can be traced; `null` if no engine runs.
    operators: Option<bool>,
    /// What the two probes of an operator cost here; `null` if they cannot be attached.
    probe_pair_ns: Option<u64>,
    /// All that was tried: in each section rows with `name`, `verdict` (`yes`, `no`, `info`) and `text`, for people.
    sections: &'a [doctor::Section],
}

pub(super) fn doctor(options: &Doctor) -> Result<i32> {
    let target = match &options.name {
        Some(name) => Some(Target::Name { name: name.clone(), restarts: false }),
        None => options.pid.map(Target::Pid),
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
