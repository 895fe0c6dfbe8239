//! CPUs that the computing threads used.

use super::Case;
use profinfer_trace::model::{GraphCallId, LlamaCallId, ThreadId};

/// A CPU with less than this share of the work was used only in passing.
const MIN_WORK_SHARE: f64 = 0.02;

impl Case<'_> {
    /// Spans of the captured calls.
    pub(in crate::findings) fn captured_spans(&self) -> impl Iterator<Item = usize> + '_ {
        let calls = &self.model.graph_calls;
        let mut is_one = vec![false; self.model.llama_calls.len()];
        self.calls.traced.iter().for_each(|t| is_one[t.call as usize] = true);
        let spans = &self.model.spans;
        let of = move |call: GraphCallId| {
            calls.decode[call.0 as usize].is_some_and(|LlamaCallId(d)| is_one[d as usize])
        };
        (0..spans.len()).filter(move |i| of(spans.graph_call[*i]))
    }

    /// Threads and CPUs from the spans of the captured calls, in one pass: there are millions of spans,
    /// and several rules use the result.
    pub(super) fn use_of_captured(&self) -> Use {
        let spans = &self.model.spans;
        let mut used = Use { computing: vec![false; self.model.threads.len()], ..Use::default() };
        let mut moves = Moves::default();
        let (mut call, mut threads, mut last) = (None, 0, None);
        for i in self.captured_spans() {
            let (this, thread) = (spans.graph_call[i], spans.thread[i]);
            // The spans of a call are in the order of threads.
            if call.replace(this) != Some(this) {
                (threads, last) = (0, None);
                moves.of_burst(self.burst_of(this));
            }
            let same_thread = matches!(last, Some((t, _)) if t == thread);
            threads += u64::from(!same_thread);
            used.computing[thread.0 as usize] = true;
            used.threads = used.threads.max(threads);
            if thread == self.model.graph_calls.thread[this.0 as usize] {
                used.operators += u64::from(last != Some((thread, spans.node[i])));
            }
            last = Some((thread, spans.node[i]));
            match spans.cpu[i] {
                Some(cpu) => {
                    used.add(cpu, spans.work_ns[i]);
                    used.moves += u64::from(moves.is_one(thread, cpu));
                }
                None => used.unknown = true,
            }
        }
        used
    }

    /// The CPUs that did the work of the judged calls, and how much of it, ns.
    pub(in crate::findings) fn working_cpus(&self) -> Vec<(u16, u64)> {
        let mut sums = self.used.cpus.clone();
        let all: f64 = sums.iter().map(|(_, ns)| *ns as f64).sum();
        sums.retain(|(_, ns)| *ns as f64 >= all * MIN_WORK_SHARE);
        sums.sort_unstable();
        sums
    }

    /// The thread computed operators of the judged calls.
    pub(in crate::findings) fn computes(&self, thread: ThreadId) -> bool {
        self.used.computing.get(thread.0 as usize) == Some(&true)
    }

    /// The recording has the CPU of all these operators.
    pub(in crate::findings) const fn cpus_are_known(&self) -> bool {
        !self.used.unknown
    }

    /// How often threads changed their CPU per unit.
    pub(in crate::findings) fn moves_per_unit(&self) -> f64 {
        self.used.moves as f64 / self.calls.traced_units()
    }

    /// Operators per unit.
    pub(in crate::findings) fn operators_per_unit(&self) -> f64 {
        self.used.operators as f64 / self.calls.traced_units()
    }

    fn burst_of(&self, call: GraphCallId) -> Option<u32> {
        let LlamaCallId(decode) = self.model.graph_calls.decode[call.0 as usize]?;
        self.analysis.phases.tracing.bursts[decode as usize]
    }
}

/// CPUs and threads used by the operators of some calls.
#[derive(Debug, Default)]
pub(super) struct Use {
    /// Largest number of threads that computed one graph together.
    threads: u64,
    /// By thread, whether it computed.
    computing: Vec<bool>,
    /// Work by CPU, ns.
    cpus: Vec<(u16, u64)>,
    /// The CPU of some operator is unknown.
    unknown: bool,
    /// How often threads changed their CPU.
    moves: u64,
    /// Operators of the threads that called the graphs: one per execution.
    operators: u64,
}

impl Use {
    /// Operators were captured.
    pub(super) const fn any(&self) -> bool {
        self.threads > 0
    }

    /// Largest number of threads that compute one graph together. Some engines create new threads for every
    /// graph, so the number of all threads is not useful.
    pub(super) const fn threads(&self) -> u64 {
        self.threads
    }

    fn add(&mut self, cpu: u16, ns: u64) {
        match self.cpus.iter_mut().find(|(c, _)| *c == cpu) {
            Some((_, sum)) => *sum = sum.saturating_add(ns),
            None => self.cpus.push((cpu, ns)),
        }
    }
}

/// Last CPU of each thread. Engines may start threads for each graph, so there may be many.
#[derive(Default)]
struct Moves {
    burst: Option<u32>,
    /// Number of bursts before this one.
    bursts: usize,
    /// By thread, with `bursts` at that time.
    last: Vec<Option<(usize, u16)>>,
}

impl Moves {
    /// The CPU of a thread between two bursts is unknown.
    fn of_burst(&mut self, burst: Option<u32>) {
        if burst != self.burst {
            (self.burst, self.bursts) = (burst, self.bursts + 1);
        }
    }

    /// Moves a thread to a CPU. Returns whether it was on another one before.
    fn is_one(&mut self, thread: ThreadId, cpu: u16) -> bool {
        let thread = thread.0 as usize;
        if self.last.len() <= thread {
            self.last.resize(thread + 1, None);
        }
        let before = self.last[thread].replace((self.bursts, cpu));
        before.is_some_and(|(bursts, at)| bursts == self.bursts && at != cpu)
    }
}
