//! Why something is missing, in words that a user can act on.

use super::found::quoted;
use crate::probes::dispatch::START;
use crate::probes::kind::ProbeKind;
use crate::probes::missing::{Missing, MissingReason, NoEnd, NoFunction, NoStart, Unprobable};

/// The missing item, and why it is not there.
#[must_use]
pub fn missing(missing: &Missing) -> String {
    format!("{}: {}", missing.symbol, reason(missing))
}

/// Why it is not there.
#[must_use]
pub fn reason(missing: &Missing) -> String {
    let text = match &missing.reason {
        MissingReason::NotDefined => not_defined(missing.kind),
        MissingReason::Stripped(texts) => return stripped(texts, missing.kind),
        MissingReason::NoOperators { start, function } => {
            let function = function.map_or("", no_function);
            let third = "no function dispatches operators as GGML's does";
            return format!("{}; {function}; {third}", no_start(*start));
        }
        MissingReason::NoEnd(reason) => return no_end(*reason),
        MissingReason::Unseen => {
            "control reaches it without passing a known start: its operators will be missing"
        }
        MissingReason::FusedUnknown => {
            "the file names none of its functions, and no call can be identified as that of a fused kernel: \
             fused operators appear as the first of them, or not at all"
        }
        MissingReason::FusedInlined => {
            "this build has no such call: fused operators appear as the first of them, or not at all"
        }
        MissingReason::HandoverHidden => {
            "the scheduler does not call it, and its code does not reveal where a backend has its function"
        }
        MissingReason::HandoverNotCalled(offset) => {
            return format!(
                "the scheduler calls neither it nor, as after inlining, through offset {offset} of a backend"
            );
        }
        MissingReason::Unprobable(Unprobable::Unreadable) => "its code cannot be read",
        MissingReason::Unprobable(Unprobable::NotInFile) => "it is not in the file",
        MissingReason::Unprobable(Unprobable::WrongAddress) => "its address is wrong",
        MissingReason::Unprobable(Unprobable::OnlyJumps) => {
            "it only jumps to another function that the file does not name, and a return probe on such a \
             function may kill the process on arm64: use a build that calls the backend directly"
        }
    };
    text.to_owned()
}

const fn not_defined(kind: ProbeKind) -> &'static str {
    match kind {
        ProbeKind::LlamaDecode | ProbeKind::LlamaProcess | ProbeKind::LlamaEncode => {
            "no file defines llama_decode or llama_process: a program on GGML other than llama.cpp, which has no \
             token level, or its symbols are stripped"
        }
        ProbeKind::SchedulerGraph | ProbeKind::BackendGraph => {
            "no file defines it: GGML's base library is not loaded, or its symbols are stripped"
        }
        _ => "no file defines it: the CPU backend is not loaded, or its symbols are stripped",
    }
}

fn stripped(texts: &[&str], kind: ProbeKind) -> String {
    let known_by = match texts {
        [] => "this one has no text that identifies it".to_owned(),
        texts => format!("no single function has {}", quoted(texts)),
    };
    let other = match kind {
        ProbeKind::LlamaDecode => "; a program on GGML other than llama.cpp has no token level",
        _ => "",
    };
    format!("the file names none of its functions, and {known_by}{other}")
}

fn no_start(reason: NoStart) -> String {
    match reason {
        NoStart::NotCalled => format!("nothing in this file calls {START}"),
        NoStart::CalledTooOften(places) => {
            format!("{places} places call {START}, not one loop over the nodes")
        }
        NoStart::NoUnwind(site) => {
            format!("the file has no unwind information for its call of {START} at {site:#x}")
        }
    }
}

const fn no_function(reason: NoFunction) -> &'static str {
    match reason {
        NoFunction::NotThere => "there is no function ggml_compute_forward",
        NoFunction::NotCalledSo => "ggml_compute_forward exists, but is not called with (params, tensor)",
    }
}

fn no_end(reason: NoEnd) -> String {
    match reason {
        NoEnd::NoJumps => "the dispatch function has no jumps".to_owned(),
        NoEnd::NoJoin { join, jumps } => {
            format!("no common end of the operators: at most {jumps} jumps go to one place ({join:#x})")
        }
        NoEnd::ResultNotTested => format!("the result of {START} is not tested"),
        NoEnd::ResultLeadsElsewhere { join, ways: [yes, no] } => {
            format!("the operators meet at {join:#x}, but {START}'s result leads to {yes:#x} or {no:#x}")
        }
        NoEnd::SingleStepped { join } => {
            format!("the kernel emulates no instruction after {join:#x}, where the operators meet")
        }
        NoEnd::StartReached { from, to } => {
            format!("the start at {from:#x} leads to the one at {to:#x} without passing the end")
        }
        NoEnd::Returns { from, at } => {
            format!("the start at {from:#x} leads to a return at {at:#x} without passing the end")
        }
    }
}
