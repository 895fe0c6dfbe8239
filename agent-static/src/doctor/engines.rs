//! The engine: which levels can be traced.

use std::fs::File;

use profinfer_wire::record::control::level;

use super::Row;
use crate::engine::elf::Image;
use crate::engine::{self, EnginePlan};
use crate::sys::file::map;
use crate::target::maps::code_files;
use crate::target::process::{self, Target};

/// The rows, and whether operators can be traced; `None` if no engine runs.
pub(super) fn rows(target: Option<&Target>) -> (Vec<Row>, Option<bool>) {
    let pids = match target {
        Some(Target::Pid(pid)) => vec![*pid],
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
            Ok(plan) => {
                let version = if plan.version.is_empty() { "version not stated" } else { &plan.version };
                rows.push(Row::info(name, version));
                let works = levels(&plan, &mut rows);
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

fn plan(pid: u32) -> Result<EnginePlan, String> {
    process::check(pid).map_err(|e| e.answer)?;
    let files = code_files(pid);
    let maps: Vec<_> = files
        .iter()
        .filter_map(|f| Some((f.path.clone(), map(&File::open(&f.open_path).ok()?).ok()?)))
        .collect();
    let images: Vec<_> = maps
        .iter()
        .filter_map(|(path, bytes)| Image::parse(path, bytes).ok())
        .filter(engine::is_engine_part)
        .collect();
    if images.is_empty() {
        return Err("no part of a GGML engine is mapped yet; try again when the model is loaded".to_owned());
    }
    Ok(engine::examine(&images))
}

/// A row for each level. True if operators can be traced.
fn levels(plan: &EnginePlan, rows: &mut Vec<Row>) -> bool {
    let mut operators = false;
    for (name, bit) in [("token", level::TOKEN), ("graph", level::GRAPH), ("operator", level::OP)] {
        let sites: Vec<_> = plan.sites.iter().filter(|s| s.mark.level() == bit).collect();
        let missing: Vec<String> = plan
            .missing
            .iter()
            .filter(|m| m.mark.level() == bit)
            .map(|m| format!("{}: {}", m.symbol, m.reason))
            .collect();
        let readable = bit != level::OP || plan.layout.is_some();
        let works = !sites.is_empty() && readable;
        operators |= works && bit == level::OP;
        let mut symbols: Vec<&str> = sites.iter().map(|s| s.symbol.as_str()).collect();
        symbols.dedup();
        let why = if readable { missing.join("; ") } else { plan.layout_note.clone() };
        rows.push(if works {
            Row::yes(format!("  {name} level"), symbols.join(", "))
        } else {
            Row::no(format!("  {name} level"), why)
        });
    }
    operators
}
