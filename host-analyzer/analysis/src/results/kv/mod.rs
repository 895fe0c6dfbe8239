//! What grows with the context: operator time per decode token as a function of the KV cells.
//!
//! Stage: analysis. From: decode calls, the cells of their attention, executions. To: one [`Kv`]
//! per context. Promises: too few steps give no figure; intervals are 95 % intervals.
//!
//! An engine pads the cells that attention covers, so they grow in steps. For each step, the median
//! over its tokens is used, and a line is fitted through these medians (`stats::fit`). Token times
//! use all tokens except those at an edge; operator times use traced tokens.

use std::collections::{BTreeMap, HashMap};

use crate::shared::execution::Executions;
use crate::shared::group::context_name;
use crate::shared::name::without_layer;
use crate::shared::phase::{Phase, Phases};
use crate::shared::tracing::Tracing;
use crate::stats::fit::{Line, Point};
use profinfer_trace::model::{LlamaCallId, Model, Role, Text, TopologyId, Traced};

/// One context.
#[derive(Debug, Clone, PartialEq)]
pub struct Kv {
    pub pid: u32,
    /// Address of the context in hex.
    pub context: Option<String>,
    /// Steps with enough tokens for a median.
    pub steps: Vec<Step>,
    /// Size of the context in cells, from its cache; `None` when unknown.
    pub limit_cells: Option<u64>,
    /// The complete `llama_decode` call; `None` with fewer than three steps, like everything below.
    pub token: Option<Growth>,
    /// A token with the cache full.
    pub at_limit: Option<Limit>,
    /// By operator type, largest growth first.
    pub types: Vec<Operators>,
    /// By tensor name without the layer number.
    pub names: Vec<Operators>,
}

/// Tokens with the same number of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Cells, padding included.
    pub cells: u64,
    /// Decode calls.
    pub tokens: u64,
    /// Median duration of the call, ns.
    pub median_ns: u64,
}

/// Growth of a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// Additional time per token for 1,000 more cells, ns.
    pub ns_per_1000_cells: i64,
    /// Low end of its interval, ns.
    pub low_ns: i64,
    /// High end of its interval, ns.
    pub high_ns: i64,
    /// The complete interval is above 0.
    pub grows: bool,
    /// Median per token of the largest step, ns.
    pub median_ns: u64,
    /// Share of the median `llama_decode` call there, 0 to 1.
    pub share: f64,
}

/// Operators that grow together.
#[derive(Debug, Clone, PartialEq)]
pub struct Operators {
    /// Tensor name without the layer number; `None` for a type.
    pub name: Option<String>,
    pub op: String,
    /// Description by the engine.
    pub desc: String,
    pub backend: String,
    /// Wall time of their executions per token.
    pub growth: Growth,
}

/// A token with the cache full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit {
    /// Duration of the call, ns.
    pub token_ns: u64,
    /// Low end of its interval, ns.
    pub low_ns: u64,
    /// High end of its interval, ns.
    pub high_ns: u64,
}

/// What is summed: operators of one type or of one name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Key {
    name: Option<String>,
    op: Text,
    desc: Text,
    backend: Text,
}

/// Process, context.
type Owner = (u32, u64);

/// The time of the operators of each decode call, by key.
struct Sums {
    keys: Vec<Key>,
    /// By row of `llama_calls`; empty for calls other than decode.
    by_call: Vec<Vec<u64>>,
}

/// The contexts of a session that decode, by first call.
#[must_use]
pub fn kv(model: &Model, phases: &Phases, executions: &Executions) -> Vec<Kv> {
    let d = &model.llama_calls;
    let cells = &phases.contexts;
    let mut tokens: Vec<(Owner, BTreeMap<u64, Vec<usize>>)> = Vec::new();
    // The time of a call at an edge includes inserting or removing probes.
    let times = |i: usize| d.status[i] == 0 && phases.tracing.llama_calls[i] != Traced::Edge;
    for i in (0..d.len()).filter(|i| phases.llama_calls[*i] == Phase::Decode && times(*i)) {
        let Some(n_kv) = cells[i].n_kv else { continue };
        let owner = (model.threads.get(d.thread[i]).pid, d.context[i]);
        let at = tokens.iter().position(|(o, _)| *o == owner).unwrap_or_else(|| {
            tokens.push((owner, BTreeMap::new()));
            tokens.len() - 1
        });
        tokens[at].1.entry(n_kv).or_default().push(i);
    }
    if tokens.is_empty() {
        return Vec::new();
    }
    let sums = sums(model, phases, executions);
    let limits = limits(model);
    let of = |(owner, steps): (Owner, BTreeMap<u64, Vec<usize>>)| {
        context(model, &phases.tracing, &sums, owner, &steps, limits.get(&owner).copied())
    };
    tokens.into_iter().map(of).collect()
}

fn context(
    model: &Model,
    tracing: &Tracing,
    sums: &Sums,
    owner: Owner,
    steps: &BTreeMap<u64, Vec<usize>>,
    limit: Option<u64>,
) -> Kv {
    let lengths =
        |calls: &[usize]| calls.iter().map(|c| model.llama_calls.duration_ns[*c]).collect::<Vec<u64>>();
    let points = |of: &dyn Fn(&[usize]) -> Vec<u64>| -> Vec<Point> {
        steps.iter().filter_map(|(cells, calls)| Point::new(*cells, &mut of(calls))).collect()
    };
    let traced = |calls: &[usize]| -> Vec<usize> {
        calls.iter().copied().filter(|c| tracing.llama_calls[*c] == Traced::Whole).collect()
    };
    let token = points(&lengths);
    let line = Line::through(&token);
    let whole = token.last().map_or(0.0, |p| p.median);
    let operators = (0..sums.keys.len()).filter_map(|key| {
        let of_key = |calls: &[usize]| {
            traced(calls).iter().map(|c| sums.by_call[*c].get(key).copied().unwrap_or(0)).collect()
        };
        let points = points(&of_key);
        let largest = points.iter().fold(0.0, |most: f64, p| most.max(p.median));
        let line = Line::through(&points).filter(|_| largest > 0.0)?;
        let text = |t: Text| model.texts.get(t).to_owned();
        let Key { name, op, desc, backend } = &sums.keys[key];
        Some(Operators {
            name: name.clone(),
            op: text(*op),
            desc: text(*desc),
            backend: text(*backend),
            growth: growth(&line, points.last()?, whole),
        })
    });
    let (mut names, mut types): (Vec<_>, Vec<_>) = operators.partition(|o| o.name.is_some());
    for rows in [&mut names, &mut types] {
        rows.sort_by_key(|o| std::cmp::Reverse(o.growth.ns_per_1000_cells));
    }
    let step = |p: &Point| Step { cells: p.x as u64, tokens: p.weight as u64, median_ns: p.median as u64 };
    Kv {
        pid: owner.0,
        context: context_name(owner.1),
        steps: token.iter().map(step).collect(),
        limit_cells: limit,
        token: line.zip(token.last()).map(|(line, last)| growth(&line, last, whole)),
        at_limit: line.zip(limit).map(|(line, cells)| {
            let (ns, half) = line.at(cells as f64);
            Limit { token_ns: ns as u64, low_ns: (ns - half) as u64, high_ns: (ns + half) as u64 }
        }),
        types,
        names,
    }
}

fn growth(line: &Line, last: &Point, whole: f64) -> Growth {
    let (slope, half) = (line.slope * 1e3, line.slope_error() * 1e3);
    Growth {
        ns_per_1000_cells: slope.round() as i64,
        low_ns: (slope - half).round() as i64,
        high_ns: (slope + half).round() as i64,
        grows: slope > half,
        median_ns: last.median as u64,
        share: if whole > 0.0 { last.median / whole } else { 0.0 },
    }
}

fn sums(model: &Model, phases: &Phases, executions: &Executions) -> Sums {
    let mut ids: HashMap<Key, usize> = HashMap::new();
    let mut of_topology: HashMap<(TopologyId, Text), Vec<(usize, usize)>> = HashMap::new();
    let mut by_call: Vec<Vec<u64>> = vec![Vec::new(); model.llama_calls.len()];
    let calls = &model.graph_calls;
    for (call, rows) in executions.by_call() {
        let c = call.0 as usize;
        let (Some(LlamaCallId(decode)), Some(topology)) = (calls.decode[c], calls.topology[c]) else {
            continue;
        };
        if phases.graph_calls[c] != Phase::Decode {
            continue;
        }
        let backend = calls.backend[c];
        let keys = of_topology.entry((topology, backend)).or_insert_with(|| {
            let mut id = |key: Key| {
                let next = ids.len();
                *ids.entry(key).or_insert(next)
            };
            let nodes = &model.topologies.get(topology).nodes;
            let of = |n: &profinfer_trace::model::Node| {
                let key = |name| Key { name, op: n.op, desc: n.desc, backend };
                (id(key(None)), id(key(Some(without_layer(model.texts.get(n.name))))))
            };
            nodes.iter().map(of).collect()
        });
        let sums = &mut by_call[decode as usize];
        for row in rows {
            let (kind, name) = keys[executions.node[row].0 as usize];
            for key in [kind, name] {
                if sums.len() <= key {
                    sums.resize(key + 1, 0);
                }
                sums[key] = sums[key].saturating_add(executions.wall_ns[row]);
            }
        }
    }
    let mut keys: Vec<(Key, usize)> = ids.into_iter().collect();
    keys.sort_unstable_by_key(|(_, id)| *id);
    Sums { keys: keys.into_iter().map(|(key, _)| key).collect(), by_call }
}

/// Cells of the largest cache of each context. A one-dimensional cache does not show the width of a
/// cell.
fn limits(model: &Model) -> HashMap<Owner, u64> {
    let of_topology: Vec<Option<u64>> = model
        .topologies
        .iter()
        .map(|(_, t)| {
            let leafs = t.nodes[t.n_nodes as usize..].iter();
            let keys =
                leafs.filter(|n| n.role == Role::Cache && model.texts.get(n.name).starts_with("cache_k"));
            keys.map(|n| n.ne[1]).max().filter(|cells| *cells > 1)
        })
        .collect();
    let calls = &model.graph_calls;
    let mut limits: HashMap<Owner, u64> = HashMap::new();
    for i in 0..calls.len() {
        if let (Some(LlamaCallId(d)), Some(topology)) = (calls.decode[i], calls.topology[i])
            && let Some(cells) = of_topology[topology.0 as usize]
        {
            let thread = model.llama_calls.thread[d as usize];
            let owner = (model.threads.get(thread).pid, model.llama_calls.context[d as usize]);
            let limit = limits.entry(owner).or_default();
            *limit = (*limit).max(cells);
        }
    }
    limits
}
