//! Whether the probes are where the engine works: what was found in its files, held against what was then hit.
//!
//! Stage: once a second, and at the end. From: how often each level of a process was hit, and the kernel's totals. To:
//! a sentence for every mark that should have been hit and was not, which the recording says of the probe by name.
//! Promises: says nothing before a graph has run to its end.

use crate::bpf::Totals;
use crate::engine::Mark;

/// How often a process was seen to do something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hits {
    /// Token-level calls that began.
    pub calls: u64,
    /// Graphs that the scheduler computed.
    pub scheduler: u64,
    /// Graphs that the scheduler began to compute.
    pub begun: u64,
    /// Graphs with nodes that the CPU backend computed.
    pub cpu: u64,
    /// Operators that were seen from start to end.
    pub operators: u64,
}

/// What is wrong with a mark's probes, if something is. `totals` are those of all processes.
#[must_use]
pub fn doubt(mark: Mark, hits: &Hits, totals: &Totals) -> Option<String> {
    let graphs = hits.scheduler.max(hits.cpu);
    if graphs == 0 {
        return None;
    }
    let never = |what: &str| Some(format!("never hit, although {graphs} graphs ran: {what}"));
    match mark {
        Mark::LlamaDecode | Mark::LlamaProcess if hits.calls == 0 => {
            never("the program computes graphs without it")
        }
        // Its splits end before it does.
        Mark::SchedulerGraph if hits.begun == 0 => never("the engine does not call it for its graphs"),
        Mark::CpuGraph if hits.cpu == 0 => never("nothing was computed on the CPU, or not through it"),
        Mark::OpStart | Mark::OpEnd | Mark::OpFunction if hits.cpu > 0 && hits.operators == 0 => {
            let (starts, ends) = (totals.span_starts, totals.span_ends);
            let graphs = hits.cpu;
            Some(format!(
                "no operator was seen from start to end, although {graphs} graphs ran on the CPU ({starts} starts, {ends} \
                 ends): the operators run elsewhere"
            ))
        }
        // One open operator a thread is usual when probes come or go.
        Mark::OpEnd | Mark::OpFunction if totals.spans_no_end * 10 > totals.span_starts => Some(format!(
            "{} of {} operators were not seen to end: some leave by another way",
            totals.spans_no_end, totals.span_starts
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARKS: [Mark; 6] = [
        Mark::LlamaDecode,
        Mark::LlamaProcess,
        Mark::SchedulerGraph,
        Mark::CpuGraph,
        Mark::OpStart,
        Mark::OpEnd,
    ];

    fn doubted(hits: Hits, totals: Totals) -> Vec<Mark> {
        MARKS.into_iter().filter(|m| doubt(*m, &hits, &totals).is_some()).collect()
    }

    #[test]
    fn nothing_is_doubted_before_a_graph_ran_nor_when_all_is_hit() {
        assert!(doubted(Hits::default(), Totals::default()).is_empty());
        let all = Hits { calls: 1, scheduler: 1, begun: 1, cpu: 1, operators: 64 };
        assert!(
            doubted(all, Totals { span_starts: 66, span_ends: 64, spans_no_end: 2, ..Totals::default() })
                .is_empty()
        );
    }

    #[test]
    fn a_scheduler_whose_first_graph_still_runs_is_not_doubted() {
        let first = Hits { calls: 1, scheduler: 0, begun: 1, cpu: 2, operators: 7 };
        assert!(doubted(first, Totals { span_starts: 7, span_ends: 7, ..Totals::default() }).is_empty());
    }

    #[test]
    fn what_was_not_hit_is_doubted() {
        let totals = Totals { span_starts: 64, ..Totals::default() };
        let direct = Hits { calls: 1, scheduler: 0, begun: 0, cpu: 4, operators: 64 };
        assert_eq!(doubted(direct, totals), [Mark::SchedulerGraph]);
        let other_program = Hits { calls: 0, scheduler: 2, begun: 2, cpu: 2, operators: 64 };
        assert_eq!(doubted(other_program, totals), [Mark::LlamaDecode, Mark::LlamaProcess]);
        let accelerator = Hits { calls: 1, scheduler: 2, begun: 2, cpu: 0, operators: 0 };
        assert_eq!(doubted(accelerator, totals), [Mark::CpuGraph]);
        let elsewhere = Hits { calls: 1, scheduler: 2, begun: 2, cpu: 2, operators: 0 };
        assert_eq!(doubted(elsewhere, totals), [Mark::OpStart, Mark::OpEnd]);
    }

    #[test]
    fn operators_that_leave_by_another_way_are_told() {
        let hits = Hits { calls: 4, scheduler: 4, begun: 4, cpu: 4, operators: 288 };
        let totals = Totals { span_starts: 1072, span_ends: 288, spans_no_end: 784, ..Totals::default() };
        assert_eq!(doubted(hits, totals), [Mark::OpEnd]);
        assert!(doubt(Mark::OpEnd, &hits, &totals).is_some_and(|d| d.starts_with("784 of 1072 operators")));
    }
}
