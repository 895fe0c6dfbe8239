//! How operators were probed, in words.

use super::{count, one_line};
use profinfer_trace::model::{NotDirect, OperatorProbes, Why};

/// The sentence of one process.
pub(super) fn line(p: &OperatorProbes) -> String {
    let repaired = match p.repaired {
        0 => String::new(),
        n => format!("; {} places of an agent that was killed were put back first", count(n.into())),
    };
    match &p.refused {
        None => format!(
            "probes: operators of process {} are probed directly, without a trap ({} places; the engine stood still for \
             {:.1} ms){repaired}",
            p.pid,
            p.places,
            p.stopped_ns as f64 / 1e6
        ),
        Some(refused) => format!(
            "probes: direct probes were asked for; operators of process {} are probed by uprobes, because {}",
            p.pid,
            reason(refused)
        ),
    }
}

fn reason(refused: &NotDirect) -> String {
    let detail = one_line(&refused.detail);
    let detail = if detail.is_empty() { detail } else { format!(" ({detail})") };
    let why = match refused.why {
        Why::Counters => "counters are read at operators",
        Why::Experts => "experts are read at operators",
        Why::Capture => "starts only or a filter on threads is in force",
        Why::Architecture => "the agent has no code for this processor",
        Why::NoPlaces => "the engine's files offer no places",
        Why::Code => "the engine's code offers no places that are proved to be safe",
        Why::Tracer => "another tracer held the engine",
        Why::NotAllowed => "the kernel did not let the agent stop the engine",
        Why::DoesNotStop => "the engine did not stop",
        Why::JobControl => "the engine was stopped by job control",
        Why::Seccomp => "a seccomp filter guards the engine",
        Why::PidNamespace => "the engine has process ids of its own",
        Why::Clock => "the processor's clock cannot be used",
        Why::NoThreadNumber => "where the engine's threads keep their number was not found",
        Why::NoRoom => "there was no room within reach of the engine's code",
        Why::NotMapped => "the engine's file was no longer mapped as it was examined",
        Why::Changed => "the engine's code was not as in its file",
        Why::TwoPages => "an instruction to be changed lies in two pages",
        Why::OtherAgent => "another agent records the engine directly",
        Why::NoThread => "no thread of the engine could be interrupted safely",
        Why::Mapping => "the engine's system did not let it map the pages",
        Why::Unreachable => "the agent could not reach what the engine mapped",
        Why::Ended => "the engine had ended",
        Why::NotBuilt => "the agent was built without them",
        Why::Other => "of a reason that this release does not know",
    };
    format!("{why}{detail}")
}
