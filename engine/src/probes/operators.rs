//! Where operators start and end in one file: a separate function, or the dispatch loop.
//!
//! Stage: before attaching. From: one file's [`Calls`]. To: the [`Site`]s of the operator level, as
//! a usable set or not at all. Builds up to spring 2025 have the function
//! `ggml_compute_forward(params, tensor)`, or the compiler's clones of it (`.part.0`,
//! `.constprop.0`, …). It is preferred where it is really called, because it includes every
//! operator and its return is the operator's end. Later builds: [`dispatch`](super::dispatch).
//! Where nothing has a name: [`structure`].

use super::dispatch::{self, Dispatcher, Waypoint};
use super::evidence::{Evidence, Site};
use super::kind::ProbeKind;
use super::missing::{Missing, MissingReason, NoFunction};
use super::{stripped, structure};
use crate::code::dataflow::Trace;
use crate::code::entry::{self, Stack};
use crate::facts::layout::Layout;
use crate::file::elf::Symbol;
use crate::file::unwind;
use crate::symbols::calls::Calls;
use crate::symbols::names::plain;

/// The function that runs one operator.
const FUNCTION: &str = "ggml_compute_forward";
/// Most operators of an engine that does not try other kernels first (before b4291).
const MOST_BEFORE_START: usize = 83;
/// Most clones of it that are examined; builds seen have two.
const MOST_FUNCTIONS: usize = 8;

/// Sites of the operator level in a file, and what is missing.
#[derive(Debug, Default)]
pub(crate) struct Operators {
    pub(crate) sites: Vec<Site>,
    pub(crate) missing: Vec<Missing>,
    /// Entries of the probed functions that are operators.
    pub(crate) functions: Vec<u64>,
    /// The probed loops over the nodes.
    pub(crate) loops: Vec<Dispatcher>,
}

/// Searches operators in the file with this index, in an engine with that many operators.
pub(crate) fn find(
    calls: &Calls<'_, '_>,
    file: usize,
    layout: Option<&Layout>,
    operators: usize,
) -> Operators {
    let mut found = Operators::default();
    let functions = functions(calls, layout);
    let dispatchers = dispatch::dispatchers(calls);
    if let Ok(functions) = &functions {
        let inside = dispatchers.as_ref().is_ok_and(|all| all.iter().all(|d| encloses(functions, d)));
        for (symbol, called) in functions {
            let stack = stack(functions.len());
            let Some(entry) = entry::entry(calls.image, symbol.address, symbol.size, stack) else { continue };
            let Some(offset) = calls.image.file_offset(entry.address) else { continue };
            found.functions.push(symbol.address);
            found.sites.push(Site {
                kind: ProbeKind::OpFunction,
                file,
                offset,
                symbol: symbol.name.to_owned(),
                evidence: Evidence::OperatorFunction {
                    callers: *called,
                    dispatches: inside,
                    entry: entry.address.saturating_sub(symbol.address),
                },
                mnemonic: entry.mnemonic,
                emulated: entry.emulated,
            });
        }
        if !found.sites.is_empty() {
            found.doubt_fused(dispatchers.is_err(), operators);
            return found;
        }
    }
    // The dispatcher may be that function without its name (stripped builds up to spring 2025): its
    // cases return, instead of meeting.
    let op = layout.map(|l| l.tensor_op);
    let by_structure: Vec<_> = match (&dispatchers, op) {
        (Ok(all), Some(op)) => {
            let function = |d: &Dispatcher| structure::function(calls, d.body.start, op, operators);
            all.iter().map(function).collect::<Option<_>>().unwrap_or_default()
        }
        (Err(_), Some(op)) => structure::functions(calls, op, operators),
        (_, None) => Vec::new(),
    };
    if found.add_by_structure(calls, file, &by_structure) {
        found.doubt_fused(dispatchers.is_err(), operators);
        return found;
    }
    match dispatchers {
        Ok(all) => {
            all.iter().for_each(|d| found.add(calls, file, d));
            // Graphs are numbered since b9842, like operators that are computed together.
            let fuses = layout.is_some_and(|l| l.graph_uid.is_some());
            if calls.stripped && fuses && all.iter().all(|d| d.fused.is_empty()) {
                found.miss(ProbeKind::OpFused, stripped::FUSED, MissingReason::FusedUnknown);
            }
            found.loops = all;
            found.loops.retain(|d| d.end.is_ok());
        }
        Err(start) => {
            let reason = MissingReason::NoOperators { start, function: functions.err() };
            found.miss(ProbeKind::OpStart, dispatch::START, reason);
        }
    }
    found
}

impl Operators {
    fn add(&mut self, calls: &Calls<'_, '_>, file: usize, dispatcher: &Dispatcher) {
        let end = match dispatcher.end {
            Ok(ref end) => end,
            Err(reason) => return self.miss(ProbeKind::OpEnd, dispatch::START, MissingReason::NoEnd(reason)),
        };
        for name in &dispatcher.unseen {
            self.miss(ProbeKind::OpFused, name, MissingReason::Unseen);
        }
        let sites = |kind, waypoints: &[Waypoint]| -> Vec<Site> {
            let site = |w: &Waypoint| {
                Some(Site {
                    kind,
                    file,
                    offset: calls.image.file_offset(w.address)?,
                    symbol: w.symbol.clone(),
                    mnemonic: w.mnemonic.clone(),
                    emulated: w.emulated,
                    evidence: w.evidence.clone(),
                })
            };
            waypoints.iter().filter_map(site).collect()
        };
        self.sites.extend(sites(ProbeKind::OpStart, &dispatcher.starts));
        self.sites.extend(sites(ProbeKind::OpFused, &dispatcher.fused));
        self.sites.extend(sites(ProbeKind::OpEnd, std::slice::from_ref(end)));
    }

    /// For a newer engine in which nothing calls the function that every dispatched node calls:
    /// records that calls were inlined, possibly those of fused kernels, too. Seen in a build with
    /// link-time optimisation (v0.5.0, RMS_NORM with MUL) and in a fork (ik_llama.cpp).
    fn doubt_fused(&mut self, inlined: bool, operators: usize) {
        if inlined && operators > MOST_BEFORE_START {
            self.miss(ProbeKind::OpFused, stripped::FUSED, MissingReason::FusedInlined);
        }
    }

    /// Adds operator functions without a name. Returns whether there are any.
    fn add_by_structure(&mut self, calls: &Calls<'_, '_>, file: usize, all: &[structure::Found]) -> bool {
        for found in all {
            let stack = stack(all.len());
            let Some(entry) = entry::entry(calls.image, found.address, found.size, stack) else { continue };
            let Some(offset) = calls.image.file_offset(entry.address) else { continue };
            let structure::Found { address, bound, kernels, callers, .. } = *found;
            self.functions.push(address);
            self.sites.push(Site {
                kind: ProbeKind::OpFunction,
                file,
                offset,
                symbol: String::new(),
                evidence: Evidence::Structure {
                    address,
                    bound,
                    kernels,
                    callers,
                    entry: entry.address.saturating_sub(address),
                },
                mnemonic: entry.mnemonic,
                emulated: entry.emulated,
            });
        }
        !self.sites.is_empty()
    }

    fn miss(&mut self, kind: ProbeKind, symbol: &str, reason: MissingReason) {
        self.missing.push(Missing { kind, symbol: symbol.to_owned(), reason });
    }
}

/// The functions that run one operator each, with the number of their callers, or why there are
/// none.
fn functions<'d>(
    calls: &Calls<'_, 'd>,
    layout: Option<&Layout>,
) -> Result<Vec<(Symbol<'d>, usize)>, NoFunction> {
    let all = calls.names.matching(is_function);
    if all.is_empty() {
        return Err(NoFunction::NotThere);
    }
    let op = layout.map_or(80, |l| l.tensor_op).into();
    let mut callers: Vec<(Symbol<'d>, usize)> = Vec::new();
    for symbol in all.into_iter().take(MOST_FUNCTIONS) {
        let sites = calls.sites(|name| name == symbol.name);
        // A clone that only another one calls would count operators twice.
        let outside = |(site, _): &&(u64, &str)| {
            let around = unwind::function_around(calls.image, *site).map(|(start, _)| start);
            !around.and_then(|start| calls.names.at(start)).is_some_and(|name| is_function(plain(name)))
        };
        let count = sites.iter().filter(outside).count();
        // A compiler may have changed the parameters of a clone.
        let takes_tensor = Trace::new(calls.image, symbol.address, 64).touches(1, op);
        if count > 0 && takes_tensor {
            callers.push((symbol, count));
        }
    }
    if callers.is_empty() {
        return Err(NoFunction::NotCalledSo);
    }
    Ok(callers)
}

/// `ggml_compute_forward` and its clones. `.cold` is a part that is jumped to.
fn is_function(name: &str) -> bool {
    let Some(rest) = name.strip_prefix(FUNCTION) else { return false };
    let parts = ["part", "constprop", "isra", "lto_priv"];
    rest.split('.').skip(1).all(|p| parts.contains(&p) || p.chars().all(|c| c.is_ascii_digit()))
        && (rest.is_empty() || rest.starts_with('.'))
}

/// An operator calls no other function whose return is probed, unless clones call each other.
const fn stack(functions: usize) -> Stack {
    if functions == 1 { Stack::MayMove } else { Stack::AsAtEntry }
}

fn encloses(functions: &[(Symbol<'_>, usize)], dispatcher: &Dispatcher) -> bool {
    functions.iter().any(|(f, _)| f.address == dispatcher.body.start)
}
