//! The table: the time of each backend for each shape, on the host and on the device.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::shape::{Shape, ShapeId, Shapes};
use crate::results::op::host_side;
use crate::results::work::{Achieved, Done, Work, Works};
use crate::shared::group::Groups;
use crate::shared::tally::Tallies;
use profinfer_trace::model::{GraphCallId, Layer, Model, ProfileFormat, Text, TopologyId};

/// Operators of one shape on all backends that computed it; of several shapes where a profile does
/// not distinguish them.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The shape, or all shapes that the kernels match.
    pub shapes: Vec<Shape>,
    /// Backends that computed it, longest first.
    pub backends: Vec<OnBackend>,
}

/// Time of one backend for it.
#[derive(Debug, Clone, PartialEq)]
pub struct OnBackend {
    pub backend: String,
    /// Executions: nodes with the shape in the graphs that the backend computed, times their calls.
    pub executions: u64,
    /// Time on the host; `None` where the recording has no operators of the backend.
    pub host: Option<Host>,
    /// Time on the device; `None` without a profile that has it.
    pub device: Option<Device>,
}

impl OnBackend {
    /// The recording or a profile has its time.
    #[must_use]
    pub const fn timed(&self) -> bool {
        self.host.is_some() || self.device.is_some()
    }

    /// The longer one of its two times, for sorting, ns.
    pub(super) fn longest(&self) -> u64 {
        let host = self.host.as_ref().map_or(0, |h| h.wall_ns);
        self.device.as_ref().map_or(0, |d| d.device_ns).max(host)
    }
}

/// Time on the host.
#[derive(Debug, Clone, PartialEq)]
pub struct Host {
    /// The time is that of submitting operators to the backend, not of computing them.
    pub host_side: bool,
    /// Executions that were traced.
    pub executions: u64,
    /// First start to last end over the threads, summed over executions, ns.
    pub wall_ns: u64,
    /// Work done in that time.
    pub work: Done,
}

/// Time on the device.
#[derive(Debug, Clone, PartialEq)]
pub struct Device {
    pub kernels: u64,
    /// Time of the kernels by the device's clock, summed, ns.
    pub device_ns: u64,
    /// Work done in that time; `None` where it is unknown what these kernels computed, or in how
    /// many executions.
    pub work: Option<Done>,
    /// Other operators ran on the device at the same time.
    pub at_once: bool,
    /// Kernels that also computed further operators. Their work counts the first operator only.
    pub fused: Vec<Fused>,
}

/// Kernels that computed several operators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fused {
    /// The operators, in the engine's words.
    pub what: String,
    pub kernels: u64,
    /// Time of the kernels on the device, ns.
    pub device_ns: u64,
}

/// Kernels that were joined to the same shapes.
#[derive(Debug, Default)]
pub(super) struct Sum {
    pub(super) kernels: u64,
    pub(super) device_ns: u64,
    /// A node may have several kernels.
    pub(super) several: bool,
    pub(super) at_once: bool,
    /// Kernels and their time, ns, by fused operators; the empty text for kernels without fusion.
    pub(super) fused: BTreeMap<String, (u64, u64)>,
}

/// By shapes and backend.
pub(super) type Sums = BTreeMap<(Vec<ShapeId>, Text), Sum>;

/// What the recording has of each backend.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    /// Complete topologies that each backend computed, and how often.
    calls: BTreeMap<Text, BTreeMap<TopologyId, u64>>,
    topologies: BTreeMap<Text, BTreeSet<TopologyId>>,
    /// By shape and backend.
    on: BTreeMap<(ShapeId, Text), On>,
}

/// One shape on one backend.
#[derive(Debug, Default, Clone, Copy)]
struct On {
    executions: u64,
    traced: u64,
    wall_ns: u64,
    work: Work,
}

impl Recorded {
    pub(super) fn compute(
        model: &Model,
        groups: &Groups,
        tallies: &Tallies,
        achieved: &Achieved,
        shapes: &Shapes,
    ) -> Self {
        let mut all = Self::default();
        let backends: HashMap<_, _> = backend_calls(model).map(|i| (groups.of_call[i], ())).collect();
        for computed in &tallies.computed {
            let backend = groups.get(computed.group).backend;
            if !backends.contains_key(&Some(computed.group)) {
                continue;
            }
            if model.topologies.get(computed.topology).complete {
                let calls = all.calls.entry(backend).or_default().entry(computed.topology).or_default();
                *calls = calls.saturating_add(computed.calls);
                all.topologies.entry(backend).or_default().insert(computed.topology);
            }
            let first = computed.cell_range().start;
            let cells = tallies.cells(computed);
            for (node, shape) in shapes.nodes(computed.topology) {
                let at = node.0 as usize;
                let Some(cell) = cells.get(at) else { continue };
                let on = all.on.entry((shape, backend)).or_default();
                on.executions = on.executions.saturating_add(computed.calls);
                on.traced = on.traced.saturating_add(cell.executions);
                on.wall_ns = on.wall_ns.saturating_add(cell.wall_ns);
                if let Some(work) = achieved.cells.get(first + at) {
                    on.work.add(work);
                }
            }
        }
        all
    }

    /// The backend that wrote a profile. A backend whose name the agent does not know is used if
    /// there is only one.
    pub(super) fn backend(&self, model: &Model, format: ProfileFormat) -> Option<Text> {
        let named = |b: &&Text| model.texts.get(**b) == format.backend();
        let unknown = |b: &&Text| {
            let name = model.texts.get(**b);
            name.len() == 16 && name.bytes().all(|c| c.is_ascii_hexdigit())
        };
        let mut unknowns = self.topologies.keys().filter(unknown);
        let only = unknowns.next().filter(|_| unknowns.next().is_none());
        self.topologies.keys().find(named).or(only).copied()
    }

    pub(super) fn topologies(&self, backend: Text) -> Option<&BTreeSet<TopologyId>> {
        self.topologies.get(&backend)
    }

    /// How often a backend computed a topology.
    pub(super) fn calls(&self, backend: Text, topology: TopologyId) -> u64 {
        self.calls.get(&backend).and_then(|calls| calls.get(&topology)).copied().unwrap_or(0)
    }

    fn executions(&self, shapes: &[ShapeId], backend: Text) -> u64 {
        shapes.iter().filter_map(|s| self.on.get(&(*s, backend))).map(|on| on.executions).sum()
    }
}

fn backend_calls(model: &Model) -> impl Iterator<Item = usize> + '_ {
    (0..model.graph_calls.len()).filter(|i| model.graph_calls.layer[*i] == Layer::Backend)
}

/// Work of all executions of a shape on a device, and whether every execution had the same.
#[derive(Debug, Default, Clone, Copy)]
struct DeviceWork {
    all: Work,
    one: Option<Work>,
    differ: bool,
}

impl DeviceWork {
    fn add(&mut self, work: &Work) {
        self.all.add(work);
        self.differ |= *self.one.get_or_insert(*work) != *work;
    }

    fn join(&mut self, other: &Self) {
        self.all.add(&other.all);
        self.differ |= other.differ || self.one.is_some_and(|one| other.one.is_some_and(|o| o != one));
        self.one = self.one.or(other.one);
    }
}

/// The work of every execution on the backends that have profiles.
fn device_work(
    model: &Model,
    works: &Works,
    shapes: &Shapes,
    sums: &Sums,
) -> BTreeMap<(ShapeId, Text), DeviceWork> {
    let wanted: BTreeSet<Text> = sums.keys().map(|(_, backend)| *backend).collect();
    let mut all: BTreeMap<(ShapeId, Text), DeviceWork> = BTreeMap::new();
    for i in backend_calls(model) {
        let (backend, topology) = (model.graph_calls.backend[i], model.graph_calls.topology[i]);
        let (true, Some(topology)) = (wanted.contains(&backend), topology) else { continue };
        let call = GraphCallId(u32::try_from(i).unwrap_or(u32::MAX));
        for (node, shape) in shapes.nodes(topology) {
            all.entry((shape, backend)).or_default().add(&works.execution(model, call, node, node));
        }
    }
    all
}

/// The rows of all shapes that some backend computed.
pub(super) fn rows(
    model: &Model,
    works: &Works,
    shapes: &Shapes,
    recorded: &Recorded,
    mut sums: Sums,
) -> Vec<Row> {
    let device_work = device_work(model, works, shapes, &sums);
    let mut found: BTreeMap<Vec<ShapeId>, Vec<OnBackend>> = BTreeMap::new();
    let text = |backend: Text| model.texts.get(backend).to_owned();
    for ((shape, backend), on) in &recorded.on {
        let of = vec![*shape];
        let device = sums.remove(&(of.clone(), *backend));
        let device = device.map(|sum| device_of(&of, *backend, sum, recorded, &device_work));
        let name = text(*backend);
        let side = host_side(&name);
        let host = (on.traced > 0).then(|| Host {
            host_side: side,
            executions: on.traced,
            wall_ns: on.wall_ns,
            work: Done::new(&on.work, (!side).then_some(on.wall_ns)),
        });
        let row = OnBackend { backend: name, executions: on.executions, host, device };
        found.entry(of).or_default().push(row);
    }
    // The rest matches several shapes.
    for ((of, backend), sum) in sums {
        let executions = recorded.executions(&of, backend);
        let device = Some(device_of(&of, backend, sum, recorded, &device_work));
        let row = OnBackend { backend: text(backend), executions, host: None, device };
        found.entry(of).or_default().push(row);
    }
    let mut rows: Vec<Row> = found
        .into_iter()
        .map(|(of, mut backends)| {
            backends.sort_by_key(|b| Reverse(b.longest()));
            Row { shapes: of.iter().map(|s| shapes.get(*s).clone()).collect(), backends }
        })
        .collect();
    rows.sort_by_key(|r| Reverse(r.backends.first().map_or(0, OnBackend::longest)));
    rows
}

fn device_of(
    of: &[ShapeId],
    backend: Text,
    sum: Sum,
    recorded: &Recorded,
    device_work: &BTreeMap<(ShapeId, Text), DeviceWork>,
) -> Device {
    let mut work = DeviceWork::default();
    of.iter().filter_map(|s| device_work.get(&(*s, backend))).for_each(|t| work.join(t));
    let executions = recorded.executions(of, backend);
    let whole = if sum.several {
        executions > 0 && sum.kernels.is_multiple_of(executions)
    } else {
        sum.kernels == executions
    };
    let done = if sum.at_once {
        None
    } else if whole {
        Some(work.all)
    } else {
        // Each execution has the same work, so the work of any number of executions is known.
        work.one.filter(|_| !work.differ && !sum.several).map(|one| times(&one, sum.kernels))
    };
    let fused = sum
        .fused
        .into_iter()
        .filter(|(what, _)| !what.is_empty())
        .map(|(what, (kernels, device_ns))| Fused { what, kernels, device_ns })
        .collect();
    Device {
        kernels: sum.kernels,
        device_ns: sum.device_ns,
        work: done.map(|work| Done::new(&work, Some(sum.device_ns))),
        at_once: sum.at_once,
        fused,
    }
}

fn times(work: &Work, n: u64) -> Work {
    Work {
        weight_bytes: work.weight_bytes.saturating_mul(n),
        cache_bytes: work.cache_bytes.saturating_mul(n),
        activation_bytes: work.activation_bytes.saturating_mul(n),
        written_bytes: work.written_bytes.saturating_mul(n),
        operations: work.operations.saturating_mul(n),
        accuracy: work.accuracy,
    }
}
