//! A complete plan, in words.

use std::fmt::Write as _;

use super::direct::direct;
use super::found::{kind, note, symbol};
use super::layout;
use super::missing::reason;
use super::way::{level, way};
use crate::file::elf::{Image, Machine};
use crate::plan::strategy::{NoWay, strategies};
use crate::plan::types::{EnginePlan, Role};
use crate::probes::evidence::Site;
use crate::probes::missing::Missing;

/// The complete plan as text: levels, files with their probes, layout, tables, and what is missing
/// and why.
///
/// `files` is the slice that the plan was made from. With `all`, it prints the names in the tables,
/// otherwise only their number.
#[must_use]
pub fn plan(plan: &EnginePlan, files: &[Image<'_>], all: bool) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = write(&mut out, plan, files, all);
    out
}

/// The roles of a file for an engine; empty when it is no part of one.
#[must_use]
pub fn roles(roles: &[Role]) -> String {
    let names: Vec<_> = roles
        .iter()
        .map(|role| match role {
            Role::Token => "token",
            Role::Graph => "graph",
            Role::CpuGraph => "CPU graph",
            Role::CpuOperators => "CPU operators",
            Role::BackendFunctions => "functions of backends",
            Role::NamesAndLayout => "names and layout",
        })
        .collect();
    names.join(", ")
}

fn write(out: &mut String, plan: &EnginePlan, files: &[Image<'_>], all: bool) -> std::fmt::Result {
    let version = if plan.version.is_empty() { "not stated" } else { &plan.version };
    writeln!(out, "version   {version}")?;
    let strategies = strategies(plan);
    for strategy in &strategies {
        let name = level(strategy.level);
        match way(strategy) {
            Ok(way) => writeln!(out, "{name:9} {way}")?,
            Err(reason) => writeln!(out, "{name:9} none: {reason}")?,
        }
    }
    for (number, (found, image)) in plan.files.iter().zip(files).enumerate() {
        let role =
            if found.roles.is_empty() { "no part of an engine".to_owned() } else { roles(&found.roles) };
        let id: String = found.build_id.iter().map(|b| format!("{b:02x}")).collect();
        let machine = match image.machine() {
            Machine::X86_64 => "x86-64",
            Machine::Arm64 => "arm64",
        };
        let id = if id.is_empty() { "no build id".to_owned() } else { format!("build id {id}") };
        writeln!(out, "\nfile {number}    {}\n          {role}; {machine}, {id}", image.path())?;
        plan.sites.iter().filter(|s| s.file == number).try_for_each(|s| site(out, s))?;
        if let Some(found) = &found.direct {
            writeln!(out, "direct    {}", direct(found).replace('\n', "\n          "))?;
        }
    }
    // A level's own line has already reported its missing items.
    let reported =
        |m: &Missing| strategies.iter().any(|s| matches!(&s.ways, Err(NoWay::Missing(first)) if first == m));
    for missing in plan.missing.iter().filter(|m| !reported(m)) {
        let (kind, reason) = (kind(missing.kind), reason(missing));
        writeln!(out, "\nmissing   {kind}: {}\n          {reason}", missing.symbol)?;
    }
    layout::write(out, plan)?;
    tables(out, plan, all)
}

fn site(out: &mut String, site: &Site) -> std::fmt::Result {
    let (kind, ret) = (kind(site.kind), if site.kind.has_return() { " and return" } else { "" });
    let (symbol, note) = (symbol(site), note(site));
    writeln!(out, "probe     {kind}{ret}: offset {:#x}, {symbol}\n          {note}", site.offset)
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
