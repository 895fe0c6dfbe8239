//! What a plan comes to, level by level: which way it takes, or why there is none.

use profinfer_wire::record::control::level;

use super::names::plain;
use super::operators::BY_STRUCTURE;
use super::{EnginePlan, Mark, Missing, Site, dispatch};

/// The levels that an engine's files are examined for, with their names.
pub const LEVELS: [(u32, &str); 3] =
    [(level::TOKEN, "token"), (level::GRAPH, "graph"), (level::OP, "operator")];

/// How one level is traced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strategy {
    /// One bit of [`level`].
    pub level: u32,
    /// The level's name.
    pub name: &'static str,
    /// What is probed, or why nothing can be.
    pub way: Result<String, String>,
}

/// The strategy of every level.
#[must_use]
pub fn strategies(plan: &EnginePlan) -> [Strategy; 3] {
    LEVELS.map(|(level, name)| Strategy { level, name, way: way(plan, level) })
}

fn way(plan: &EnginePlan, wanted: u32) -> Result<String, String> {
    let mut missing = plan.missing.iter().filter(|m| m.mark.level() == wanted);
    if wanted == level::OP && plan.layout.is_none() && plan.sites.iter().any(|s| s.mark.level() == wanted) {
        return Err(format!("the structs cannot be read: {}", plan.layout_note));
    }
    let mut ways: Vec<String> = Vec::new();
    for file in 0..plan.files.len() {
        let sites: Vec<_> =
            plan.sites.iter().filter(|s| s.file == file && s.mark.level() == wanted).collect();
        let way = if wanted == level::OP { operators(&sites) } else { functions(&sites) };
        ways.extend(way.filter(|way| !ways.contains(way)));
        ways.extend(
            sites.iter().filter_map(|s| backend(s)).filter(|way| !ways.contains(way)).collect::<Vec<_>>(),
        );
    }
    if ways.is_empty() {
        let nothing = || "no file was found that could be examined".to_owned();
        return Err(missing.next().map_or_else(nothing, Missing::reason));
    }
    let also: Vec<String> = missing.map(|m| format!("without {}", m.symbol)).collect();
    Ok([ways, also].concat().join(", "))
}

fn functions(sites: &[&Site]) -> Option<String> {
    let mut names: Vec<_> = sites.iter().map(|s| s.symbol.as_str()).collect();
    names.dedup();
    (!names.is_empty()).then(|| names.join(", "))
}

/// A backend's function, with what it is to operators.
fn backend(site: &Site) -> Option<String> {
    let function = site.mark.backend_function()?;
    let what = if function.whole { "operators" } else { "inner calls" };
    Some(format!("{} {what} by {}", function.backend(), site.symbol))
}

/// The operator level's way in one file.
fn operators(sites: &[&Site]) -> Option<String> {
    let of = |mark: Mark| sites.iter().filter(move |s| s.mark == mark).count();
    if of(Mark::OpFunction) > 0 {
        let mut names: Vec<_> =
            sites.iter().filter(|s| s.mark == Mark::OpFunction).map(|s| s.symbol.as_str()).collect();
        names.dedup();
        let what = if names == [BY_STRUCTURE] { "" } else { "function " };
        return Some(format!("{what}{}", names.join(", ")));
    }
    let start = sites.iter().find(|s| s.mark == Mark::OpStart)?;
    let fused = match of(Mark::OpFused) {
        0 => String::new(),
        n => format!(" and {n} fused"),
    };
    let what = if plain(&start.symbol).starts_with(dispatch::START) { "calls of " } else { "" };
    Some(format!("{what}{}{fused}", start.symbol))
}
