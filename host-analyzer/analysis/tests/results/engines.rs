//! Two engines in one recording: each has the figures that it has alone, and counts as another task
//! for the other.

use std::collections::BTreeMap;

use profinfer_analysis::Analysis;
use profinfer_trace::model::*;
use profinfer_views::summary::summary;

use crate::models::small;
use profinfer_trace::test_support::tables::{self as synthetic, Spec};

const A: u32 = 7;
const B: u32 = 8;

fn process(pid: u32, name: &str) -> Process {
    Process { pid, name: name.into(), command: format!("{name} -m m.gguf"), engine_version: String::new() }
}

/// Appends the session of another process, whose calls are between those of the first.
fn merged(a: &Model, b: &Model) -> Model {
    let mut m = a.only(A);
    m.session.processes = vec![process(A, "llama-cli"), process(B, "llama-server")];
    // Threads, topologies and texts of the second session get other numbers here.
    let text = |m: &mut Model, t: Text| m.texts.intern(b.texts.get(t));
    let mut threads = BTreeMap::new();
    for (id, thread) in b.threads.iter() {
        let name = text(&mut m, thread.name);
        let new = m.threads.find_or_add(thread.tid + 1_000);
        m.threads.describe(new, B, name);
        threads.insert(id, new);
    }
    let topologies = m.topologies.rows.len() as u32;
    for topology in &b.topologies.rows {
        let mut topology = topology.clone();
        topology.pid = B;
        for node in &mut topology.nodes {
            node.name = text(&mut m, node.name);
            node.op = text(&mut m, node.op);
            node.desc = text(&mut m, node.desc);
            node.dtype = text(&mut m, node.dtype);
        }
        m.topologies.rows.push(topology);
    }
    let backends: Vec<Text> = b.graph_calls.backend.iter().map(|t| text(&mut m, *t)).collect();
    // Calls of both by start.
    let order = |own: &[u64], other: &[u64]| {
        let mut all: Vec<(u64, usize, usize)> = own.iter().enumerate().map(|(i, s)| (*s, 0, i)).collect();
        all.extend(other.iter().enumerate().map(|(i, s)| (*s, 1, i)));
        all.sort_unstable();
        all
    };
    let llama_calls = order(&a.llama_calls.start_ns, &b.llama_calls.start_ns);
    let calls = order(&a.graph_calls.start_ns, &b.graph_calls.start_ns);
    let place = |all: &[(u64, usize, usize)], who: usize| -> BTreeMap<u32, u32> {
        (0..).zip(all).filter(|(_, row)| row.1 == who).map(|(new, row)| (row.2 as u32, new)).collect()
    };
    let decode_ids = [place(&llama_calls, 0), place(&llama_calls, 1)];
    let call_ids = [place(&calls, 0), place(&calls, 1)];
    m.llama_calls = LlamaCalls::default();
    for (_, who, row) in &llama_calls {
        let d = [&a.llama_calls, &b.llama_calls][*who];
        m.llama_calls.start_ns.push(d.start_ns[*row]);
        m.llama_calls.duration_ns.push(d.duration_ns[*row]);
        m.llama_calls.function.push(d.function[*row]);
        m.llama_calls.thread.push(if *who == 0 { d.thread[*row] } else { threads[&d.thread[*row]] });
        m.llama_calls.context.push(d.context[*row]);
        m.llama_calls.n_tokens.push(d.n_tokens[*row]);
        m.llama_calls.status.push(d.status[*row]);
    }
    m.graph_calls = GraphCalls::default();
    for (_, who, row) in &calls {
        let (from, g) = ([&a.graph_calls, &b.graph_calls][*who], &mut m.graph_calls);
        let topology = |t: TopologyId| TopologyId(t.0 + if *who == 0 { 0 } else { topologies });
        g.start_ns.push(from.start_ns[*row]);
        g.duration_ns.push(from.duration_ns[*row]);
        g.layer.push(from.layer[*row]);
        g.backend.push(if *who == 0 { from.backend[*row] } else { backends[*row] });
        g.topology.push(from.topology[*row].map(topology));
        g.n_nodes.push(from.n_nodes[*row]);
        g.n_tokens.push(from.n_tokens[*row]);
        g.n_past.push(from.n_past[*row]);
        g.thread.push(if *who == 0 { from.thread[*row] } else { threads[&from.thread[*row]] });
        g.decode.push(from.decode[*row].map(|d| LlamaCallId(decode_ids[*who][&d.0])));
        g.parent.push(from.parent[*row].map(|p| GraphCallId(call_ids[*who][&p.0])));
    }
    let mut spans: Vec<(u32, usize, usize)> = Vec::new();
    for (who, from) in [a, b].into_iter().enumerate() {
        spans.extend(from.spans.graph_call.iter().enumerate().map(|(i, c)| (call_ids[who][&c.0], who, i)));
    }
    spans.sort_unstable();
    m.spans = Spans::default();
    for (call, who, row) in spans {
        let (from, s) = ([&a.spans, &b.spans][who], &mut m.spans);
        s.graph_call.push(GraphCallId(call));
        s.thread.push(if who == 0 { from.thread[row] } else { threads[&from.thread[row]] });
        s.node.push(from.node[row]);
        s.last_node.push(from.last_node[row]);
        s.start_ns.push(from.start_ns[row]);
        s.work_ns.push(from.work_ns[row]);
        s.wait_ns.push(from.wait_ns[row]);
        s.cpu.push(from.cpu[row]);
        s.migrated.push(from.migrated[row]);
    }
    m
}

fn two() -> (Model, Model, Model) {
    let mut a = synthetic::model(&Spec { seed: 3, tokens: 9, ..Spec::default() });
    let mut b = synthetic::model(&Spec { seed: 4, tokens: 5, layers: 3, splits: 2, ..Spec::default() });
    b.llama_calls.start_ns.iter_mut().for_each(|ns| *ns += 17);
    b.graph_calls.start_ns.iter_mut().for_each(|ns| *ns += 17);
    b.spans.start_ns.iter_mut().for_each(|ns| *ns += 17);
    a.session.processes.push(process(A, "llama-cli"));
    b.session.processes.push(process(B, "llama-server"));
    let both = merged(&a, &b);
    (a, b, both)
}

/// summary.json without the parts about the complete recording, and without numbers of processes,
/// threads and topologies.
fn figures(m: &Model) -> serde_json::Value {
    let mut bytes = Vec::new();
    summary(m, &Analysis::compute(m), &mut bytes).unwrap();
    let mut all: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
    let kept = ["tokens", "op_types", "operators", "budget", "work", "kv", "threads", "findings", "graphs"];
    all.as_object_mut().unwrap().retain(|key, _| kept.contains(&key.as_str()));
    strip(&mut all);
    all
}

fn strip(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Object(fields) => {
            fields.retain(|key, _| {
                !["pid", "tid", "thread", "topology", "topologies", "graph"].contains(&key.as_str())
            });
            fields.values_mut().for_each(strip);
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

#[test]
fn each_engine_has_the_figures_that_it_has_alone() {
    let (a, b, both) = two();
    assert_eq!(both.engines(), [A, B]);
    assert_eq!(a.engines(), [A]);
    assert_eq!(both.llama_calls.len(), a.llama_calls.len() + b.llama_calls.len());
    for (pid, alone) in [(A, &a), (B, &b)] {
        let one = both.only(pid);
        assert_eq!(one.engines(), [pid]);
        assert_eq!(one.session.processes.len(), 1);
        let (one, alone) = (figures(&one), figures(alone));
        for (key, value) in alone.as_object().unwrap() {
            assert_eq!(&one[key], value, "{key} of {pid}");
        }
    }
    // Together they have the figures of neither.
    assert_ne!(figures(&both)["tokens"], figures(&a)["tokens"]);
    let last = both.llama_calls.thread.last().unwrap();
    assert_eq!(both.latest_engine(), Some(both.threads.get(*last).pid));
}

/// The worker of A waits while a thread of B has its CPU.
#[test]
fn threads_of_another_engine_are_other_tasks() {
    let mut m = small::model();
    m.session.processes = vec![process(small::PID, "a"), process(B, "b")];
    let (name, command) = (m.texts.intern("b"), m.texts.intern("b -m m"));
    m.sched.recorded = true;
    m.sched.tasks.push(Task { tid: 900, pid: B, name, command, cgroup: Text::default() });
    let start = m.llama_calls.start_ns[0];
    let states = &mut m.sched.states;
    for (from, length, state) in
        [(start, 50, ThreadState::Running), (start + 50, 100, ThreadState::Preempted)]
    {
        states.thread.push(ThreadId(0));
        states.start_ns.push(from);
        states.duration_ns.push(length);
        states.state.push(state);
        states.cpu.push(0);
    }
    m.sched.turns.cpu.push(0);
    m.sched.turns.start_ns.push(start + 50);
    m.sched.turns.duration_ns.push(100);
    m.sched.turns.task.push(TaskId(0));
    let of = |m: &Model| {
        let sched = Analysis::compute(m).sched;
        sched.interference.iter().map(|t| (t.pid, t.engine)).collect::<Vec<_>>()
    };
    assert_eq!(of(&m.only(small::PID)), [(B, false)]);
    // And no thread of B waited.
    assert!(m.only(B).sched.states.is_empty());
}
