//! A plan in words, for people.

use std::fmt::Write as _;

use super::elf::{Image, Machine};
use super::{EnginePlan, Site, strategies};

/// The whole plan as text: levels, files with their probes, layout, tables, and what is missing and why.
///
/// `files` is the slice that the plan was made from; `all` prints the names in the tables, not only how many there are.
#[must_use]
pub fn describe(plan: &EnginePlan, files: &[Image<'_>], all: bool) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut out, plan, files, all);
    out
}

fn write(out: &mut String, plan: &EnginePlan, files: &[Image<'_>], all: bool) -> std::fmt::Result {
    let version = if plan.version.is_empty() { "not stated" } else { &plan.version };
    writeln!(out, "version   {version}")?;
    for strategy in strategies(plan) {
        match strategy.way {
            Ok(way) => writeln!(out, "{:9} {way}", strategy.name)?,
            Err(reason) => writeln!(out, "{:9} none: {reason}", strategy.name)?,
        }
    }
    for (number, (found, image)) in plan.files.iter().zip(files).enumerate() {
        let role = if found.role.is_empty() { "no part of an engine" } else { &found.role };
        let id: String = found.build_id.iter().map(|b| format!("{b:02x}")).collect();
        let machine = match image.machine() {
            Machine::X86_64 => "x86-64",
            Machine::Arm64 => "arm64",
        };
        let id = if id.is_empty() { "no build id".to_owned() } else { format!("build id {id}") };
        writeln!(out, "\nfile {number}    {}\n          {role}; {machine}, {id}", image.path())?;
        plan.sites.iter().filter(|s| s.file == number).try_for_each(|s| site(out, s))?;
    }
    // What a level's own line has said is not said again.
    let said: Vec<_> = strategies(plan).into_iter().filter_map(|s| s.way.err()).collect();
    for missing in plan.missing.iter().filter(|m| !said.contains(&m.reason())) {
        writeln!(
            out,
            "\nmissing   {}: {}\n          {}",
            missing.mark.name(),
            missing.symbol,
            missing.reason
        )?;
    }
    layout(out, plan)?;
    tables(out, plan, all)
}

fn site(out: &mut String, site: &Site) -> std::fmt::Result {
    let (mark, ret) = (site.mark.name(), if site.mark.has_return() { " and return" } else { "" });
    writeln!(
        out,
        "probe     {mark}{ret}: offset {:#x}, {}\n          {}",
        site.offset, site.symbol, site.note
    )
}

fn layout(out: &mut String, plan: &EnginePlan) -> std::fmt::Result {
    let Some(layout) = &plan.layout else {
        return writeln!(out, "\nlayout    none: {}", plan.layout_note);
    };
    writeln!(out, "\nlayout    {}", plan.layout_note)?;
    for field in &plan.offsets {
        writeln!(out, "{:>9} {:4}  {}", field.field, field.offset, field.how)?;
    }
    match layout.graph_uid {
        Some(uid) => writeln!(out, "{:>9} {uid:4}  seen where the scheduler sets it", "uid"),
        None => writeln!(out, "{:>9}    -  the engine does not number its graphs", "uid"),
    }
}

fn tables(out: &mut String, plan: &EnginePlan, all: bool) -> std::fmt::Result {
    let tables = &plan.tables;
    writeln!(out)?;
    for (name, table) in [("operators", &tables.ops), ("unary", &tables.unary), ("glu", &tables.glu)] {
        let names = if all { table.join(" ") } else { String::new() };
        writeln!(out, "{}", format!("{name:9} {} {names}", table.len()).trim_end())?;
    }
    let named = || (0..).zip(&tables.types).filter(|(_, t)| !t.name.is_empty());
    write!(out, "types     {}", named().count())?;
    for (number, t) in named().filter(|_| all) {
        write!(out, " {number}={}({}/{})", t.name, t.block_elements, t.block_bytes)?;
    }
    writeln!(out)
}
