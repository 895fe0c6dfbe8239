//! The walk through the calls of a session.

use std::collections::HashMap;
use std::ops::Range;

use super::away::{Away, AwayTimes};
use super::class::{ClassId, Classes};
use super::coming_back::coming_back;
use super::computing::Newcomers;
use super::inner::{Learning, Learnt};
use super::lookup::Lookup;
use super::meeting::Meetings;
use super::outside::{self, Does};
use super::returning::ReturningTimes;
use super::split::{Kind, Splitter};
use super::teams::Teams;
use super::typical::{Openings, Seen, Typical};
use super::untraced::{self, Graphs};
use super::usual::{ProbeCosts, Usual};
use super::waking::WakingTimes;
use super::{Amounts, CallReplay, Cause, ClassTimes, Heard, OperatorTime};
use crate::results::module::Places;
use crate::shared::housekeeping::OfThreads;
use crate::shared::interval::Interval;
use crate::shared::outer::OuterGraphs;
use crate::shared::phase::{Phase, Phases};
use profinfer_trace::model::{Ends, GraphCallId, Model, Node, ThreadId, TopologyId, Traced};

pub(super) struct Walk<'a> {
    model: &'a Model,
    lookup: Lookup<'a>,
    classes: Classes,
    /// By class: it has an inner barrier; several threads share its work.
    learnt: Vec<Learnt>,
    /// Threads that can run at once, by process; the others queue.
    cpus: &'a HashMap<u32, usize>,
    /// By class.
    typical: Vec<Typical>,
    returning: ReturningTimes,
    waking: WakingTimes,
    class_times: Vec<Vec<ClassTimes>>,
    costs: ProbeCosts,
    /// Rows of the spans, by graph call.
    rows: Vec<Range<usize>>,
    graphs: Graphs,
    /// Graphs between calls.
    outer: OuterGraphs,
    copies: OfThreads,
    allocations: OfThreads,
    waits: OfThreads,
    teams: Teams,
    newcomers: &'a Newcomers,
    meetings: Meetings,
    splitter: Splitter,
    /// Time that a spinning barrier and the dispatch of the next operator take, with the probes, ns: of the
    /// first operator of a graph, for which threads are still on their way, and of the others.
    spinning_ns: [u64; 2],
    /// All operators with both ends were recorded, so that their times show who waited for whom.
    complete: bool,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        model: &'a Model,
        away: &'a AwayTimes,
        interrupts: &'a [Vec<Away>],
        places: &Places,
    ) -> Self {
        let classes = Classes::compute(model, places);
        let mut rows = vec![0..0; model.graph_calls.len()];
        let cost = model.health.probe_cost;
        let inside = cost.map_or(0, |c| c.inside_ns);
        let (mut learning, mut seen) = (Learning::new(&classes, inside), Seen::new(&classes));
        let mut meetings = Meetings::default();
        let mut openings: [Openings; 2] = Default::default();
        let mut lookup = Lookup::new(model, away, interrupts);
        for (call, spans) in model.spans.by_call() {
            meetings.read(&model.spans, spans.clone());
            let of_node = classes.of_topology(model.graph_calls.topology[call.0 as usize]);
            learning.read(&model.spans, &meetings, &classes, of_node);
            let mut opened = model.graph_calls.start_ns[call.0 as usize];
            for (at, m) in meetings.rows.iter().enumerate() {
                if let Some(class) = of_node.get(m.node.0 as usize) {
                    seen.add(*class, m.release.saturating_sub(opened));
                }
                let members = meetings.members(m);
                let first = members.iter().map(|i| model.spans.start_ns[*i]).min().unwrap_or(opened);
                let disturbed = lookup.disturbs(&model.spans, members, opened, m.release);
                openings[at.min(1)].add(first.saturating_sub(opened), disturbed);
                opened = m.release;
            }
            rows[call.0 as usize] = spans;
        }
        let costs = ProbeCosts { inside, outside: cost.map_or(0, |c| c.pair_ns.saturating_sub(inside)) };
        let spinning_ns = openings.map(|o| o.usual(costs.outside));
        let learnt = learning.finish(model, &classes);
        let mut lookup = Lookup::new(model, away, interrupts);
        let (returning, waking) =
            coming_back(model, &classes, &learnt, spinning_ns, &mut meetings, &mut lookup);
        Self {
            model,
            lookup: Lookup::new(model, away, interrupts),
            learnt,
            cpus: &away.cpus,
            typical: seen.typical(),
            returning,
            waking,
            class_times: vec![vec![ClassTimes::default(); classes.len()]; Phase::COUNT],
            classes,
            costs,
            rows,
            graphs: Graphs::default(),
            outer: OuterGraphs::compute(model),
            copies: OfThreads::copies(model),
            allocations: OfThreads::allocations(model),
            waits: OfThreads::waits(model),
            teams: Teams::default(),
            newcomers: &away.newcomers,
            meetings,
            splitter: Splitter::default(),
            spinning_ns,
            complete: model.capture.ends == Ends::Both && !model.capture.operators_left_out(),
        }
    }

    /// All calls in the order of `intervals`. The captured ones come first, because the others
    /// need their times. `heard` receives the captured operators.
    pub(super) fn calls(
        &mut self,
        intervals: &[Interval],
        phases: &Phases,
        heard: &mut Heard<'_>,
    ) -> Vec<CallReplay> {
        let traced = |i: &Interval| phases.tracing.llama_calls[i.call.0 as usize] == Traced::Whole;
        let mut calls: Vec<Option<CallReplay>> = vec![None; intervals.len()];
        for captured in [true, false] {
            for (call, interval) in calls.iter_mut().zip(intervals) {
                if traced(interval) == captured {
                    *call = Some(self.call(interval, captured && self.complete, heard));
                }
            }
        }
        calls.into_iter().flatten().collect()
    }

    /// The classes, whether each has an inner barrier, and their times.
    pub(super) fn into_classes(self) -> (Classes, Vec<bool>, Vec<Vec<ClassTimes>>) {
        (self.classes, self.learnt.iter().map(|l| l.inner).collect(), self.class_times)
    }

    /// The time before each call of a process that had one before.
    pub(super) fn gaps(&mut self, intervals: &[Interval]) -> Vec<CallReplay> {
        let gap = |i: &Interval| {
            let from = i.before.filter(|before| *before < i.entry)?;
            let mut gap = empty(i, true, i.entry - from);
            let caller = self.model.llama_calls.thread[i.call.0 as usize];
            self.between(&mut gap, caller, (from, i.entry), Does::Between);
            Some(gap)
        };
        intervals.iter().filter_map(gap).collect()
    }

    /// The time before calls of a prompt, from the first graph of an encoder on.
    pub(super) fn encodes(&mut self, intervals: &[Interval]) -> Vec<CallReplay> {
        let encode = |i: &Interval| {
            let caller = self.model.llama_calls.thread[i.call.0 as usize];
            let pid = self.model.threads.get(caller).pid;
            let (from, _) = self.outer.within(pid, i.before.unwrap_or(0), i.entry).next()?;
            let mut encode = empty(i, true, i.entry - from);
            self.between(&mut encode, caller, (from, i.entry), Does::Between);
            Some(encode)
        };
        intervals.iter().filter(|i| !i.phase.generates()).filter_map(encode).collect()
    }

    /// The time between two calls, with the graphs and copies of states in it.
    fn between(&mut self, call: &mut CallReplay, caller: ThreadId, (from, to): (u64, u64), does: Does) {
        let pid = self.model.threads.get(caller).pid;
        let graphs = self.outer.within(pid, from, to).map(|(start, end)| (start, end, Does::Encoder));
        let others = self.others((&self.copies, Does::StateCopy), caller, (from, to), graphs);
        outside::add_with(call, &mut self.lookup, caller, (from, to), does, others);
    }

    /// Time of the call outside of its graphs, in which it `does` this if nothing else is known.
    fn prepare(&mut self, call: &mut CallReplay, caller: ThreadId, time: (u64, u64), does: Does) {
        let others = self.others((&self.allocations, Does::Allocation), caller, time, []);
        outside::add_with(call, &mut self.lookup, caller, time, does, others);
    }

    /// What the calling thread does in some stretches of `time`, by start: `own`, waits for other backends, and `more`.
    fn others(
        &self,
        (own, does): (&OfThreads, Does),
        caller: ThreadId,
        time: (u64, u64),
        more: impl IntoIterator<Item = (u64, u64, Does)>,
    ) -> Vec<(u64, u64, Does)> {
        let own = own.within(self.model, caller, time).map(|(start, end)| (start, end, does));
        let waits = self.waits.within(self.model, caller, time);
        let waits = waits.map(|(start, end)| (start, end, Does::OtherBackend));
        let mut others: Vec<_> = more.into_iter().chain(own).chain(waits).collect();
        others.sort_by_key(|(start, ..)| *start);
        others
    }

    fn call(&mut self, interval: &Interval, traced: bool, heard: &mut Heard<'_>) -> CallReplay {
        let model = self.model;
        let caller = model.llama_calls.thread[interval.call.0 as usize];
        let mut call = empty(interval, traced, interval.end.saturating_sub(interval.start));
        let mut at = interval.start;
        let entry = interval.entry.clamp(at, interval.end);
        self.between(&mut call, caller, (at, entry), Does::Application);
        at = entry;
        let on_cpu = interval.graphs.iter().all(|graph| model.computes_on_cpu(*graph));
        let does = if on_cpu { Does::Preparation } else { Does::BetweenBackends };
        for graph in &interval.graphs {
            let (start, end) = model.graph_calls.bounds(*graph);
            // Graphs may be nested or contradict each other in a damaged recording.
            let (start, end) = (start.clamp(at, interval.end), end.clamp(at, interval.end));
            self.prepare(&mut call, caller, (at, start), does);
            self.graph(&mut call, *graph, caller, (start, end), heard);
            at = end;
        }
        let rest = (at, interval.end);
        if interval.graphs.is_empty() {
            outside::add(&mut call, &mut self.lookup, caller, rest, Does::NotRecorded);
        } else {
            self.prepare(&mut call, caller, rest, does);
        }
        // Threads of the process that compute no operator of the CPU's may compute for the other backend.
        if self.waits.of_process(model.threads.get(caller).pid) {
            let ns = call.caused.take(Cause::IdleTeam);
            call.alone.take(Cause::IdleTeam);
            call.other_backend_ns = call.other_backend_ns.saturating_add(ns);
        }
        call
    }

    fn graph(
        &mut self,
        call: &mut CallReplay,
        graph: GraphCallId,
        caller: ThreadId,
        time: (u64, u64),
        heard: &mut Heard<'_>,
    ) {
        let (model, i) = (self.model, graph.0 as usize);
        if !model.computes_on_cpu(graph) {
            outside::add(call, &mut self.lookup, caller, time, Does::OtherBackend);
            if call.traced {
                self.on_other_backend(call, i, time, heard);
            }
            return;
        }
        let topology = model.graph_calls.topology[i];
        let alike = (model.graph_calls.n_nodes[i], call.phase.index());
        let pid = model.threads.get(caller).pid;
        let rows = self.rows[i].clone();
        let inside = || rows.clone().all(|i| model.spans.start_ns[i] >= time.0);
        if call.traced && !rows.is_empty() && inside() {
            let before = call.usual;
            self.operators(call, graph, caller, time, heard);
            let usual = difference(&call.usual, &before);
            self.graphs.add(topology, alike, &usual);
            self.teams.add(pid, time.0, model.spans.by_thread(rows).map(|(thread, _)| thread));
        } else {
            let mut team = self.teams.around(pid, time.0);
            if team.is_empty() {
                team.push(caller);
            }
            // Engines without OpenMP may start new threads for each graph.
            let started = self.newcomers.between(pid, time).filter(|thread| !team.contains(thread));
            let started: Vec<ThreadId> = started.collect();
            team.extend(started);
            let usual = self.graphs.usual(topology, alike);
            untraced::add(call, &mut self.lookup, &team, time, usual);
        }
    }

    /// The operators of a graph of another backend, one after the other.
    fn on_other_backend(
        &self,
        call: &CallReplay,
        graph: usize,
        (start, end): (u64, u64),
        heard: &mut Heard<'_>,
    ) {
        let spans = &self.model.spans;
        let Some(topology) = self.model.graph_calls.topology[graph] else { return };
        let nodes = nodes(self.model, Some(topology));
        let mut at = start;
        for i in self.rows[graph].clone() {
            let stop = spans.start_ns[i].saturating_add(spans.work_ns[i]).min(end);
            let ns = stop.saturating_sub(spans.start_ns[i].max(at));
            let index = spans.node[i];
            if let Some(node) = nodes.get(index.0 as usize) {
                heard(&OperatorTime { call: call.call, node, topology, index, other_backend: true, ns });
            }
            at = at.max(stop);
        }
    }

    /// A graph with captured operators, from `start` to `end`.
    fn operators(
        &mut self,
        call: &mut CallReplay,
        graph: GraphCallId,
        caller: ThreadId,
        (start, end): (u64, u64),
        heard: &mut Heard<'_>,
    ) {
        let (spans, i) = (&self.model.spans, graph.0 as usize);
        self.meetings.read(spans, self.rows[i].clone());
        let topology = self.model.graph_calls.topology[i];
        let of_node = self.classes.of_topology(topology);
        let nodes = nodes(self.model, topology);
        let times = &mut self.class_times[call.phase.index()];
        let pid = self.model.threads.get(caller).pid;
        let at_once = self.cpus.get(&pid).copied().unwrap_or(usize::MAX);
        let mut opened = start;
        for (at, m) in self.meetings.rows.iter().enumerate() {
            if m.release > end {
                break;
            }
            let members = self.meetings.members(m);
            let class = of_node.get(m.node.0 as usize).copied().unwrap_or(ClassId(u32::MAX));
            let Learnt { inner, shared } = self.learnt.get(class.0 as usize).copied().unwrap_or_default();
            let typical = self.typical.get(class.0 as usize).copied().unwrap_or_default();
            let returning_ns = self.returning.before(class.0 as usize);
            let resuming_ns = self.returning.inside;
            let (limit, spinning_ns) = (typical.limit, self.spinning_ns[at.min(1)]);
            let Self { waking, costs, .. } = *self;
            let kind =
                Kind { inner, shared, limit, returning_ns, resuming_ns, spinning_ns, waking, at_once, costs };
            let usual = self.splitter.split(spans, members, opened, kind, &mut self.lookup);
            let usual = match usual.total() {
                total if total > typical.limit => {
                    // Without the scheduler level, other causes are possible: a slow core.
                    let kept = if self.model.sched.recorded { typical.ns } else { typical.limit };
                    let (usual, strange) = usual.at_most(kept);
                    self.splitter.longer(strange);
                    usual
                }
                _ => usual,
            };
            call.usual.add(&usual);
            if self.classes.rows.get(class.0 as usize).is_some_and(|c| c.weights && c.table.is_none()) {
                call.weights_ns = call.weights_ns.saturating_add(usual.work);
            }
            if let (Some(node), Some(topology)) = (nodes.get(m.node.0 as usize), topology) {
                let (call, index, ns) = (call.call, m.node, usual.work);
                heard(&OperatorTime { call, node, topology, index, other_backend: false, ns });
            }
            let delays = &self.splitter.delays;
            if !delays.caused.is_empty() || delays.unexplained > 0 {
                call.caused.add_all(&delays.caused);
                call.alone.add_all(&delays.alone);
                call.unexplained_ns = call.unexplained_ns.saturating_add(delays.unexplained);
            }
            if let Some(sum) = times.get_mut(class.0 as usize) {
                sum.instances += 1;
                sum.usual.add(&usual);
                sum.threads += members.len() as u64;
                sum.blocked_ns = sum.blocked_ns.saturating_add(delays.caused.get(Cause::Blocked));
            }
            opened = m.release;
        }
        // After the last barrier the calling thread leaves the graph.
        let before = call.preparation_ns;
        outside::add(call, &mut self.lookup, caller, (opened, end), Does::Preparation);
        let left = std::mem::replace(&mut call.preparation_ns, before) - before;
        let probes = self.costs.outside.min(left);
        call.usual.add(&Usual { probes, dispatch: left - probes, ..Usual::default() });
    }
}

fn empty(interval: &Interval, traced: bool, time_ns: u64) -> CallReplay {
    CallReplay {
        call: interval.call,
        phase: interval.phase,
        traced,
        time_ns,
        usual: Usual::default(),
        weights_ns: 0,
        application_ns: 0,
        idle_ns: 0,
        encoder_ns: 0,
        state_copies_ns: 0,
        preparation_ns: 0,
        allocation_ns: 0,
        other_backend_ns: 0,
        not_recorded_ns: 0,
        caused: Amounts::default(),
        alone: Amounts::default(),
        unexplained_ns: 0,
    }
}

fn nodes(model: &Model, topology: Option<TopologyId>) -> &[Node] {
    topology.map_or(&[], |t| &model.topologies.get(t).nodes)
}

fn difference(now: &Usual, before: &Usual) -> Usual {
    Usual {
        work: now.work - before.work,
        imbalance: now.imbalance - before.imbalance,
        dispatch: now.dispatch - before.dispatch,
        probes: now.probes - before.probes,
    }
}
