//! The sentences about direct probes.

use super::{count, one_line};
use profinfer_trace::model::{NotDirect, OperatorProbes, Why};

/// The sentence of one process.
pub(super) fn line(p: &OperatorProbes) -> String {
    let repaired = match p.repaired {
        0 => String::new(),
        n => format!("; {} places that a killed agent had changed were restored first", count(n.into())),
    };
    match &p.refused {
        None => format!(
            "probes: operators of process {} have direct probes, without traps ({} places; the engine was stopped for \
             {:.1} ms){repaired}",
            p.pid,
            p.places,
            p.stopped_ns as f64 / 1e6
        ),
        Some(refused) => format!(
            "probes: direct probes were requested; operators of process {} have uprobes, because {}",
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
        Why::NoPlaces => "the engine's files have no suitable places",
        Why::Code => "the engine's code has no places that are proved to be safe",
        Why::Tracer => "another tracer held the engine",
        Why::NotAllowed => "the kernel did not let the agent stop the engine",
        Why::DoesNotStop => "the engine did not stop",
        Why::JobControl => "the engine was stopped by job control",
        Why::Seccomp => "a seccomp filter guards the engine",
        Why::PidNamespace => "the engine runs in a separate PID namespace",
        Why::Clock => "the processor's clock cannot be used",
        Why::NoThreadNumber => "the thread number of the engine's threads was not found",
        Why::NoRoom => "there was no free memory within reach of the engine's code",
        Why::NotMapped => "the engine's file was no longer mapped as when it was examined",
        Why::Changed => "the engine's code differed from its file",
        Why::TwoPages => "an instruction to be changed spans two pages",
        Why::OtherAgent => "another agent records the engine directly",
        Why::NoThread => "no thread of the engine could be interrupted safely",
        Why::Mapping => "the system did not allow the engine to map the pages",
        Why::Unreachable => "the agent could not reach what the engine mapped",
        Why::Ended => "the engine had ended",
        Why::NotBuilt => "the agent was built without direct probes",
        Why::Other => "unknown reason (reported by a newer agent)",
    };
    format!("{why}{detail}")
}
