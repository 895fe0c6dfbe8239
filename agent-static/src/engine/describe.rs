//! A plan in words, for people.

use std::fmt::Write as _;

use super::EnginePlan;
use super::elf::Image;

/// The whole plan as text: files, sites, layout, tables, and what is missing and why.
///
/// `files` is the slice that the plan was made from.
#[must_use]
pub fn describe(plan: &EnginePlan, files: &[Image<'_>]) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut out, plan, files);
    out
}

fn write(out: &mut String, plan: &EnginePlan, files: &[Image<'_>]) -> std::fmt::Result {
    let version = if plan.version.is_empty() { "not stated" } else { &plan.version };
    writeln!(out, "version  {version}")?;
    for (number, (found, image)) in plan.files.iter().zip(files).enumerate() {
        let role = if found.role.is_empty() { "no part of an engine" } else { &found.role };
        let id: String = found.build_id.iter().map(|b| format!("{b:02x}")).collect();
        writeln!(out, "file {number}   {}\n         {role}; build id {id}", image.path())?;
    }
    for site in &plan.sites {
        let (mark, ret) = (site.mark.name(), if site.mark.has_return() { " and return" } else { "" });
        writeln!(out, "probe    {mark}{ret}: file {} offset {:#x}, {}", site.file, site.offset, site.symbol)?;
        writeln!(out, "         {}", site.note)?;
    }
    for missing in &plan.missing {
        writeln!(out, "missing  {}: {}\n         {}", missing.mark.name(), missing.symbol, missing.reason)?;
    }
    match &plan.layout {
        Some(layout) => writeln!(out, "layout   {layout:?}\n         {}", plan.layout_note)?,
        None => writeln!(out, "layout   none: {}", plan.layout_note)?,
    }
    let tables = &plan.tables;
    for (name, table) in [("ops", &tables.ops), ("unary", &tables.unary), ("glu", &tables.glu)] {
        writeln!(out, "{name:8} {}: {}", table.len(), table.join(" "))?;
    }
    write!(out, "types    {}:", tables.types.len())?;
    for (number, t) in tables.types.iter().enumerate().filter(|(_, t)| !t.name.is_empty()) {
        write!(out, " {number}={}({}/{})", t.name, t.block_elements, t.block_bytes)?;
    }
    writeln!(out)
}
