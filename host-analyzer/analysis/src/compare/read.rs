//! Extraction of a run's work and environment from one recording.

use std::collections::{BTreeMap, BTreeSet};

use super::environment::{Environment, Thing, Value};
use crate::results::fact::Conditions;
use crate::results::gauge::gauges;
use crate::results::{ceiling, engine, weight};
use crate::shared::phase::Phases;
use profinfer_trace::model::{
    Ends, Layer, LlamaCallId, Memory, Model, Node, NodeIdx, OperatorProbes, Role, TopologyId, Traced,
};

/// The environment of the run with the `llama_decode` calls `calls`, all of process `pid`.
pub(super) fn environment(
    model: &Model,
    phases: &Phases,
    conditions: &Conditions,
    pid: u32,
    calls: &[usize],
) -> Environment {
    let mut found = Environment::default();
    let graphs = Graphs::compute(model, calls);
    found.set(Thing::Weights, graphs.weights(model));
    found.set(Thing::Experts, graphs.experts(model));
    found.set(Thing::KvCache, graphs.kv_cache(model));
    found.set(Thing::Operators, graphs.operators(model));
    found.set(Thing::Backends, Value::texts(graphs.backends));
    found.set(Thing::Draft, Value::text(if phases.pairs.is_empty() { "none" } else { "draft" }));
    found.set(Thing::Capture, capture(model));
    of_process(model, pid, &mut found);
    found.set(Thing::Threads, threads(model, phases, calls));
    let cells = calls.iter().filter_map(|i| phases.contexts[*i].n_kv).max();
    found.set(Thing::Cells, Value::number(cells.map(|n| n as f64)));
    let prompt = calls.first().and_then(|i| phases.contexts[*i].n_past);
    found.set(Thing::Prompt, Value::number(prompt.map(f64::from)));
    of_machine(model, &mut found);
    of_conditions(model, conditions, pid, &mut found);
    measured(model, phases, &mut found);
    found
}

/// The graphs that the compared calls computed.
struct Graphs {
    topologies: BTreeSet<TopologyId>,
    /// How often backends computed each graph.
    computed: BTreeMap<TopologyId, u64>,
    backends: BTreeSet<String>,
    /// All tensors of every graph arrived.
    complete: bool,
}

impl Graphs {
    fn compute(model: &Model, calls: &[usize]) -> Self {
        let chosen: BTreeSet<usize> = calls.iter().copied().collect();
        let graphs = &model.graph_calls;
        let mut found = Self {
            topologies: BTreeSet::new(),
            computed: BTreeMap::new(),
            backends: BTreeSet::new(),
            complete: true,
        };
        for i in 0..graphs.len() {
            let within = matches!(graphs.decode[i], Some(LlamaCallId(d)) if chosen.contains(&(d as usize)));
            if !within {
                continue;
            }
            if graphs.layer[i] == Layer::Backend {
                found.backends.insert(model.texts.get(graphs.backend[i]).to_owned());
            }
            let Some(topology) = graphs.topology[i] else { continue };
            found.complete &= model.topologies.get(topology).complete;
            found.topologies.insert(topology);
            if graphs.layer[i] == Layer::Backend {
                *found.computed.entry(topology).or_default() += 1;
            }
        }
        found.complete &= !found.topologies.is_empty();
        found
    }

    fn nodes<'m>(&'m self, model: &'m Model) -> impl Iterator<Item = &'m Node> + 'm {
        self.topologies.iter().flat_map(|t| &model.topologies.get(*t).nodes)
    }

    /// Whether a weight exists once or twice, for example repacked, depends on the build.
    fn weights(&self, model: &Model) -> Value {
        let weights = self.nodes(model).filter(|n| n.role == Role::Weight);
        let text = |n: &Node| {
            let [a, b, c, d] = n.ne;
            format!("{} {} {a}×{b}×{c}×{d}", model.texts.get(n.name), model.texts.get(n.dtype))
        };
        if self.complete { Value::texts(weights.map(text)) } else { Value::Unknown }
    }

    /// The ids of the experts that a `MUL_MAT_ID` reads have one row per token.
    fn experts(&self, model: &Model) -> Value {
        let mut used = BTreeSet::new();
        for topology in self.topologies.iter().map(|t| model.topologies.get(*t)) {
            for node in (0..topology.n_nodes).map(|i| topology.node(NodeIdx(i))) {
                let ids = node.src.iter().find(|(slot, _)| *slot == 2).map(|(_, ids)| topology.node(*ids));
                if model.texts.get(node.op) == "MUL_MAT_ID" {
                    used.extend(ids.map(|ids| ids.ne[0].to_string()));
                }
            }
        }
        match (self.complete, used.is_empty()) {
            (false, _) => Value::Unknown,
            (true, true) => Value::text("none"),
            (true, false) => Value::texts(used),
        }
    }

    fn kv_cache(&self, model: &Model) -> Value {
        let caches = self.nodes(model).filter(|n| n.role == Role::Cache);
        Value::texts(caches.map(|n| model.texts.get(n.dtype).to_owned()))
    }

    /// Of the most frequent graph. Empty operators (views) count too, because engines differ in
    /// them.
    fn operators(&self, model: &Model) -> Value {
        let most = self.computed.iter().max_by_key(|(id, n)| (**n, std::cmp::Reverse(**id)));
        let Some(topology) = most.map(|(id, _)| model.topologies.get(*id)).filter(|t| t.complete) else {
            return Value::Unknown;
        };
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for node in &topology.nodes[..topology.n_nodes as usize] {
            *counts.entry(model.texts.get(node.desc)).or_default() += 1;
        }
        Value::texts(counts.into_iter().map(|(op, n)| format!("{n} {op}")))
    }
}

/// Levels and probes, as far as they affect the slowdown of a token.
fn capture(model: &Model) -> Value {
    let levels = model.session.levels.iter().map(|l| format!("level {}", l.name()));
    let ends = match model.capture.ends {
        Ends::Both => "start and end probes on operators",
        Ends::None => "start probes on operators",
    };
    let duty = format!("{} of 1000 llama_decode calls", model.capture.duty_permille);
    let direct = |p: &OperatorProbes| p.refused.is_none();
    let probes = if model.health.operator_probes.iter().any(direct) { "direct probes" } else { "uprobes" };
    let counters =
        model.session.counters.iter().filter(|c| c.attached).map(|c| format!("counter {}", c.name));
    let filters = model.capture.in_force().map(|f| format!("filter on {:?}", f.on));
    if model.session.levels.is_empty() {
        return Value::Unknown;
    }
    let fixed = [ends.to_owned(), duty, probes.to_owned()];
    Value::texts(levels.chain(fixed).chain(counters).chain(filters))
}

fn of_process(model: &Model, pid: u32, found: &mut Environment) {
    let session = &model.session;
    let process = session.processes.iter().find(|p| p.pid == pid);
    let engine = engine::engines(model).into_iter().find(|e| e.pid == pid);
    found.set(Thing::EngineVersion, Value::text(process.map_or("", |p| &p.engine_version)));
    found.set(Thing::Command, Value::text(process.map_or("", |p| &p.command)));
    let of_process = session.libraries.iter().filter(|l| l.pid == pid);
    let builds = of_process.filter(|l| !l.build_id.is_empty());
    let file = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
    found.set(Thing::EngineBuild, Value::texts(builds.map(|l| format!("{} {}", file(&l.path), l.build_id))));
    let variant = engine.and_then(|e| e.cpu_variant.or_else(|| e.cpu_library.map(|path| file(&path))));
    found.set(Thing::CpuVariant, Value::text(&variant.unwrap_or_default()));
    let mapped = model.buffers.iter().filter(|b| b.pid == pid && b.memory == Memory::File);
    found.set(Thing::ModelFile, Value::texts(mapped.map(|b| file(&b.path)).filter(|f| !f.is_empty())));
    let weights = weight::weights(model).into_iter().filter(|w| w.pid == pid);
    let buffers = weights
        .flat_map(|w| w.buffers)
        .map(|b| format!("{} ({})", b.buffer.as_deref().unwrap_or("unknown buffer"), b.memory.name()));
    found.set(Thing::Buffers, Value::texts(buffers));
}

/// Largest number of threads that computed one completely traced `llama_decode` call.
fn threads(model: &Model, phases: &Phases, calls: &[usize]) -> Value {
    let whole: BTreeSet<usize> =
        calls.iter().copied().filter(|i| phases.tracing.llama_calls[*i] == Traced::Whole).collect();
    let mut most = None;
    for (call, rows) in model.spans.by_call() {
        let decode = model.graph_calls.decode[call.0 as usize];
        if decode.is_some_and(|d| whole.contains(&(d.0 as usize))) {
            most = most.max(Some(model.spans.by_thread(rows).count()));
        }
    }
    Value::number(most.map(|n| n as f64))
}

fn of_machine(model: &Model, found: &mut Environment) {
    let session = &model.session;
    found.set(Thing::Board, Value::text(&session.board));
    found.set(Thing::Cpu, Value::text(&session.cpu_model));
    found.set(Thing::Cpus, Value::number((session.cpus > 0).then(|| f64::from(session.cpus))));
    found.set(Thing::Kernel, Value::text(&session.kernel));
    found.set(Thing::Agent, Value::text(&session.agent));
    let whole = if model.health.perfect() { "nothing lost" } else { "something lost" };
    found.set(Thing::Losses, Value::text(whole));
}

fn of_conditions(model: &Model, conditions: &Conditions, pid: u32, found: &mut Environment) {
    let list = |cpus: &[u16]| cpus.iter().map(u16::to_string).collect::<Vec<_>>().join(",");
    if let Some(process) = conditions.process(pid) {
        let own = process.affinity.value().map(|cpus| format!("CPUs {}", list(cpus)));
        let of_process = |tid: u32| model.threads.iter().any(|(_, t)| t.tid == tid && t.pid == pid);
        let of_threads = conditions.threads.iter().filter(|t| of_process(t.tid));
        let of_threads =
            of_threads.filter_map(|t| t.affinity.value().map(|cpus| format!("CPUs {}", list(cpus))));
        found.set(Thing::Affinity, Value::texts(own.into_iter().chain(of_threads)));
        let variables = process.environment.iter().map(|v| match v.value.value() {
            Some(value) => format!("{}={value}", v.name),
            None => format!("{} (value not recorded)", v.name),
        });
        let environment = match process.variables.value() {
            Some(0) => Value::text("none"),
            Some(_) => Value::texts(variables),
            None => Value::Unknown,
        };
        found.set(Thing::Environment, environment);
        let quota = process.cgroup.quota.value().map(|limit| match limit.get() {
            Some(quota) => format!("{} of 1000 of a CPU", quota.milli_cpus),
            None => "none".to_owned(),
        });
        found.set(Thing::Quota, Value::texts(quota));
    }
    let of_cpus = |of: &dyn Fn(&crate::results::fact::system::Cpu) -> Option<String>| {
        Value::texts(conditions.cpus.iter().filter_map(of))
    };
    found.set(Thing::Governor, of_cpus(&|c| c.governor.value().cloned()));
    let limit = |c: &crate::results::fact::system::Cpu| {
        Some(format!("CPU {}: {}", c.cpu, c.frequency_limit_hz.value()?.min))
    };
    found.set(Thing::ClockLimit, of_cpus(&limit));
    let policy = conditions.system.hugepages_policy.value();
    found.set(Thing::HugePages, Value::text(policy.map_or("", String::as_str)));
}

/// Measurements of the session: clocks and temperatures in decode, ceilings, probes.
fn measured(model: &Model, phases: &Phases, found: &mut Environment) {
    for gauge in gauges(model, phases) {
        let thing = match gauge.kind {
            "frequency" => Thing::Clock,
            "temperature" => Thing::Temperature,
            _ => continue,
        };
        // There may be no token between two samples, which are a second apart. Then use the figures
        // of the complete session.
        let figures = gauge.decode.or(gauge.whole);
        found.set_of(thing, &gauge.name, Value::number(figures.map(|f| f.mean)));
    }
    for ceiling in ceiling::Ceilings::compute(model).all {
        let cpus = ceiling.cpus.iter().map(u16::to_string).collect::<Vec<_>>().join(",");
        let which = format!("{} on CPUs {cpus} by {}", ceiling.kind.name(), ceiling.how);
        found.set_of(Thing::Ceiling, &which, Value::number(ceiling.median.map(|m| m as f64)));
    }
    let pair = model.health.probe_cost.map(|c| c.pair_ns as f64);
    found.set(Thing::ProbeCost, Value::number(pair));
}
