//! Operators: per type, and per tensor.
//!
//! Stage: analysis. From: sums per node, executions. To: [`OpType`] and [`Operator`] rows.
//! Promises: in each phase the sums over types equal the sums over operators.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::shared::execution::{Executions, waits};
use crate::shared::group::{Groups, context_name};
use crate::shared::phase::{Phase, Phases};
use crate::shared::tally::{Cell, Computed, Tallies};
use crate::stats::percentile::percentile;
use profinfer_trace::model::{GraphCallId, Layer, Model, Node, NodeIdx, Text, Topology, TopologyId};

/// All operators of one type in one phase.
#[derive(Debug, Clone, PartialEq)]
pub struct OpType {
    pub phase: Phase,
    /// Backend that computed them.
    pub backend: String,
    /// Times show only the submission to the backend, see [`host_side`].
    pub host_side: bool,
    /// Operator, for example `MUL_MAT`.
    pub op: String,
    /// Description by the engine, for example `SILU` for a `UNARY`.
    pub desc: String,
    pub executions: u64,
    /// First start to last end over the threads, summed over executions, ns.
    pub wall_ns: u64,
    /// Median of the wall time of one execution, ns.
    pub median_ns: Option<u64>,
    /// The probes add more than a tenth of that median to an execution.
    pub biased: bool,
    /// Work, summed over threads and executions, ns.
    pub work_ns: u64,
    /// Wait at the barrier, summed over threads and executions, ns. `None` without end probes,
    /// where the work includes the wait.
    pub wait_ns: Option<u64>,
    /// Share of the phase's operator wall time on this backend, 0 to 1. If a filter excluded
    /// operators: share of the time of its graphs.
    pub share: f64,
}

/// One operator of a graph: all its executions in one phase of one context.
#[derive(Debug, Clone, PartialEq)]
pub struct Operator {
    pub phase: Phase,
    /// Backend that computed it.
    pub backend: String,
    pub pid: u32,
    /// Address of the context in hex; `None` for a graph outside of `llama_decode` calls.
    pub context: Option<String>,
    pub name: String,
    pub op: String,
    /// Description by the engine.
    pub desc: String,
    /// Position among the nodes with this name and operator, in graph order, from 1.
    pub nth: u32,
    pub dtype: String,
    /// Elements per dimension in the latest graph.
    pub ne: [u64; 4],
    /// Sources in the latest graph.
    pub src: Vec<Source>,
    pub executions: u64,
    /// First start to last end over the threads, summed over executions, ns.
    pub wall_ns: u64,
    /// Median of the wall time of one execution, ns.
    pub median_ns: Option<u64>,
    /// 95th percentile of the wall time of one execution, ns.
    pub p95_ns: Option<u64>,
    /// Work, summed over threads and executions, ns.
    pub work_ns: u64,
    /// Wait at the barrier, summed over threads and executions, ns. `None` without end probes,
    /// where the work includes the wait.
    pub wait_ns: Option<u64>,
    /// Share of the phase's operator wall time on this backend, 0 to 1. If a filter excluded
    /// operators: share of the time of its graphs.
    pub share: f64,
    /// Name of the last tensor that the same kernel also computed; `None` when not fused.
    pub fused: Option<String>,
}

/// A tensor that an operator reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub name: String,
    pub dtype: String,
    /// Elements per dimension.
    pub ne: [u64; 4],
    /// `node`, `weight`, `cache`, `input` or `other`.
    pub role: &'static str,
}

/// Operators in two groupings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Op {
    /// Per phase and type; within a phase the longest wall time first.
    pub types: Vec<OpType>,
    /// Per phase, context and tensor; within a phase the longest wall time first.
    pub operators: Vec<Operator>,
    /// Operator wall time, summed over executions, by [`Phase::index`], ns.
    pub wall_ns: [u64; Phase::COUNT],
    /// Time of the traced graphs of all backends, by [`Phase::index`], ns. 0 unless a filter
    /// excluded operators, because shares then do not refer to it.
    pub graph_ns: [u64; Phase::COUNT],
    /// Row in `operators` for each cell of the tallies; `u32::MAX` where nothing was executed.
    pub operator_of_cell: Vec<u32>,
}

/// Identity of an operator across topologies. Names alone do not suffice: an engine gives one name
/// to a matrix product and to the rotation of its result, and to both norms of one layer.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    phase: Phase,
    backend: Text,
    pid: u32,
    context: u64,
    name: Text,
    op: Text,
    desc: Text,
    nth: u32,
}

/// Phase, backend, operator, description.
type TypeKey = (Phase, Text, Text, Text);

impl Key {
    const fn of_type(&self) -> TypeKey {
        (self.phase, self.backend, self.op, self.desc)
    }
}

/// Operator wall time of each phase and backend, ns.
type Wholes = HashMap<(Phase, Text), u64>;

/// Time of the traced graphs of each phase and backend, ns: the base of shares when a filter
/// excluded operators.
fn graph_times(model: &Model, phases: &Phases) -> Wholes {
    let calls = &model.graph_calls;
    let mut wholes: Wholes = HashMap::new();
    for i in (0..calls.len()).filter(|i| calls.layer[*i] == Layer::Backend && phases.tracing.whole(*i)) {
        let sum = wholes.entry((phases.graph_calls[i], calls.backend[i])).or_default();
        *sum = sum.saturating_add(calls.duration_ns[i]);
    }
    wholes
}

fn whole(wholes: &Wholes, phase: Phase, backend: Text) -> u64 {
    wholes.get(&(phase, backend)).copied().unwrap_or(0)
}

/// Whether only the host side of a backend's operators is visible: the time to enqueue a kernel,
/// which itself runs later. OpenCL's `ggml_cl_compute_forward` ends with `clEnqueueNDRangeKernel`
/// and does not wait. RKNN's returns when the product is complete.
#[must_use]
pub fn host_side(backend: &str) -> bool {
    backend == "OpenCL"
}

struct Row {
    key: Key,
    sum: Cell,
    /// Topology with its latest dimensions.
    topology: TopologyId,
    node: NodeIdx,
    last_call: GraphCallId,
}

impl Op {
    #[must_use]
    pub fn compute(
        model: &Model,
        phases: &Phases,
        groups: &Groups,
        executions: &Executions,
        tallies: &Tallies,
    ) -> Self {
        let (rows, row_of_cell) = rows(model, groups, tallies);
        let mut wall_ns = [0_u64; Phase::COUNT];
        let mut graph_ns = [0_u64; Phase::COUNT];
        let mut wholes: Wholes = HashMap::new();
        for row in &rows {
            let of_backend = wholes.entry((row.key.phase, row.key.backend)).or_default();
            for sum in [&mut wall_ns[row.key.phase.index()], of_backend] {
                *sum = sum.saturating_add(row.sum.wall_ns);
            }
        }
        if model.capture.nodes_left_out() {
            wholes = graph_times(model, phases);
            wholes.iter().for_each(|((phase, _), ns)| graph_ns[phase.index()] += ns);
        }
        let (percentiles, medians) = percentiles(&rows, &row_of_cell, executions, tallies);
        let mut operators: Vec<_> = rows
            .iter()
            .zip(percentiles)
            .map(|(row, (median_ns, p95_ns))| Operator {
                median_ns,
                p95_ns,
                share: share(row.sum.wall_ns, whole(&wholes, row.key.phase, row.key.backend)),
                ..describe(model, row)
            })
            .enumerate()
            .collect();
        operators.sort_by_key(|(_, o)| (o.phase, Reverse(o.wall_ns)));
        let mut sorted = vec![u32::MAX; rows.len()];
        (0..).zip(&operators).for_each(|(at, (row, _))| sorted[*row] = at);
        let operator_of_cell: Vec<u32> =
            row_of_cell.iter().map(|row| sorted.get(*row as usize).copied().unwrap_or(u32::MAX)).collect();
        let operators: Vec<Operator> = operators.into_iter().map(|(_, o)| o).collect();
        let types = types(model, &rows, &wholes, &medians);
        Self { types, operators, wall_ns, graph_ns, operator_of_cell }
    }
}

/// Joins the cells of one operator over all topologies. Also returns the row of each cell.
fn rows(model: &Model, groups: &Groups, tallies: &Tallies) -> (Vec<Row>, Vec<u32>) {
    let mut rows: Vec<Row> = Vec::new();
    let mut ids: HashMap<Key, usize> = HashMap::new();
    let mut row_of_cell = vec![u32::MAX; tallies.len()];
    for computed in &tallies.computed {
        let group = groups.get(computed.group);
        let topology = model.topologies.get(computed.topology);
        let backend = group.backend;
        let nth = occurrences(topology);
        let cells = computed.cell_range().zip(tallies.cells(computed));
        for (((at, cell), node), (i, nth)) in cells.zip(&topology.nodes).zip((0..).map(NodeIdx).zip(nth)) {
            if cell.executions == 0 {
                continue;
            }
            let Node { name, op, desc, .. } = *node;
            let key = Key {
                phase: group.phase,
                backend,
                pid: group.pid,
                context: group.context,
                name,
                op,
                desc,
                nth,
            };
            let row = *ids.entry(key).or_insert_with(|| {
                rows.push(new_row(key, computed, i));
                rows.len() - 1
            });
            row_of_cell[at] = u32::try_from(row).unwrap_or(u32::MAX);
            rows[row].add(computed, i, cell);
        }
    }
    (rows, row_of_cell)
}

fn new_row(key: Key, computed: &Computed, node: NodeIdx) -> Row {
    Row { key, sum: Cell::default(), topology: computed.topology, node, last_call: computed.last_call }
}

impl Row {
    fn add(&mut self, computed: &Computed, node: NodeIdx, cell: &Cell) {
        self.sum.add(cell);
        if computed.last_call >= self.last_call {
            self.last_call = computed.last_call;
            self.topology = computed.topology;
            self.node = node;
            self.sum.last_node = cell.last_node;
        }
    }
}

/// For each node, its position among those with its name and operator, from 1.
fn occurrences(topology: &Topology) -> Vec<u32> {
    let mut seen: HashMap<(Text, Text, Text), u32> = HashMap::with_capacity(topology.nodes.len());
    let count = |n: &Node| {
        let nth = seen.entry((n.name, n.op, n.desc)).or_default();
        *nth += 1;
        *nth
    };
    topology.nodes.iter().map(count).collect()
}

/// Of wall times, ns; `None` for no times.
type MedianAndP95 = (Option<u64>, Option<u64>);

/// Median and 95th percentile of every row's wall times, and the median of every type's.
fn percentiles(
    rows: &[Row],
    row_of_cell: &[u32],
    executions: &Executions,
    tallies: &Tallies,
) -> (Vec<MedianAndP95>, HashMap<TypeKey, Option<u64>>) {
    // A counting sort: the values of each row are adjacent, and so are the rows of a type.
    let mut by_type: BTreeMap<TypeKey, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        by_type.entry(row.key.of_type()).or_default().push(at);
    }
    let mut places = vec![0..0; rows.len()];
    let mut of_types = Vec::with_capacity(by_type.len());
    let mut end = 0;
    for (key, rows_of_type) in by_type {
        let first = end;
        for row in rows_of_type {
            let start = end;
            end += usize::try_from(rows[row].sum.executions).unwrap_or(0);
            places[row] = start..end;
        }
        of_types.push((key, first..end));
    }
    let mut next: Vec<usize> = places.iter().map(|place| place.start).collect();
    let mut values = vec![0_u64; executions.len()];
    for (cell, wall_ns) in tallies.cell_of_execution.iter().zip(&executions.wall_ns) {
        let at = &mut next[row_of_cell[*cell as usize] as usize];
        values[*at] = *wall_ns;
        *at += 1;
    }
    let of_rows = places.into_iter().map(|place| {
        let values = &mut values[place];
        (percentile(values, 50), percentile(values, 95))
    });
    let of_rows = of_rows.collect();
    let of_types = of_types.into_iter().map(|(key, place)| (key, percentile(&mut values[place], 50)));
    (of_rows, of_types.collect())
}

fn describe(model: &Model, row: &Row) -> Operator {
    let text = |t: Text| model.texts.get(t).to_owned();
    let topology = model.topologies.get(row.topology);
    let node = topology.node(row.node);
    let source = |i: &(u8, NodeIdx)| {
        let n = topology.node(i.1);
        Source { name: text(n.name), dtype: text(n.dtype), ne: n.ne, role: n.role.name() }
    };
    Operator {
        phase: row.key.phase,
        backend: text(row.key.backend),
        pid: row.key.pid,
        context: context_name(row.key.context),
        name: text(node.name),
        op: text(node.op),
        desc: text(node.desc),
        nth: row.key.nth,
        dtype: text(node.dtype),
        ne: node.ne,
        src: node.src.iter().map(source).collect(),
        executions: row.sum.executions,
        wall_ns: row.sum.wall_ns,
        median_ns: None,
        p95_ns: None,
        work_ns: row.sum.work_ns,
        wait_ns: waits(model, row.sum.wait_ns),
        share: 0.0,
        fused: (row.sum.last_node != row.node.0)
            .then(|| text(topology.node(NodeIdx(row.sum.last_node)).name)),
    }
}

fn types(
    model: &Model,
    rows: &[Row],
    wholes: &Wholes,
    medians: &HashMap<TypeKey, Option<u64>>,
) -> Vec<OpType> {
    let mut sums: Vec<(TypeKey, Cell)> = Vec::new();
    let mut ids: HashMap<TypeKey, usize> = HashMap::new();
    for row in rows {
        let key = row.key.of_type();
        let at = *ids.entry(key).or_insert_with(|| {
            sums.push((key, Cell::default()));
            sums.len() - 1
        });
        sums[at].1.add(&row.sum);
    }
    sums.sort_by_key(|((phase, ..), sum)| (*phase, Reverse(sum.wall_ns)));
    sums.into_iter()
        .map(|(key, sum)| {
            let (phase, backend, op, desc) = key;
            let median_ns = medians.get(&key).copied().flatten();
            OpType {
                phase,
                host_side: host_side(model.texts.get(backend)),
                backend: model.texts.get(backend).to_owned(),
                op: model.texts.get(op).to_owned(),
                desc: model.texts.get(desc).to_owned(),
                executions: sum.executions,
                wall_ns: sum.wall_ns,
                median_ns,
                biased: median_ns.is_some_and(|ns| biased(model, ns)),
                work_ns: sum.work_ns,
                wait_ns: waits(model, sum.wait_ns),
                share: share(sum.wall_ns, whole(wholes, phase, backend)),
            }
        })
        .collect()
}

/// The probes add more than a tenth of this median to an operator's time.
fn biased(model: &Model, median_ns: u64) -> bool {
    model.health.probe_cost.is_some_and(|c| c.inside_ns.saturating_mul(10) > median_ns)
}

/// Share of a total, 0 to 1; 0 if the total is 0.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The row of the type, by row of the operators.
pub(super) fn type_of_operator(types: &[OpType], operators: &[Operator]) -> Vec<Option<usize>> {
    let of = |o: &Operator| {
        types
            .iter()
            .position(|t| (t.phase, &t.backend, &t.op, &t.desc) == (o.phase, &o.backend, &o.op, &o.desc))
    };
    operators.iter().map(of).collect()
}
