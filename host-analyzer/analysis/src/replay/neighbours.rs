//! Programs on CPUs where the engine does not compute: they share its memory, its caches, its clock.
//!
//! Nothing is off the CPU then, so no meeting shows it: the operators take longer. Where the programs come
//! and go, the calls show by how much: t = U · (1 + β · b), with b the CPUs that others keep busy. The slope
//! is taken within blocks of calls, each with its own line over time, so a context that grows and a clock
//! that drifts are no neighbours.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::cause::{Culprit, CulpritId};
use super::programs::Programs;
use super::{Amounts, CallReplay, Cause, SEEN};
use crate::shared::agent::is_agent;
use crate::shared::cpu_use::CpuUseIndex;
use crate::shared::phase::Phase;
use crate::stats::slope::slope;
use profinfer_trace::model::{Model, TaskId, ThreadState};

/// Who was busy next to the decode calls of a process.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Neighbours {
    pub pid: u32,
    /// CPUs that others kept busy, in the mean over the calls.
    pub busy_cpus: f64,
    /// Their programs with the time that each had, ns; the longest first.
    pub programs: Vec<(Culprit, u64)>,
    pub cpus: Vec<u16>,
    /// How much longer operators take per busy CPU, as a share; `None` if that did not vary enough to see it.
    pub per_cpu: Option<Share>,
}

/// A share with the half width of its interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    pub value: f64,
    pub half: f64,
}

/// Calls with a common line over time.
const BLOCK: usize = 32;
/// Least standard deviation of the busy CPUs within blocks.
const LEAST: f64 = 0.05;
/// On a CPU where the engine has more than this part of a call, others preempt it.
const OWN: f64 = 0.05;

/// `decode`: the phase of the calls that are compared. Where a process has none, its calls with several outputs
/// are: every one verifies guesses.
pub(super) fn assign(
    model: &Model,
    decode: Phase,
    programs: &mut Programs<'_>,
    calls: &mut [CallReplay],
) -> Vec<Neighbours> {
    let Some(busy) = Busy::new(model) else { return Vec::new() };
    let mut of_pid: BTreeMap<u32, Vec<&mut CallReplay>> = BTreeMap::new();
    let plain: BTreeSet<u32> = calls.iter().filter(|c| c.phase == decode).map(|c| c.pid(model)).collect();
    for call in calls.iter_mut().filter(|c| c.traced) {
        let pid = call.pid(model);
        let phase = if plain.contains(&pid) { decode } else { Phase::BatchDecode };
        if call.phase == phase {
            of_pid.entry(pid).or_default().push(call);
        }
    }
    of_pid.into_iter().map(|(pid, mut calls)| of_process(&busy, pid, programs, &mut calls)).collect()
}

fn of_process(
    busy: &Busy<'_>,
    pid: u32,
    programs: &mut Programs<'_>,
    calls: &mut [&mut CallReplay],
) -> Neighbours {
    let alongside: Vec<Alongside> = calls.iter().map(|c| busy.alongside(pid, c.bounds(busy.model))).collect();
    let mean = |of: &dyn Fn(usize) -> f64| (0..calls.len()).map(of).sum::<f64>() / calls.len().max(1) as f64;
    let busy_cpus = mean(&|i| alongside[i].share);
    let work = mean(&|i| calls[i].usual.work as f64).max(1.0);
    let values: Vec<(f64, f64)> =
        calls.iter().zip(&alongside).map(|(c, b)| (b.share, c.usual.work as f64 / work)).collect();
    // Of the time with the mean number of busy CPUs; then of the time with none.
    let of_none = |slope: f64| slope / (1.0 - slope * busy_cpus).max(0.1);
    let per_cpu =
        slope(&values, BLOCK, LEAST).map(|s| Share { value: of_none(s.value), half: SEEN * s.error });
    if let Some(Share { value, .. }) = per_cpu.filter(|share| share.value > share.half) {
        for (call, alongside) in calls.iter_mut().zip(&alongside) {
            let longer = value * alongside.share / (1.0 + value * alongside.share);
            let ns = (call.usual.work as f64 * longer) as u64;
            let mut causes = Amounts::default();
            for (cpu, task, ns) in &alongside.tasks {
                causes.add(Cause::SharedMemory(programs.of_task(*task, *cpu)), *ns);
            }
            let left = causes.share(ns, &mut call.caused);
            causes.share(ns, &mut call.alone);
            let work = call.usual.work;
            call.usual.work -= ns - left;
            call.scale_weights(work);
        }
    }
    // Not those of the replay, whose programs took time from the engine.
    let mut beside_it = programs.another();
    let mut times: BTreeMap<CulpritId, u64> = BTreeMap::new();
    let mut cpus: BTreeSet<u16> = BTreeSet::new();
    for (cpu, task, ns) in alongside.iter().flat_map(|b| &b.tasks) {
        *times.entry(beside_it.of_task(*task, *cpu)).or_default() += ns;
        cpus.insert(*cpu);
    }
    let mut busiest: Vec<(Culprit, u64)> =
        beside_it.into_culprits().into_iter().zip(times.into_values()).collect();
    busiest.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    Neighbours { pid, busy_cpus, programs: busiest, cpus: cpus.into_iter().collect(), per_cpu }
}

/// Who had the other CPUs during a call.
#[derive(Debug, Default)]
struct Alongside {
    /// CPUs, tasks, and times, ns.
    tasks: Vec<(u16, TaskId, u64)>,
    /// Sum of the times over that of the call: CPUs that were busy.
    share: f64,
}

/// Who had which CPU.
struct Busy<'a> {
    model: &'a Model,
    tasks: CpuUseIndex<'a>,
    /// Times in which threads of a process ran, by CPU, by start.
    runs: HashMap<(u32, u16), Vec<(u64, u64)>>,
}

impl<'a> Busy<'a> {
    fn new(model: &'a Model) -> Option<Self> {
        let tasks = CpuUseIndex::new(model)?;
        let states = &model.sched.states;
        let mut runs: HashMap<(u32, u16), Vec<(u64, u64)>> = HashMap::new();
        for i in (0..states.len()).filter(|i| states.state[*i] == ThreadState::Running) {
            let (start, pid) = (states.start_ns[i], model.threads.get(states.thread[i]).pid);
            let end = start.saturating_add(states.duration_ns[i]);
            runs.entry((pid, states.cpu[i])).or_default().push((start, end));
        }
        runs.values_mut().for_each(|rows| rows.sort_unstable());
        Some(Self { model, tasks, runs })
    }

    /// Who had the CPUs on which process `pid` did not compute.
    fn alongside(&self, pid: u32, (from, to): (u64, u64)) -> Alongside {
        let length = to.saturating_sub(from).max(1);
        let mut alongside = Alongside::default();
        let mut sum = 0_u64;
        for cpu in self.tasks.cpus() {
            if self.own(pid, cpu, (from, to)) as f64 > length as f64 * OWN {
                continue;
            }
            for (task, ns) in self.tasks.busy(cpu, from, to) {
                let row = &self.model.sched.tasks[task.0 as usize];
                if row.tid == 0 || row.pid == pid || is_agent(self.model, row) == Some(true) {
                    continue;
                }
                sum = sum.saturating_add(ns);
                match alongside.tasks.iter_mut().find(|(c, t, _)| (*c, *t) == (cpu, task)) {
                    Some((_, _, ns_before)) => *ns_before = ns_before.saturating_add(ns),
                    None => alongside.tasks.push((cpu, task, ns)),
                }
            }
        }
        alongside.share = sum as f64 / length as f64;
        alongside
    }

    /// Time that a process had a CPU, ns.
    fn own(&self, pid: u32, cpu: u16, (from, to): (u64, u64)) -> u64 {
        let rows = self.runs.get(&(pid, cpu)).map_or(&[][..], Vec::as_slice);
        // Runs of a CPU do not overlap, so their ends are in order too.
        let first = rows.partition_point(|(_, end)| *end <= from);
        let inside = |(start, end): &(u64, u64)| end.min(&to).saturating_sub(*start.max(&from));
        rows[first..].iter().take_while(|(start, _)| *start < to).map(inside).sum()
    }
}
