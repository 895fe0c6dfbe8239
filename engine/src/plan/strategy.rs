//! The result of a plan, level by level: the way to trace it, or why there is none.

use super::types::EnginePlan;
use crate::facts::layout::NoLayout;
use crate::probes::evidence::{Evidence, Site};
use crate::probes::kind::{Level, ProbeKind};
use crate::probes::missing::Missing;
use crate::symbols::names::By;

/// How one level is traced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Strategy {
    /// The level.
    pub level: Level,
    /// The ways to trace it, each once, or why nothing can be probed.
    pub ways: Result<Vec<Way>, NoWay>,
    /// Symbols of the level that were searched and not found.
    pub without: Vec<String>,
}

/// A way to trace a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Way {
    /// By these functions, each with its clue if the file does not name it.
    Functions(Vec<(String, Option<By>)>),
    /// Operators by the function that is one, with these names.
    OperatorFunctions(Vec<String>),
    /// Operators by a function that was found by its behaviour.
    Structure,
    /// Operators by the calls of a function with which every operator begins.
    Calls {
        /// The function.
        symbol: String,
        /// Its clue, if the file does not name it.
        by: Option<By>,
        /// Number of calls of fused kernels besides.
        fused: usize,
    },
    /// A backend's operators, or nested calls, by this function of it.
    Backend {
        /// The backend.
        backend: String,
        /// Complete operators.
        whole: bool,
        /// The function.
        symbol: String,
    },
}

/// Why a level cannot be traced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoWay {
    /// Operators are found, but not the graph that they belong to.
    NoLayout(NoLayout),
    /// The first item of the search is missing.
    Missing(Missing),
    /// There was no file to examine.
    NoFile,
}

/// The strategy of every level.
#[must_use]
pub fn strategies(plan: &EnginePlan) -> [Strategy; 3] {
    Level::ALL.map(|level| strategy(plan, level))
}

fn strategy(plan: &EnginePlan, level: Level) -> Strategy {
    let missing: Vec<&Missing> = plan.missing.iter().filter(|m| m.kind.level() == level).collect();
    let without = missing.iter().map(|m| m.symbol.clone()).collect();
    let ways = ways(plan, level, missing.first().copied());
    Strategy { level, ways, without }
}

fn ways(plan: &EnginePlan, level: Level, missing: Option<&Missing>) -> Result<Vec<Way>, NoWay> {
    let sites = || plan.sites.iter().filter(|s| s.kind.level() == level && !s.kind.is_extra());
    if let (Level::Operator, Err(reason), Some(_)) = (level, &plan.layout, sites().next()) {
        return Err(NoWay::NoLayout(*reason));
    }
    let mut ways: Vec<Way> = Vec::new();
    for file in 0..plan.files.len() {
        let sites: Vec<&Site> = sites().filter(|s| s.file == file).collect();
        let way = if level == Level::Operator { operators(&sites) } else { functions(&sites) };
        for way in way.into_iter().chain(sites.iter().filter_map(|s| backend(s))) {
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
    }
    if ways.is_empty() {
        return Err(missing.map_or(NoWay::NoFile, |missing| NoWay::Missing(missing.clone())));
    }
    Ok(ways)
}

/// The clue for a site's function, if the file does not name it.
fn by(site: &Site) -> Option<By> {
    site.evidence.clue().map(|clue| clue.by())
}

fn functions(sites: &[&Site]) -> Option<Way> {
    let mut names: Vec<_> = sites.iter().map(|s| (s.symbol.clone(), by(s))).collect();
    names.dedup();
    (!names.is_empty()).then_some(Way::Functions(names))
}

/// A backend's function, with its relation to operators.
fn backend(site: &Site) -> Option<Way> {
    let Evidence::Backend { backend, .. } = &site.evidence else { return None };
    let whole = matches!(site.kind, ProbeKind::BackendOp(_));
    Some(Way::Backend { backend: backend.clone(), whole, symbol: site.symbol.clone() })
}

/// The operator level's way in one file.
fn operators(sites: &[&Site]) -> Option<Way> {
    let of = |kind| sites.iter().filter(move |s| s.kind == kind);
    if let Some(first) = of(ProbeKind::OpFunction).next() {
        if matches!(first.evidence, Evidence::Structure { .. }) {
            return Some(Way::Structure);
        }
        let mut names: Vec<_> = of(ProbeKind::OpFunction).map(|s| s.symbol.clone()).collect();
        names.dedup();
        return Some(Way::OperatorFunctions(names));
    }
    let start = of(ProbeKind::OpStart).next()?;
    Some(Way::Calls { symbol: start.symbol.clone(), by: by(start), fused: of(ProbeKind::OpFused).count() })
}
