//! `ladders`: the steps of each question.

use super::Publish;
use crate::words;
use profinfer_analysis::ladder;
use profinfer_analysis::ladder::{Ladder, Ladders, Question, StepKind};
use profinfer_analysis::program::program;
use profinfer_analysis::replay::{Cause, Culprit, Replay};
use profinfer_schema as schema;

names! {
    Question => Question { Decode, Prompt, FirstToken, StartUp, Encode, BetweenCalls }
    ladder::Limit => FloorLimit { Memory, Arithmetic, Unknown }
}

fields! {
    ladder::StartUp => LadderStartUp {
        read_bytes, reading_ns, major_faults, minor_faults, other_threads_ns, resident_bytes, file_bytes
    }
    ladder::Gain => LadderGain { low_ns, likely_ns, high_ns }
    ladder::FloorPart => LadderFloorPart { op, dtype, limit, bytes, operations, floor_ns, work_ns }
    ladder::FloorGroup => LadderFloorGroup { group, dtype, bytes, operations, floor_ns, work_ns, unknown_ns }
        - { ns_per_operation }
    ladder::Floor => LadderFloor { ns, half_ns, bytes, bytes_per_s, source, arithmetic_source, parts, groups }
}

impl Publish for Culprit {
    type Form = schema::Culprit;

    fn publish(&self) -> Self::Form {
        let Self { tid, pid, name, command, cgroup, engine, tasks, cpus } = self;
        schema::Culprit {
            tid: *tid,
            pid: *pid,
            name: name.publish(),
            program: program(*pid, name, command).publish(),
            command: command.publish(),
            cgroup: cgroup.publish(),
            engine: *engine,
            tasks: *tasks,
            cpus: cpus.publish(),
        }
    }
}

impl Publish for ladder::TensorGroup {
    type Form = String;

    fn publish(&self) -> Self::Form {
        self.name().to_owned()
    }
}

/// All ladders.
pub(crate) fn ladders(all: &Ladders, replay: &Replay) -> Vec<schema::Ladder> {
    all.rows.iter().map(|ladder| published(ladder, replay)).collect()
}

fn published(ladder: &Ladder, replay: &Replay) -> schema::Ladder {
    let Ladder {
        question,
        pid,
        units,
        traced_units,
        tokens,
        measured_ns,
        undisturbed_ns,
        steps,
        floor,
        all,
        start_up,
        ..
    } = ladder;
    schema::Ladder {
        question: question.publish(),
        pid: *pid,
        units: *units,
        traced_units: *traced_units,
        tokens: *tokens,
        measured_ns: *measured_ns,
        undisturbed_ns: *undisturbed_ns,
        steps: steps.iter().map(|s| step(s, ladder, replay)).collect(),
        floor: floor.publish(),
        all_causes: all.publish(),
        start_up: start_up.publish(),
    }
}

pub(crate) fn sum(question: ladder::Question, sum: &ladder::LadderSum) -> schema::LadderSum {
    let step = |(kind, ns): (StepKind, u64)| schema::LadderSumStep {
        kind: kind.publish(),
        label: words::ladder::step(kind, &sum.programs),
        culprit: kind.program().map(|id| sum.programs.name(id).to_owned()),
        ns,
    };
    schema::LadderSum {
        question: question.publish(),
        parts: sum.parts,
        units: sum.units,
        tokens: sum.tokens,
        measured_ns: sum.measured_ns,
        steps: sum.steps().into_iter().map(step).collect(),
    }
}

fn step(step: &ladder::Step, ladder: &Ladder, replay: &Replay) -> schema::LadderStep {
    let ladder::Step { kind, ns, half_ns, gain } = step;
    let half = i64::try_from(*half_ns).unwrap_or(i64::MAX);
    let culprit = kind.program().and_then(|id| replay.culprit(id));
    schema::LadderStep {
        kind: kind.publish(),
        label: words::ladder::label(step, ladder, replay),
        ns: *ns,
        low_ns: ns.saturating_sub(half),
        high_ns: ns.saturating_add(half),
        culprit: culprit.map(Culprit::publish),
        gain: gain.publish(),
    }
}

impl Publish for StepKind {
    type Form = schema::StepKind;

    fn publish(&self) -> Self::Form {
        use schema::StepKind as To;
        match self {
            Self::Floor => To::Floor,
            Self::AboveFloor => To::AboveFloor,
            Self::Imbalance => To::Imbalance,
            Self::Dispatch => To::Dispatch,
            Self::Preparation => To::GraphPreparation,
            Self::Allocation => To::GraphAllocation,
            Self::Application => To::Application,
            Self::StateCopies => To::StateCopies,
            Self::Idle => To::Idle,
            Self::Encoder => To::Encoder,
            Self::BeforeEngine => To::BeforeEngine,
            Self::PageIn => To::PageIn,
            Self::PageFaults => To::PageFaults,
            Self::Loading => To::Loading,
            Self::Context => To::Context,
            Self::WarmUp => To::WarmUp,
            Self::OtherBackend => To::OtherBackend,
            Self::Probes => To::Probes,
            Self::Caused(cause) => match cause {
                Cause::Program(_) => To::Program,
                Cause::Agent => To::Agent,
                Cause::Placement => To::Placement,
                Cause::TooManyThreads => To::TooManyThreads,
                Cause::SharedCpu => To::SharedCpu,
                Cause::IdleTeam => To::IdleTeam,
                Cause::Steal => To::Steal,
                Cause::Throttled => To::Throttled,
                Cause::UnknownHolder => To::UnknownHolder,
                Cause::Interrupts => To::Interrupts,
                Cause::WakeUp => To::WakeUp,
                Cause::Blocked => To::Blocked,
                Cause::Asleep => To::Asleep,
                Cause::Stopped => To::Stopped,
                Cause::SharedMemory(_) => To::SharedMemory,
                Cause::LowerSpeed => To::LowerSpeed,
            },
            Self::SmallCauses => To::SmallCauses,
            Self::NotRecorded => To::NotRecorded,
            Self::Unexplained => To::Unexplained,
        }
    }
}
