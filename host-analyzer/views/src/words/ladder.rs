//! Texts of the ladder.

use super::{count, one_line, size};
use profinfer_analysis::ladder::{
    Floor, FloorGroup, Ladder, NAMED, Programs, Question, Step, StepKind, TensorGroup,
};
use profinfer_analysis::replay::{Cause, Culprit, CulpritId, Replay};
use profinfer_trace::model::CeilingSource;

/// Number of tensor groups that are named.
const PARTS: usize = 3;

/// What a unit of a question is.
#[must_use]
pub const fn unit(question: Question) -> &'static str {
    match question {
        Question::Decode => "token",
        Question::Prompt => "prompt",
        Question::FirstToken => "request",
        Question::StartUp => "start",
        Question::Encode | Question::BetweenCalls => "call",
    }
}

/// Title of a ladder.
#[must_use]
pub const fn title(question: Question) -> &'static str {
    match question {
        Question::Decode => "decode",
        Question::Prompt => "prompt",
        Question::FirstToken => "first token",
        Question::StartUp => "start-up",
        Question::Encode => "encode",
        Question::BetweenCalls => "between calls",
    }
}

/// A step in a few words.
#[must_use]
pub fn label(step: &Step, ladder: &Ladder, replay: &Replay) -> String {
    match step.kind {
        StepKind::Floor => ladder.floor.as_ref().map_or_else(String::new, |f| floor(f, ladder)),
        StepKind::AboveFloor => match &ladder.floor {
            Some(floor) => format!("operators above that limit{}", parts(floor)),
            None => "operators; the limit of this board is not known".to_owned(),
        },
        StepKind::PageIn => format!("asleep while data was read from storage{}", read(ladder)),
        StepKind::PageFaults => format!("in the kernel: page faults, copies of files{}", faults(ladder)),
        StepKind::Application if ladder.question == Question::StartUp => "the application itself".to_owned(),
        StepKind::Caused(Cause::Asleep) if ladder.question == Question::StartUp => "asleep".to_owned(),
        StepKind::Probes if ladder.question == Question::StartUp => {
            "the agent attached its probes, and the probes of this recording".to_owned()
        }
        StepKind::Unexplained if ladder.share(step.ns) >= NAMED => {
            format!("unexplained; {}", explained_by(ladder, replay))
        }
        kind => name(kind, |id| replay.culprit(id).map_or_else(String::new, culprit)),
    }
}

/// The data that would show what unexplained time comes from.
fn explained_by(ladder: &Ladder, replay: &Replay) -> String {
    match ladder {
        _ if !replay.scheduler => "--levels all records what delayed the threads".to_owned(),
        ladder if ladder.traced_units < ladder.units => {
            format!("--full captures the operators of each {}", unit(ladder.question))
        }
        _ => "no thread was off its CPU: the clock (sensor frequency) or the host of a virtual machine may \
              show it"
            .to_owned(),
    }
}

/// The same without figures of the operators: for few columns.
#[must_use]
pub fn short_label(step: &Step, ladder: &Ladder, replay: &Replay) -> String {
    match step.kind {
        StepKind::Floor => ladder.floor.as_ref().map_or_else(String::new, |f| at_limits(f).to_owned()),
        StepKind::Unexplained => name(step.kind, |_| String::new()),
        StepKind::AboveFloor if ladder.floor.is_some() => "operators above their limits".to_owned(),
        _ => label(step, ladder, replay),
    }
}

/// The name of a step in any ladder; `program` names a program that had CPUs.
#[must_use]
pub fn name(kind: StepKind, program: impl FnOnce(CulpritId) -> String) -> String {
    match kind {
        StepKind::Floor => "operators at their limits".to_owned(),
        StepKind::AboveFloor => "operators".to_owned(),
        StepKind::Imbalance => "uneven split of work between threads".to_owned(),
        StepKind::Dispatch => "barriers and starting operators".to_owned(),
        StepKind::Preparation => "building the graph, inputs and outputs".to_owned(),
        StepKind::Allocation => "memory of graphs allocated anew".to_owned(),
        StepKind::Application => "sampling and application".to_owned(),
        StepKind::StateCopies => "copies of sequences' states: checkpoints, kept prompts".to_owned(),
        StepKind::Idle => "asleep between calls".to_owned(),
        StepKind::Encoder => "encoder of images or sound".to_owned(),
        StepKind::BeforeEngine => "before the engine's code was loaded: exec and linking".to_owned(),
        StepKind::PageIn => "asleep while data was read from storage".to_owned(),
        StepKind::PageFaults => "in the kernel: page faults, copies of files".to_owned(),
        StepKind::Loading => "loading the model: repacking, allocation, tokenizer".to_owned(),
        StepKind::Context => "creating the context: KV cache, buffers, trial graphs".to_owned(),
        StepKind::WarmUp => "trial calls of the engine".to_owned(),
        StepKind::OtherBackend => "other backends".to_owned(),
        StepKind::Probes => "probes of this recording".to_owned(),
        StepKind::Caused(cause) => caused(cause, program),
        StepKind::SmallCauses => "other small delays".to_owned(),
        StepKind::NotRecorded => "not recorded".to_owned(),
        StepKind::Unexplained => "unexplained".to_owned(),
    }
}

/// The same for programs of several recordings or parts.
#[must_use]
pub fn step(kind: StepKind, programs: &Programs) -> String {
    name(kind, |id| format!("{} had a CPU", one_line(programs.name(id))))
}

fn read(ladder: &Ladder) -> String {
    let Some(start) = &ladder.start_up else { return String::new() };
    let rate = start.read_bytes as f64 / start.reading_ns.max(1) as f64 * 1e3;
    format!(" ({} at {rate:.0} MB/s)", size(start.read_bytes))
}

fn faults(ladder: &Ladder) -> String {
    let Some(start) = &ladder.start_up else { return String::new() };
    format!(" ({} minor, {} major)", count(start.minor_faults), count(start.major_faults))
}

fn caused(cause: Cause, program: impl FnOnce(CulpritId) -> String) -> String {
    match cause {
        Cause::Program(id) => program(id),
        Cause::Agent => "the agent: on a CPU, or stopping the engine for its probes".to_owned(),
        Cause::Placement => "engine threads shared a CPU although another one was free".to_owned(),
        Cause::TooManyThreads => "more running threads than CPUs".to_owned(),
        Cause::SharedCpu => "engine threads shared a CPU".to_owned(),
        Cause::IdleTeam => {
            "engine threads that compute nothing had a CPU, or made others sleep at barriers".to_owned()
        }
        Cause::Steal => "a hypervisor had a CPU".to_owned(),
        Cause::Throttled => "runnable, but its CPU was idle: quota or hypervisor".to_owned(),
        Cause::UnknownHolder => "preempted; by which program is not recorded".to_owned(),
        Cause::Interrupts => "interrupts".to_owned(),
        Cause::WakeUp => "threads slept at barriers and were woken".to_owned(),
        Cause::Blocked => "blocked in an operator: page read from storage or kernel lock".to_owned(),
        Cause::Asleep => "asleep in an operator".to_owned(),
        Cause::Stopped => "stopped by a signal, a debugger or a freezer".to_owned(),
        Cause::SharedMemory(id) => format!("{} next to the engine: operators took longer", program(id)),
        Cause::LowerSpeed => {
            "operators slower than in the fastest part: clock, heat, or other users of the memory".to_owned()
        }
    }
}

/// A program, and the CPUs that it had.
#[must_use]
pub fn culprit(culprit: &Culprit) -> String {
    let name = one_line(culprit.program());
    let who = match (culprit.tasks, culprit.pid) {
        (n, 0) if n > 1 => format!("{n} tasks named {name}"),
        (_, 0) => format!("{name} (thread {})", culprit.tid),
        (_, pid) => format!("{name} (pid {pid})"),
    };
    let cpus: Vec<String> = culprit.cpus.iter().map(u16::to_string).collect();
    let cpus = match culprit.cpus.len() {
        0 => "a CPU".to_owned(),
        1 => format!("CPU {}", cpus.join("")),
        _ => format!("CPUs {}", cpus.join(", ")),
    };
    format!("{who} had {cpus}")
}

/// The operators of a floor by the source of its limits: that of the memory's rate, else that of the arithmetic.
fn at_limits(floor: &Floor) -> &'static str {
    match floor.source.or(floor.arithmetic_source) {
        Some(CeilingSource::BestSeen) => "operators at the best rate seen in this recording",
        Some(CeilingSource::Profile) => "operators at the limits of the board's profile",
        _ => "operators at this board's limits",
    }
}

fn floor(floor: &Floor, ladder: &Ladder) -> String {
    let best_seen = |source: Option<CeilingSource>| source == Some(CeilingSource::BestSeen);
    let rate = floor.bytes_per_s.map(|per_s| {
        let bytes = size(floor.bytes / ladder.units.max(1));
        let measured =
            if floor.source.is_some_and(|s| s < CeilingSource::Profile) { ", measured" } else { "" };
        format!("{bytes} at {:.1} GB/s{measured}", per_s as f64 / 1e9)
    });
    let arithmetic = match floor.arithmetic_source {
        None => None,
        Some(_) if rate.is_none() => Some("arithmetic".to_owned()),
        source if best_seen(source) && !best_seen(floor.source) => {
            Some("arithmetic at the best rate seen in this recording".to_owned())
        }
        Some(_) => None,
    };
    let of: Vec<String> = rate.into_iter().chain(arithmetic).collect();
    let of = if of.is_empty() { String::new() } else { format!(" ({})", of.join("; ")) };
    let higher = [floor.source, floor.arithmetic_source].into_iter().any(best_seen);
    let higher = if higher { "; the board's limit may be higher" } else { "" };
    format!("{}{of}{higher}", at_limits(floor))
}

/// The tensor groups with most of the time above their limits, and how fast they read.
fn parts(floor: &Floor) -> String {
    let all: u64 = floor.groups.iter().map(FloorGroup::above_ns).sum();
    let shown = floor.groups.iter().take(PARTS).filter(|g| g.above_ns() > 0);
    let shown: Vec<String> = shown.map(|g| one_line(&part(g, all))).collect();
    if shown.is_empty() { String::new() } else { format!(": {}", shown.join(", ")) }
}

fn part(of: &FloorGroup, all_ns: u64) -> String {
    let share = of.above_ns() as f64 * 100.0 / all_ns.max(1) as f64;
    let name = of.group.name().replace('_', " ");
    let unknown = if of.unknown_ns > of.work_ns / 2 { " (no formula)" } else { "" };
    let text = format!("{name} {} {share:.0} %{unknown}", of.dtype);
    // What the others read besides is no measure of their speed.
    let reads = of.group.reads_weights() || of.group == TensorGroup::AttentionCells;
    if of.bytes == 0 || !reads {
        return text;
    }
    format!("{text} ({:.1} GB/s)", of.bytes as f64 / of.work_ns.max(1) as f64)
}
