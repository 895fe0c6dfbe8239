//! Self-check: compares the probes that were found in the engine's files with their hits.
//!
//! Runs once per second and at the end. Input: hits of each level of a process, and the kernel
//! side's totals. Output: a [`Doubt`] for every kind of probe that should have been hit and was
//! not. The recording contains it with the probe's name. Guarantee: no doubt before a graph has
//! completed.

use std::fmt;

use profinfer_engine::ProbeKind;

use crate::bpf::Totals;
use crate::lower::hits::Hits;

/// Why probes of one kind are suspect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// The program computes graphs without a decode call.
    NoTokenCall {
        /// Graphs that ran.
        graphs: u64,
    },
    /// The scheduler's function is not called for the graphs.
    NotScheduled {
        /// Graphs that ran.
        graphs: u64,
    },
    /// The CPU's function is not called for the graphs.
    NotOnCpu {
        /// Graphs that ran.
        graphs: u64,
    },
    /// No operator was seen from start to end.
    NoOperator {
        /// Graphs that ran on the CPU.
        graphs: u64,
        starts: u64,
        ends: u64,
    },
    /// Many operators have a start but no end.
    NotEnded {
        /// Operators without an end.
        open: u64,
        /// All starts.
        starts: u64,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut never = |graphs, what| write!(f, "never hit, although {graphs} graphs ran: {what}");
        match *self {
            Self::NoTokenCall { graphs } => never(graphs, "the program computes graphs without it"),
            Self::NotScheduled { graphs } => never(graphs, "the engine does not call it for its graphs"),
            Self::NotOnCpu { graphs } => never(graphs, "nothing was computed on the CPU, or not through it"),
            Self::NoOperator { graphs, starts, ends } => write!(
                f,
                "no operator has both a start and an end, although {graphs} graphs ran on the CPU ({starts} starts, {ends} \
                 ends): the operators run elsewhere"
            ),
            Self::NotEnded { open, starts } => {
                write!(
                    f,
                    "{open} of {starts} operators have no end: some return from a place without a probe"
                )
            }
        }
    }
}

/// The doubt about probes of this kind, if any. `totals` are those of all processes.
#[must_use]
pub fn doubt(kind: ProbeKind, hits: &Hits, totals: &Totals) -> Option<Doubt> {
    let graphs = hits.scheduler.max(hits.cpu);
    if graphs == 0 {
        return None;
    }
    match kind {
        ProbeKind::LlamaDecode | ProbeKind::LlamaProcess if hits.calls == 0 => {
            Some(Doubt::NoTokenCall { graphs })
        }
        // Its splits complete before it does.
        ProbeKind::SchedulerGraph if hits.begun == 0 => Some(Doubt::NotScheduled { graphs }),
        ProbeKind::CpuGraph if hits.cpu == 0 => Some(Doubt::NotOnCpu { graphs }),
        ProbeKind::OpStart | ProbeKind::OpEnd | ProbeKind::OpFunction
            if hits.cpu > 0 && hits.operators == 0 =>
        {
            Some(Doubt::NoOperator { graphs: hits.cpu, starts: totals.span_starts, ends: totals.span_ends })
        }
        // One open operator per thread is normal when probes are attached or removed.
        ProbeKind::OpEnd | ProbeKind::OpFunction if totals.spans_no_end * 10 > totals.span_starts => {
            Some(Doubt::NotEnded { open: totals.spans_no_end, starts: totals.span_starts })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [ProbeKind; 6] = [
        ProbeKind::LlamaDecode,
        ProbeKind::LlamaProcess,
        ProbeKind::SchedulerGraph,
        ProbeKind::CpuGraph,
        ProbeKind::OpStart,
        ProbeKind::OpEnd,
    ];

    fn doubted(hits: Hits, totals: Totals) -> Vec<ProbeKind> {
        KINDS.into_iter().filter(|m| doubt(*m, &hits, &totals).is_some()).collect()
    }

    #[test]
    fn no_doubt_before_a_graph_ran_or_if_all_probes_are_hit() {
        assert!(doubted(Hits::default(), Totals::default()).is_empty());
        let all = Hits { calls: 1, returned: 1, scheduler: 1, begun: 1, cpu: 1, operators: 64 };
        assert!(
            doubted(all, Totals { span_starts: 66, span_ends: 64, spans_no_end: 2, ..Totals::default() })
                .is_empty()
        );
    }

    #[test]
    fn a_scheduler_whose_first_graph_still_runs_is_not_doubted() {
        let first = Hits { calls: 1, returned: 0, scheduler: 0, begun: 1, cpu: 2, operators: 7 };
        assert!(doubted(first, Totals { span_starts: 7, span_ends: 7, ..Totals::default() }).is_empty());
    }

    #[test]
    fn probes_without_hits_are_doubted() {
        let totals = Totals { span_starts: 64, ..Totals::default() };
        let direct = Hits { calls: 1, returned: 1, scheduler: 0, begun: 0, cpu: 4, operators: 64 };
        assert_eq!(doubted(direct, totals), [ProbeKind::SchedulerGraph]);
        let other_program = Hits { calls: 0, returned: 0, scheduler: 2, begun: 2, cpu: 2, operators: 64 };
        assert_eq!(doubted(other_program, totals), [ProbeKind::LlamaDecode, ProbeKind::LlamaProcess]);
        let accelerator = Hits { calls: 1, returned: 1, scheduler: 2, begun: 2, cpu: 0, operators: 0 };
        assert_eq!(doubted(accelerator, totals), [ProbeKind::CpuGraph]);
        let elsewhere = Hits { calls: 1, returned: 1, scheduler: 2, begun: 2, cpu: 2, operators: 0 };
        assert_eq!(doubted(elsewhere, totals), [ProbeKind::OpStart, ProbeKind::OpEnd]);
    }

    #[test]
    fn operators_leaving_elsewhere_are_reported() {
        let hits = Hits { calls: 4, returned: 4, scheduler: 4, begun: 4, cpu: 4, operators: 288 };
        let totals = Totals { span_starts: 1072, span_ends: 288, spans_no_end: 784, ..Totals::default() };
        assert_eq!(doubted(hits, totals), [ProbeKind::OpEnd]);
        assert!(
            doubt(ProbeKind::OpEnd, &hits, &totals)
                .is_some_and(|d| d.to_string().starts_with("784 of 1072 operators"))
        );
    }
}
