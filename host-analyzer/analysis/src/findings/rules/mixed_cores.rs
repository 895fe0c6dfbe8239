//! Threads run on cores of different speed, and the fast ones wait.

use super::super::case::{MIN_CALLS, MIN_GAIN_SHARE, MIN_TRACED};
use super::super::evidence::{Evidence, Place, Value};
use super::super::{Case, Confidence, Found, Requirement, Rule, Verdict};
use super::{ANY, Remedy};
use crate::ladder::StepKind;
use crate::results::budget::Class;

pub(super) const RULE: Rule = Rule {
    code: "mixed_cores",
    topic: "core types",
    title: "Threads span slow and fast cores",
    question: "Why did it become slower with more threads, or after an update?",
    condition: "Threads compute on CPUs of different capacity (or highest clock), the work takes at least 1.1 times as long on the slow ones, and the threads on fast ones wait for those on slow ones. The fast ones alone would be faster.",
    formula: "Replay operator by operator: instead of the time from the first start to the last end it takes, on the fast cores alone, their work and that of the slow ones, which a fast one does in a shorter time, divided by the fast threads. How much shorter is seen in this recording: the mean time on slow cores over that on fast ones, of all operators together (least) and of the type of operator where it is largest (most), because where threads ask for rows, a slow one gets fewer. Waiting inside an operator until the last thread has begun is no work (products with quantized weights have a barrier there): for operators that show such a barrier in this recording, at most for all.",
    remedy: "Give the engine one thread for each fast core and keep it there (-t, --cpu-mask with --cpu-strict, taskset).",
    source: "llama.cpp #7176 (RK3588: 4 big cores instead of 8 threads), #16164; decode on 4 A76 is 19 to 66 % faster than on 8 cores of an RK3588",
    questions: ANY,
    requires: &[
        Requirement::Calls(MIN_CALLS),
        Requirement::TracedCalls(MIN_TRACED),
        Requirement::Ends,
        Requirement::AllOperators,
        Requirement::Cpus,
    ],
    steps: |_, kind| matches!(kind, StepKind::AboveFloor | StepKind::Imbalance),
    judge,
};

/// Work on a slow core takes at least so many times as long as on a fast one.
const LONGER: f64 = 1.1;

fn judge(case: &Case<'_>) -> Verdict {
    let used = case.working_cpus();
    let speed = |cpu: &u16| case.speeds.get(usize::from(*cpu)).copied().unwrap_or(0);
    let (slowest, fastest) =
        (used.iter().map(|(c, _)| speed(c)).min(), used.iter().map(|(c, _)| speed(c)).max());
    let (Some(slowest), Some(fastest)) = (slowest, fastest) else { return Verdict::DoesNotApply };
    if fastest == 0 {
        return Verdict::NotEnoughData(vec![Requirement::Fact("cpu.capacity")]);
    }
    let fast: Vec<u16> = used.iter().map(|(cpu, _)| *cpu).filter(|cpu| speed(cpu) == fastest).collect();
    let waits = case.wall(&[Class::WaitSlowerCore]);
    let evidence = vec![
        case.per_unit("wait_slower_core_ns", Value::Nanoseconds(waits.mean as u64), Place::Budget),
        Evidence::new("fast_cpus", Value::Cpus(fast.clone()), Place::Threads),
        Evidence::new("cpus", Value::Cpus(used.iter().map(|(cpu, _)| *cpu).collect()), Place::Threads),
        Evidence::new("slowest_to_fastest", Value::Share(slowest as f64 / fastest as f64), Place::Conditions),
    ];
    // Slow by name only, or given less to do: work on the slow cores takes no longer.
    let mean = |of_fast: bool| {
        let ns: Vec<u64> =
            used.iter().filter(|(cpu, _)| (speed(cpu) == fastest) == of_fast).map(|(_, ns)| *ns).collect();
        ns.iter().sum::<u64>() as f64 / ns.len().max(1) as f64
    };
    let uneven = slowest != fastest && mean(false) >= mean(true) * LONGER;
    if let Some(noisy) = case.noisy(waits, MIN_GAIN_SHARE, &evidence).filter(|_| uneven) {
        return noisy;
    }
    if !uneven || case.share(waits.mean) < MIN_GAIN_SHARE {
        return Verdict::RuledOut(evidence);
    }
    let types = case.core_types(&fast);
    let (least, most) = types.saved();
    let (least, most) = (least / case.calls.traced_units(), most / case.calls.traced_units());
    if most < case.calls.unit_ns as f64 * MIN_GAIN_SHARE {
        // The fast cores alone would take as long.
        return Verdict::RuledOut(evidence);
    }
    let gain = case.gain(least, most).in_other_sessions();
    Verdict::Found(Found {
        evidence,
        remedy: Remedy::Pin { threads: fast.len() as u64, cpus: fast },
        gains: vec![gain],
        confidence: if least > 0.0 { Confidence::High } else { Confidence::Medium },
    })
}
