//! One engine of a recording with several.

use super::counter::Counts;
use super::sched::{Sched, ThreadStates};
use super::{
    Experts, GraphCallId, GraphCalls, LlamaCallId, LlamaCalls, Model, NestedCalls, Parts, Session, Spans,
    ThreadId,
};

impl Model {
    /// The processes that computed something, in order of their first call.
    #[must_use]
    pub fn engines(&self) -> Vec<u32> {
        let calls = (self.llama_calls.start_ns.iter().zip(&self.llama_calls.thread))
            .chain(self.graph_calls.start_ns.iter().zip(&self.graph_calls.thread));
        let mut first: Vec<(u64, u32)> = Vec::new();
        for (start, thread) in calls {
            let pid = self.threads.get(*thread).pid;
            match first.iter_mut().find(|(_, known)| *known == pid) {
                Some((known, _)) => *known = (*start).min(*known),
                // The record of its thread was lost.
                None if pid == 0 => {}
                None => first.push((*start, pid)),
            }
        }
        first.sort_unstable();
        first.into_iter().map(|(_, pid)| pid).collect()
    }

    /// The process whose call began last.
    #[must_use]
    pub fn latest_engine(&self) -> Option<u32> {
        let last = |starts: &[u64], threads: &[ThreadId]| Some((*starts.last()?, *threads.last()?));
        let decode = last(&self.llama_calls.start_ns, &self.llama_calls.thread);
        let graph = last(&self.graph_calls.start_ns, &self.graph_calls.thread);
        let (_, thread) = decode.into_iter().chain(graph).max_by_key(|(start, _)| *start)?;
        Some(self.threads.get(thread).pid).filter(|pid| *pid != 0)
    }

    /// The same recording with one engine. Shared data stays: the machine, its sensors, ceilings
    /// and interrupts, the tasks on the CPUs, and the losses, which are counted for all processes
    /// together. Threads of other engines become other tasks.
    #[must_use]
    pub fn only(&self, pid: u32) -> Self {
        let of_it = |thread: &ThreadId| self.threads.get(*thread).pid == pid;
        let (llama_calls, decode_ids) = llama_calls(&self.llama_calls, &of_it);
        let (graph_calls, call_ids) = graph_calls(&self.graph_calls, &of_it, &decode_ids);
        let (threads, thread_ids) = self.threads.only(|t| t.pid == pid);
        let mut one = Self {
            session: session(&self.session, pid),
            capture: self.capture.clone(),
            duty: super::Duty {
                switches: self.duty.switches.iter().filter(|s| s.pid == pid).copied().collect(),
            },
            controller_steps: self.controller_steps.iter().filter(|s| s.pid == pid).copied().collect(),
            texts: self.texts.clone(),
            threads,
            topologies: self.topologies.clone(),
            buffers: self.buffers.clone(),
            spans: spans(&self.spans, &call_ids, &of_it),
            nested_calls: nested(&self.nested_calls, &call_ids, &of_it),
            experts: experts(&self.experts, &call_ids),
            parts: parts(&self.parts, &decode_ids),
            llama_calls,
            graph_calls,
            gauges: self.gauges.clone(),
            sched: sched(&self.sched, &of_it),
            ceilings: self.ceilings.clone(),
            board_memory: self.board_memory,
            accelerators: self.accelerators.clone(),
            facts: self.facts.clone(),
            edits: self.edits.iter().filter(|e| e.pid == pid).copied().collect(),
            housekeeping: self.housekeeping.iter().filter(|h| h.pid == pid).copied().collect(),
            taken: self
                .taken
                .iter()
                .filter_map(|(id, outputs)| Some((LlamaCallId(place(&decode_ids, id.0)?), *outputs)))
                .collect(),
            start_ups: self.start_ups.iter().filter(|s| s.pid == pid).copied().collect(),
            endings: self.endings.iter().filter(|e| e.pid == pid).cloned().collect(),
            health: super::Health {
                operator_probes: self
                    .health
                    .operator_probes
                    .iter()
                    .filter(|p| p.pid == pid)
                    .cloned()
                    .collect(),
                ..self.health.clone()
            },
        };
        one.renumber_threads(&thread_ids);
        one
    }

    /// Every row belongs to a kept thread.
    fn renumber_threads(&mut self, places: &[Option<u32>]) {
        let columns = [
            &mut self.llama_calls.thread,
            &mut self.graph_calls.thread,
            &mut self.spans.thread,
            &mut self.nested_calls.thread,
            &mut self.sched.states.thread,
        ];
        for id in columns.into_iter().flatten() {
            *id = ThreadId(place(places, id.0).unwrap_or_default());
        }
    }
}

/// The kept rows of a column.
fn kept<T: Clone>(column: &[T], keep: &[bool]) -> Vec<T> {
    column.iter().zip(keep).filter(|(_, keep)| **keep).map(|(value, _)| value.clone()).collect()
}

/// The new position of each row.
fn places(keep: &[bool]) -> Vec<Option<u32>> {
    let mut next = 0;
    keep.iter()
        .map(|keep| {
            keep.then(|| {
                next += 1;
                next - 1
            })
        })
        .collect()
}

fn place(places: &[Option<u32>], id: u32) -> Option<u32> {
    places.get(id as usize).copied().flatten()
}

fn session(s: &Session, pid: u32) -> Session {
    let mut session = s.clone();
    session.processes.retain(|p| p.pid == pid);
    session.libraries.retain(|l| l.pid == pid);
    session.probes.retain(|p| p.pid == pid);
    session
}

fn llama_calls(d: &LlamaCalls, of_it: &impl Fn(&ThreadId) -> bool) -> (LlamaCalls, Vec<Option<u32>>) {
    let keep: Vec<bool> = d.thread.iter().map(of_it).collect();
    let LlamaCalls { start_ns, duration_ns, function, thread, context, n_tokens, status } = d;
    let table = LlamaCalls {
        start_ns: kept(start_ns, &keep),
        duration_ns: kept(duration_ns, &keep),
        function: kept(function, &keep),
        thread: kept(thread, &keep),
        context: kept(context, &keep),
        n_tokens: kept(n_tokens, &keep),
        status: kept(status, &keep),
    };
    (table, places(&keep))
}

fn graph_calls(
    g: &GraphCalls,
    of_it: &impl Fn(&ThreadId) -> bool,
    llama_calls: &[Option<u32>],
) -> (GraphCalls, Vec<Option<u32>>) {
    let keep: Vec<bool> = g.thread.iter().map(of_it).collect();
    let places = places(&keep);
    let GraphCalls {
        start_ns,
        duration_ns,
        layer,
        backend,
        topology,
        n_nodes,
        n_tokens,
        n_past,
        thread,
        decode,
        parent,
    } = g;
    let decode = kept(decode, &keep).into_iter().map(|id| Some(LlamaCallId(place(llama_calls, id?.0)?)));
    let parent = kept(parent, &keep).into_iter().map(|id| Some(GraphCallId(place(&places, id?.0)?)));
    let table = GraphCalls {
        start_ns: kept(start_ns, &keep),
        duration_ns: kept(duration_ns, &keep),
        layer: kept(layer, &keep),
        backend: kept(backend, &keep),
        topology: kept(topology, &keep),
        n_nodes: kept(n_nodes, &keep),
        n_tokens: kept(n_tokens, &keep),
        n_past: kept(n_past, &keep),
        thread: kept(thread, &keep),
        decode: decode.collect(),
        parent: parent.collect(),
    };
    (table, places)
}

/// The rows of kept calls, and the new ids of these calls.
fn calls(
    column: &[GraphCallId],
    calls: &[Option<u32>],
    also: impl Fn(usize) -> bool,
) -> (Vec<bool>, Vec<GraphCallId>) {
    let new = |(row, id): (usize, &GraphCallId)| place(calls, id.0).filter(|_| also(row)).map(GraphCallId);
    let new: Vec<_> = column.iter().enumerate().map(new).collect();
    (new.iter().map(Option::is_some).collect(), new.into_iter().flatten().collect())
}

fn spans(s: &Spans, ids: &[Option<u32>], of_it: &impl Fn(&ThreadId) -> bool) -> Spans {
    let (keep, graph_call) = calls(&s.graph_call, ids, |row| s.thread.get(row).is_some_and(of_it));
    let Spans { thread, node, last_node, start_ns, work_ns, wait_ns, cpu, migrated, counts, .. } = s;
    let Counts { names, values, switches, why } = counts;
    Spans {
        graph_call,
        thread: kept(thread, &keep),
        node: kept(node, &keep),
        last_node: kept(last_node, &keep),
        start_ns: kept(start_ns, &keep),
        work_ns: kept(work_ns, &keep),
        wait_ns: kept(wait_ns, &keep),
        cpu: kept(cpu, &keep),
        migrated: kept(migrated, &keep),
        counts: Counts {
            names: names.clone(),
            values: values.iter().map(|column| kept(column, &keep)).collect(),
            switches: kept(switches, &keep),
            why: kept(why, &keep),
        },
    }
}

fn nested(n: &NestedCalls, ids: &[Option<u32>], of_it: &impl Fn(&ThreadId) -> bool) -> NestedCalls {
    let (keep, graph_call) = calls(&n.graph_call, ids, |row| n.thread.get(row).is_some_and(of_it));
    let NestedCalls { thread, node, function, backend, depth, start_ns, duration_ns, .. } = n;
    NestedCalls {
        graph_call,
        thread: kept(thread, &keep),
        node: kept(node, &keep),
        function: kept(function, &keep),
        backend: kept(backend, &keep),
        depth: kept(depth, &keep),
        start_ns: kept(start_ns, &keep),
        duration_ns: kept(duration_ns, &keep),
    }
}

fn experts(e: &Experts, ids: &[Option<u32>]) -> Experts {
    let (keep, graph_call) = calls(&e.graph_call, ids, |_| true);
    let Experts { node, token, rank, expert, missing, .. } = e;
    Experts {
        graph_call,
        node: kept(node, &keep),
        token: kept(token, &keep),
        rank: kept(rank, &keep),
        expert: kept(expert, &keep),
        // For all engines together: their process is unknown.
        missing: *missing,
    }
}

fn parts(p: &Parts, ids: &[Option<u32>]) -> Parts {
    let new: Vec<_> = p.decode.iter().map(|id| place(ids, id.0).map(LlamaCallId)).collect();
    let keep: Vec<bool> = new.iter().map(Option::is_some).collect();
    let Parts { first, n, seq, n_seq, pos, same, outputs, .. } = p;
    Parts {
        decode: new.into_iter().flatten().collect(),
        first: kept(first, &keep),
        n: kept(n, &keep),
        seq: kept(seq, &keep),
        n_seq: kept(n_seq, &keep),
        pos: kept(pos, &keep),
        same: kept(same, &keep),
        outputs: kept(outputs, &keep),
    }
}

/// The states of its threads. Turns stay: they show the tasks on the CPUs.
fn sched(s: &Sched, of_it: &impl Fn(&ThreadId) -> bool) -> Sched {
    let states = &s.states;
    let keep: Vec<bool> = states.thread.iter().map(of_it).collect();
    Sched {
        states: ThreadStates {
            thread: kept(&states.thread, &keep),
            start_ns: kept(&states.start_ns, &keep),
            duration_ns: kept(&states.duration_ns, &keep),
            state: kept(&states.state, &keep),
            cpu: kept(&states.cpu, &keep),
        },
        ..s.clone()
    }
}
