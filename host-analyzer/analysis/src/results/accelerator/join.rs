//! The kernels of one profile, joined to the shapes of the nodes that its backend computed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::balance::{Balance, Kernels};
use super::candidate::{Candidates, Place};
use super::order::between;
use super::row::{Recorded, Sum, Sums};
use super::shape::{ShapeId, Shapes};
use crate::results::op::share;
use profinfer_trace::model::{
    AcceleratorProfile, KernelKind, KernelPart, Model, ProfileFormat, Text, TopologyId,
};

/// Largest number of listed kinds of kernels without a node.
const NAMED: usize = 20;

/// How well one profile matches the recording.
#[derive(Debug, Clone, PartialEq)]
pub struct ProfileJoin {
    /// The file.
    pub name: String,
    pub format: ProfileFormat,
    /// The backend of the recording whose nodes it was joined to; `None` if there is none.
    pub backend: Option<String>,
    pub kernels: u64,
    /// Time of the kernels on the device, ns.
    pub device_ns: u64,
    /// Kernels that match exactly one shape.
    pub joined: Part,
    /// Kernels that match several shapes, which the profile does not distinguish.
    pub grouped: Part,
    /// Kernels that match no node of the recording.
    pub unjoined: Part,
    /// Share of the time that is joined or grouped, 0 to 1.
    pub share: f64,
    /// Kernels that are not joined, longest first; at most 20 kinds.
    pub unjoined_kinds: Vec<Unjoined>,
    /// By operator of the backend, most executions first.
    pub operators: Vec<Balance>,
    /// Kernels that fused operators without naming them.
    pub unread_fusions: u64,
    /// Lines of the file.
    pub lines: u64,
    /// Lines of other output.
    pub other_lines: u64,
    /// Lines that are cut or mixed with another line.
    pub damaged_lines: u64,
    /// Rows beyond the limit.
    pub left_out_rows: u64,
    /// Incomplete blocks of a log.
    pub open_blocks: u64,
    /// First start to last end of a kernel on the device, ns; only with the trace.
    pub span_ns: Option<u64>,
    /// From the host's call to the submission, summed over kernels, ns; only with the trace.
    pub queued_ns: Option<u64>,
}

impl ProfileJoin {
    /// Every line was read, and every kernel matches one node or a group of indistinguishable
    /// nodes.
    #[must_use]
    pub const fn whole(&self) -> bool {
        self.unjoined.kernels == 0
            && self.damaged_lines == 0
            && self.left_out_rows == 0
            && self.open_blocks == 0
    }

    /// Executions of the backend without a kernel, and kernels without an execution.
    #[must_use]
    pub fn unequal(&self) -> (u64, u64) {
        self.operators.iter().fold((0, 0), |(without, beyond), row| {
            (row.without.saturating_add(without), row.beyond.saturating_add(beyond))
        })
    }
}

/// A part of the kernels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Part {
    pub kernels: u64,
    /// Their time on the device, ns.
    pub device_ns: u64,
}

impl Part {
    const fn add(&mut self, kernels: u64, device_ns: u64) {
        self.kernels = self.kernels.saturating_add(kernels);
        self.device_ns = self.device_ns.saturating_add(device_ns);
    }
}

/// Kernels of one kind without a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unjoined {
    /// As the profile writes it.
    pub text: String,
    pub why: Why,
    pub kernels: u64,
    /// Their time on the device, ns.
    pub device_ns: u64,
}

/// Why a kernel has no node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// The recording has no graph of that backend.
    NoBackend,
    /// The profile does not record what the kernel computed.
    NotTold,
    /// No node of the backend has this name, operator or shape.
    NoNode,
}

/// Possible matches of one kind of kernels.
#[derive(Debug, Default, Clone)]
struct Found {
    shapes: BTreeSet<ShapeId>,
    places: Vec<Place>,
}

/// Joins a profile, and adds its times to those of the shapes.
pub(super) fn join(
    model: &Model,
    profile: &AcceleratorProfile,
    shapes: &Shapes,
    recorded: &Recorded,
    sums: &mut Sums,
) -> ProfileJoin {
    let backend = recorded.backend(model, profile.format);
    let none = BTreeSet::new();
    let topologies = backend.and_then(|b| recorded.topologies(b)).unwrap_or(&none);
    let candidates = Candidates::compute(model, shapes, topologies);
    let found: Vec<Found> = profile.kinds.iter().map(|k| find(&candidates, shapes, k)).collect();
    let mut kernels = executed(model, recorded, shapes, backend, topologies);
    let ops: Vec<&str> = operators(model);
    let (mut joined, mut grouped) = (Part::default(), Part::default());
    let mut unjoined: BTreeMap<u32, Part> = BTreeMap::new();
    let mut named: BTreeSet<Place> = BTreeSet::new();
    for (at, row) in profile.rows.iter().enumerate() {
        let (Some(kind), Some(found_here)) =
            (profile.kinds.get(row.kind as usize), found.get(row.kind as usize))
        else {
            continue;
        };
        named.extend(&found_here.places);
        let of = if found_here.shapes.len() > 1 && profile.format.names_tensors() {
            by_order(&candidates, shapes, kind, profile, &found, at)
        } else {
            found_here.shapes.clone()
        };
        match (of.len(), backend) {
            (1.., Some(backend)) => {
                if of.len() == 1 { &mut joined } else { &mut grouped }.add(row.kernels, row.device_ns);
                let sum = sums.entry((of.iter().copied().collect(), backend)).or_default();
                add(sum, kind, row.kernels, row.device_ns, profile.format.names_tensors());
                for part in &kind.parts {
                    if let Some(op) = operator(part, &of, shapes) {
                        kernels.ran(op, part, row.kernels, &ops);
                    }
                }
            }
            _ => unjoined.entry(row.kind).or_default().add(row.kernels, row.device_ns),
        }
    }
    if profile.format.names_tensors() {
        for (topology, op) in candidates.unnamed(&named) {
            let calls = backend.map_or(0, |b| recorded.calls(b, topology));
            kernels.without(model.texts.get(op), calls);
        }
    }
    let (all, device_ns) = profile.total();
    let mut not = Part::default();
    unjoined.values().for_each(|p| not.add(p.kernels, p.device_ns));
    let unread_fusions = kernels.unread;
    ProfileJoin {
        name: profile.name.clone(),
        format: profile.format,
        backend: backend.map(|b| model.texts.get(b).to_owned()),
        kernels: all,
        device_ns,
        joined,
        grouped,
        unjoined: not,
        share: share(joined.device_ns.saturating_add(grouped.device_ns), device_ns),
        unjoined_kinds: unjoined_kinds(profile, &unjoined, backend),
        operators: kernels.balances(profile),
        unread_fusions,
        lines: profile.lines.read,
        other_lines: profile.lines.other,
        damaged_lines: profile.lines.damaged,
        left_out_rows: profile.lines.left_out,
        open_blocks: profile.lines.open_blocks,
        span_ns: profile.timeline.map(|t| t.span_ns),
        queued_ns: profile.timeline.map(|t| t.queued_ns),
    }
}

fn find(candidates: &Candidates<'_>, shapes: &Shapes, kind: &KernelKind) -> Found {
    let mut found = Found::default();
    for part in &kind.parts {
        if part.tensor.is_empty() {
            let fits = candidates.shapes(part);
            if fits.is_empty() {
                return Found::default();
            }
            found.shapes.extend(fits);
        } else {
            let places = candidates.places(part);
            found.shapes.extend(shapes_of(candidates, shapes, part, &places));
            found.places.extend(places);
        }
    }
    found
}

/// The shapes of nodes with a name. For fused nodes it is the shape of the first, where the sources
/// lead to it.
fn shapes_of(
    candidates: &Candidates<'_>,
    shapes: &Shapes,
    part: &KernelPart,
    places: &[Place],
) -> BTreeSet<ShapeId> {
    let first = |place: &Place| candidates.first(*place, part).unwrap_or(*place);
    places.iter().map(first).filter_map(|(topology, node)| shapes.of_node(topology, node)).collect()
}

/// The shapes of a name that are still possible, given the neighbouring rows.
fn by_order(
    candidates: &Candidates<'_>,
    shapes: &Shapes,
    kind: &KernelKind,
    profile: &AcceleratorProfile,
    found: &[Found],
    at: usize,
) -> BTreeSet<ShapeId> {
    /// Number of rows that are examined on each side.
    const AROUND: usize = 64;
    let all = |kind: u32| found.get(kind as usize).cloned().unwrap_or_default();
    let known = |row: usize| {
        let found = found.get(profile.rows[row].kind as usize)?;
        (found.shapes.len() == 1).then_some(&found.places)
    };
    let before = (at.saturating_sub(AROUND)..at).rev().find_map(known);
    let behind = (at + 1..profile.rows.len().min(at + 1 + AROUND)).find_map(known);
    let here = all(profile.rows[at].kind);
    let ([part], Some(before), Some(behind)) = (&kind.parts[..], before, behind) else { return here.shapes };
    let places = between(&here.places, before, behind);
    if places.is_empty() { here.shapes } else { shapes_of(candidates, shapes, part, &places) }
}

fn add(sum: &mut Sum, kind: &KernelKind, kernels: u64, device_ns: u64, several: bool) {
    sum.kernels = sum.kernels.saturating_add(kernels);
    sum.device_ns = sum.device_ns.saturating_add(device_ns);
    sum.several |= several;
    sum.at_once |= kind.parts.len() > 1;
    let fused: Vec<String> = kind.parts.iter().filter_map(fused).collect();
    let of = sum.fused.entry(fused.join(", ")).or_default();
    of.0 = of.0.saturating_add(kernels);
    of.1 = of.1.saturating_add(device_ns);
}

/// The fused operators of a kernel, in the engine's words.
fn fused(part: &KernelPart) -> Option<String> {
    match (part.fusion.as_str(), &part.behind[..]) {
        ("", []) => None,
        ("", behind) => Some(format!("{}+{}", part.op, behind.join("+"))),
        (fusion, _) => Some(fusion.to_owned()),
    }
}

/// The operator of a part, in the recording's words; `None` where shapes of several operators
/// match.
fn operator<'a>(part: &KernelPart, of: &BTreeSet<ShapeId>, shapes: &'a Shapes) -> Option<&'a str> {
    let is = |s: &super::Shape| part.op.is_empty() || part.op == s.op || part.op == s.desc;
    let mut ops = of.iter().map(|id| shapes.get(*id)).filter(|s| is(s)).map(|s| s.op.as_str());
    let first = ops.next()?;
    ops.all(|op| op == first).then_some(first)
}

/// Names of the operators of all graphs, for parsing the names of fusions.
fn operators(model: &Model) -> Vec<&str> {
    let ops: BTreeSet<Text> = model.topologies.rows.iter().flat_map(|t| &t.nodes).map(|n| n.op).collect();
    ops.into_iter().map(|op| model.texts.get(op)).filter(|op| !op.is_empty()).collect()
}

fn executed(
    model: &Model,
    recorded: &Recorded,
    shapes: &Shapes,
    backend: Option<Text>,
    topologies: &BTreeSet<TopologyId>,
) -> Kernels {
    let mut kernels = Kernels::default();
    for id in topologies {
        let calls = backend.map_or(0, |b| recorded.calls(b, *id));
        let topology = model.topologies.get(*id);
        for (node, _) in shapes.nodes(*id) {
            kernels.executed(model.texts.get(topology.node(node).op), calls);
        }
    }
    kernels
}

fn unjoined_kinds(
    profile: &AcceleratorProfile,
    unjoined: &BTreeMap<u32, Part>,
    backend: Option<Text>,
) -> Vec<Unjoined> {
    let mut rows: Vec<_> = unjoined
        .iter()
        .filter_map(|(kind, part)| Some((profile.kinds.get(*kind as usize)?, part)))
        .map(|(kind, part)| Unjoined {
            text: kind.text.clone(),
            why: match backend {
                None => Why::NoBackend,
                Some(_) if kind.parts.is_empty() => Why::NotTold,
                Some(_) => Why::NoNode,
            },
            kernels: part.kernels,
            device_ns: part.device_ns,
        })
        .collect();
    rows.sort_by_key(|r| Reverse(r.device_ns));
    rows.truncate(NAMED);
    rows
}
