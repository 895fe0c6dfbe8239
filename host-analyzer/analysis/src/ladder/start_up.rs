//! The time from the start of a program to its first call that is no trial call.
//!
//! The kernel's counts of the main thread split the time of each sample: it had a CPU, it waited for
//! one, or it slept. Trial calls are replayed like others.

use super::Ladder;
use super::gain::{Gain, Removal};
use super::question::Question;
use super::sources::{Sources, pid_of};
use super::step::{self, Step, StepKind};
use crate::replay::{Amounts, CallReplay, Cause, StartWaits};
use crate::shared::phase::Phase;
use profinfer_trace::model::{LlamaCallId, StartMoment, StartSample};

/// What was counted until the first call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StartUp {
    /// Bytes that the process read from storage.
    pub read_bytes: u64,
    /// Time of the samples in which it read, ns.
    pub reading_ns: u64,
    pub major_faults: u64,
    pub minor_faults: u64,
    /// CPU time of other threads than the main one, ns.
    pub other_threads_ns: u64,
    /// Resident memory at the first call, bytes.
    pub resident_bytes: u64,
    /// Part of it that is mapped from files or shared, bytes.
    pub file_bytes: u64,
}

/// Parts of the time until the first call, ns; `reading` is in the others.
#[derive(Debug, Default, PartialEq, Eq)]
struct Parts {
    held: u64,
    before_engine: u64,
    /// By [`Does`].
    on_cpu: [OnCpu; 3],
    wait: u64,
    /// Waits that do not fit into their samples: the kernel adds a wait at its end, so it also took time of the samples
    /// before.
    late_wait: u64,
    /// It slept or was stopped while another thread waited for a CPU.
    wait_of_others: u64,
    page_in: u64,
    asleep: u64,
    frozen: u64,
    reading: u64,
    not_recorded: u64,
}

impl Parts {
    /// Time in which it, or a thread for which it slept, might not use a CPU, ns.
    const fn waits(&self) -> u64 {
        self.wait.saturating_add(self.wait_of_others).saturating_add(self.frozen)
    }

    /// Moves time in which nothing was counted to waits that the kernel counted later.
    fn backdate(&mut self) {
        let late = self.late_wait.min(self.asleep);
        self.wait += late;
        self.asleep -= late;
    }

    /// Moves time in which it did nothing to the reason, by what the scheduler level saw.
    fn divide(&mut self, waits: &StartWaits) {
        let take = |from: &mut u64, ns: u64| {
            let taken = ns.min(*from);
            *from -= taken;
            taken
        };
        // At a stop it waits for the agent, which counts from when it sees the stop.
        self.held += take(&mut self.asleep, waits.stopped_ns.saturating_sub(self.held));
        self.frozen = take(&mut self.asleep, waits.frozen_ns);
        let (stopped, all) = (waits.stopped_for_others_ns, waits.of_others.total());
        self.wait_of_others = take(&mut self.held, stopped);
        self.wait_of_others += take(&mut self.asleep, all.saturating_sub(stopped));
    }
}

/// Time on a CPU after the engine's code was loaded, ns, and the clock ticks by which it is split.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct OnCpu {
    run: u64,
    user: u64,
    system: u64,
}

impl OnCpu {
    /// The part in the kernel.
    fn in_kernel(self) -> u64 {
        let ticks = self.user.saturating_add(self.system);
        if ticks == 0 {
            return 0;
        }
        let ns = u128::from(self.run) * u128::from(self.system) / u128::from(ticks);
        u64::try_from(ns).unwrap_or(0)
    }
}

/// What a program does at its start, once the engine's code is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Does {
    /// Also what it does where the functions of the loader have no names.
    LoadModel,
    CreateContext,
    Other,
}

impl Does {
    /// What it does before the first sample with a moment.
    fn at_first(samples: &[&StartSample]) -> Self {
        let named = samples.iter().any(|s| Self::after(s.moment).is_some());
        if named { Self::Other } else { Self::LoadModel }
    }

    /// What begins at a moment.
    const fn after(moment: StartMoment) -> Option<Self> {
        match moment {
            StartMoment::ModelBegins => Some(Self::LoadModel),
            StartMoment::ContextBegins => Some(Self::CreateContext),
            StartMoment::ModelLoaded | StartMoment::ContextCreated => Some(Self::Other),
            StartMoment::Sample | StartMoment::EngineLoaded | StartMoment::FirstCall => None,
        }
    }
}

/// The last start of a process in the recording; `None` if it was not sampled, or made no call.
pub(super) fn ladder(sources: &Sources<'_>, pid: u32) -> Option<Ladder> {
    let Sources { model, phases, replay, .. } = *sources;
    let all = || model.start_ups.iter().filter(|s| s.pid == pid);
    let exec_ns = all().map(|s| s.exec_ns).max()?;
    let samples: Vec<&StartSample> = all().filter(|s| s.exec_ns == exec_ns).collect();
    let calls = &model.llama_calls;
    let mut own = (0..calls.len())
        .filter(|i| model.threads.get(calls.thread[*i]).pid == pid && calls.start_ns[*i] >= exec_ns);
    let first = own.next()?;
    let first_ns = calls.start_ns[first];
    // The trial calls, and the time before the first call that is none.
    let until = [first].into_iter().chain(own).find(|i| phases.llama_calls[*i] != Phase::WarmUp);
    let trials = |c: &&CallReplay| {
        let LlamaCallId(call) = c.call;
        pid_of(model, c) == pid && until.is_some_and(|u| (first..u).contains(&(call as usize)))
    };
    let gap = |c: &&CallReplay| {
        let call = c.call.0 as usize;
        pid_of(model, c) == pid && call > first && until.is_some_and(|u| call <= u)
    };
    let rows: Vec<&CallReplay> =
        replay.calls.iter().filter(trials).chain(replay.gaps.iter().filter(gap)).collect();

    let waits = replay.start_waits.iter().find(|w| w.pid == pid && w.exec_ns == exec_ns);
    let mut parts = parts(&samples, exec_ns, first_ns, waits);
    if let Some(waits) = waits {
        parts.divide(waits);
    }
    let called_ns = rows.iter().map(|c| c.time_ns).fold(0, u64::saturating_add);
    let measured_ns = called_ns.saturating_add(first_ns - exec_ns);
    let removal = Removal::new(&rows, called_ns, 0);
    let mut steps = of_parts(&parts, waits);
    for step in step::steps(&rows, &removal, measured_ns, None) {
        let kind = match step.kind {
            StepKind::AboveFloor
            | StepKind::Imbalance
            | StepKind::Dispatch
            | StepKind::Preparation
            | StepKind::Allocation => StepKind::WarmUp,
            kind => kind,
        };
        add(&mut steps, Step { kind, ..step });
    }
    let steps = step::in_order(steps, measured_ns);
    let removable: u64 = parts.waits().saturating_add(rows.iter().map(|c| c.caused.total()).sum());
    Some(Ladder {
        question: Question::StartUp,
        pid,
        units: 1,
        traced_units: 1,
        tokens: 0,
        measured_ns,
        undisturbed_ns: measured_ns.saturating_sub(removable),
        steps,
        floor: None,
        all: all_causes(&parts, &removal),
        start_up: counts(&samples, parts.reading),
        calls: Vec::new(),
        removal,
    })
}

/// The parts of the samples. They sum to the time from exec to the first call.
fn parts(samples: &[&StartSample], exec_ns: u64, first_ns: u64, waits: Option<&StartWaits>) -> Parts {
    let mut parts = Parts::default();
    let mut at = exec_ns;
    let loaded = samples.iter().find(|s| s.moment == StartMoment::EngineLoaded).map(|s| s.at_ns);
    let first = samples.first().map_or(first_ns, |s| s.at_ns.clamp(at, first_ns));
    parts.not_recorded = first - at;
    at = first;
    let mut does = Does::at_first(samples);
    for pair in samples.windows(2) {
        does = Does::after(pair[0].moment).unwrap_or(does);
        let end = pair[1].at_ns.clamp(at, first_ns);
        let after_engine = loaded.is_none_or(|l| pair[1].at_ns > l);
        let asleep = between(pair[0], pair[1], end - at, after_engine.then_some(does), &mut parts);
        if reads(pair[0], pair[1]) {
            // Readings are 50 ms apart, and it may have slept for other reasons as well.
            let storage = waits.map_or(asleep, |w| w.storage_ns(asleep, (at, end)));
            parts.reading += end - at;
            parts.page_in += storage;
            parts.asleep += asleep - storage;
        } else {
            parts.asleep += asleep;
        }
        at = end;
    }
    parts.not_recorded += first_ns - at;
    parts.backdate();
    parts
}

fn grown(a: &StartSample, b: &StartSample, of: fn(&StartSample) -> Option<u64>) -> Option<u64> {
    Some(of(b)?.saturating_sub(of(a)?))
}

/// Something was read from storage between two samples.
fn reads(a: &StartSample, b: &StartSample) -> bool {
    let more = |of| grown(a, b, of).is_some_and(|n| n > 0);
    more(|s| s.read_bytes) || more(|s| s.major_faults)
}

/// Splits the `time` between two samples, in which the program does something; `None` before the engine's
/// code was loaded. Returns how long the thread slept.
fn between(a: &StartSample, b: &StartSample, time: u64, does: Option<Does>, parts: &mut Parts) -> u64 {
    let grown = |of| grown(a, b, of);
    let mut left = time;
    let mut take = |ns: u64| {
        let taken = ns.min(left);
        left -= taken;
        taken
    };
    let (run, wait) = (grown(|s| s.run_ns), grown(|s| s.wait_ns));
    let on_cpu = take(run.unwrap_or(0));
    let waited = take(wait.unwrap_or(0));
    parts.wait += waited;
    parts.late_wait = parts.late_wait.saturating_add(wait.unwrap_or(0) - waited);
    // The agent also counts stops of other threads, during which this one may go on.
    parts.held += take(b.held_ns.saturating_sub(a.held_ns));
    if run.is_none() {
        // Without the time on the CPU it is not known whether it slept.
        parts.not_recorded += left;
        left = 0;
    }
    match does {
        None => parts.before_engine += on_cpu,
        Some(does) => {
            let sum = &mut parts.on_cpu[does as usize];
            sum.run += on_cpu;
            sum.user += grown(|s| s.user_ns).unwrap_or(0);
            sum.system += grown(|s| s.system_ns).unwrap_or(0);
        }
    }
    left
}

fn of_parts(parts: &Parts, waits: Option<&StartWaits>) -> Vec<Step> {
    let system = parts.on_cpu.iter().map(|part| part.in_kernel()).sum();
    let user = |does: Does| {
        let part = parts.on_cpu[does as usize];
        part.run - part.in_kernel()
    };
    let step =
        |kind, ns: u64, gain| Step { kind, ns: i64::try_from(ns).unwrap_or(i64::MAX), half_ns: 0, gain };
    let mut steps = vec![
        step(StepKind::BeforeEngine, parts.before_engine, None),
        step(StepKind::PageIn, parts.page_in, None),
        step(StepKind::PageFaults, system, None),
        step(StepKind::Loading, user(Does::LoadModel), None),
        step(StepKind::Context, user(Does::CreateContext), None),
        step(StepKind::Application, user(Does::Other), None),
        step(StepKind::Probes, parts.held, None),
        step(StepKind::NotRecorded, parts.not_recorded, None),
        step(StepKind::Caused(Cause::Asleep), parts.asleep, None),
        step(StepKind::Caused(Cause::Stopped), parts.frozen, Some(exact(parts.frozen))),
    ];
    let mut shares = Amounts::default();
    let of = |amounts: fn(&StartWaits) -> &Amounts| waits.map(amounts).cloned().unwrap_or_default();
    let unknown = of(|w| &w.amounts).share(parts.wait, &mut shares);
    shares.add(Cause::UnknownHolder, unknown);
    of(|w| &w.of_others).share(parts.wait_of_others, &mut shares);
    let waits = shares.iter().map(|(cause, ns)| step(StepKind::Caused(cause), ns, Some(exact(ns))));
    steps.extend(waits);
    steps
}

/// One thread waited this long, so it would have begun earlier by that time.
const fn exact(ns: u64) -> Gain {
    Gain { low_ns: ns, likely_ns: ns, high_ns: ns }
}

fn all_causes(parts: &Parts, removal: &Removal) -> Option<Gain> {
    let all = removal.all().unwrap_or_default().plus(exact(parts.waits()));
    (all.high_ns > 0).then_some(all)
}

/// Adds a step to the one of its kind.
fn add(steps: &mut Vec<Step>, new: Step) {
    let Some(step) = steps.iter_mut().find(|s| s.kind == new.kind) else { return steps.push(new) };
    step.ns = step.ns.saturating_add(new.ns);
    step.half_ns = step.half_ns.saturating_add(new.half_ns);
    step.gain = match (step.gain, new.gain) {
        (Some(a), Some(b)) => Some(a.plus(b)),
        (a, b) => a.or(b),
    };
}

fn counts(samples: &[&StartSample], reading_ns: u64) -> Option<StartUp> {
    let (first, last) = (samples.first()?, samples.last()?);
    let grown =
        |of: fn(&StartSample) -> Option<u64>| of(last).unwrap_or(0).saturating_sub(of(first).unwrap_or(0));
    let main = grown(|s| s.user_ns).saturating_add(grown(|s| s.system_ns));
    Some(StartUp {
        read_bytes: grown(|s| s.read_bytes),
        reading_ns,
        major_faults: grown(|s| s.major_faults),
        minor_faults: grown(|s| s.minor_faults),
        other_threads_ns: grown(|s| s.process_ns).saturating_sub(main),
        resident_bytes: last.resident_bytes.unwrap_or(0),
        file_bytes: last.file_bytes.unwrap_or(0),
    })
}
