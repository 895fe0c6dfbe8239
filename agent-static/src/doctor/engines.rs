//! Which levels of the running engines can be traced.

use std::fs::File;
use std::io;

use profinfer_engine::{EnginePlan, Image, Level, describe, examine, is_engine_part};

use super::Row;
use crate::bpf::backend_function;
use crate::sys::file::map;
use crate::target::files::code_files;
use crate::target::process::{self, Target};

/// The rows, and whether operators can be traced. `None` if no engine runs.
pub(super) fn rows(target: Option<&Target>) -> (Vec<Row>, Option<bool>) {
    let pids = match target {
        Some(Target::Pid { pid, .. }) => vec![*pid],
        Some(Target::Name { name, .. }) => process::find(name),
        Some(Target::Command { .. }) | None => process::find("llama*"),
    };
    if pids.is_empty() {
        let name = match target {
            Some(Target::Name { name, .. }) => name.as_str(),
            _ => "llama*",
        };
        return (vec![Row::info("none", format!("no process named {name} is running"))], None);
    }
    let mut rows = Vec::new();
    let mut operators = None;
    for pid in pids {
        let name = format!("{} ({pid})", process::name(pid));
        match plan(pid) {
            Ok((plan, unread)) => {
                let version = if plan.version.is_empty() { "version not stated" } else { &plan.version };
                rows.push(Row::info(name, version));
                for (path, e) in unread {
                    rows.push(Row::info(format!("  {path}"), format!("cannot be read: {e}")));
                }
                let ended = process::ended_by_return_probes(pid);
                rows.extend(ended.map(|why| Row::no("  probes", why)));
                let works = levels(&plan, &mut rows) && ended.is_none();
                operators = Some(operators.unwrap_or(true) && works);
            }
            Err(why) => {
                rows.push(Row::no(name, why));
                operators = Some(false);
            }
        }
    }
    (rows, operators)
}

/// The probe plan of a process, and its mapped files that cannot be read, each with the error.
fn plan(pid: u32) -> Result<(EnginePlan, Vec<(String, io::Error)>), String> {
    process::check(pid).map_err(|e| e.answer)?;
    let backends = backend_function::searched();
    let (mut maps, mut unread) = (Vec::new(), Vec::new());
    for file in code_files(pid) {
        match File::open(&file.open_path).and_then(|opened| map(&opened)) {
            Ok(bytes) => maps.push((file, bytes)),
            Err(e) => unread.push((file.path, e)),
        }
    }
    let images: Vec<_> = maps
        .iter()
        .filter_map(|(file, bytes)| Image::parse(&file.path, file.image(bytes)).ok())
        .filter(|image| is_engine_part(image, &backends))
        .collect();
    if images.is_empty() {
        let unread: String = unread.iter().map(|(path, e)| format!("; {path} cannot be read: {e}")).collect();
        return Err(format!(
            "no part of a GGML engine is mapped; try again when the model is loaded{unread}"
        ));
    }
    Ok((examine(&images, &backends), unread))
}

/// Adds one row per level. True if operators can be traced.
fn levels(plan: &EnginePlan, rows: &mut Vec<Row>) -> bool {
    let mut operators = false;
    for level in Level::ALL {
        let name = describe::level(level);
        let sites: Vec<_> = plan.sites.iter().filter(|s| s.kind.level() == level).collect();
        let missing: Vec<String> =
            plan.missing.iter().filter(|m| m.kind.level() == level).map(describe::missing).collect();
        let readable = level != Level::Operator || plan.layout.is_ok();
        let works = !sites.is_empty() && readable;
        operators |= works && level == Level::Operator;
        let mut symbols: Vec<String> = sites.into_iter().map(describe::symbol).collect();
        symbols.dedup();
        let why = if readable { missing.join("; ") } else { describe::layout(&plan.layout) };
        rows.push(if works {
            Row::yes(format!("  {name} level"), symbols.join(", "))
        } else {
            Row::no(format!("  {name} level"), why)
        });
    }
    operators
}
