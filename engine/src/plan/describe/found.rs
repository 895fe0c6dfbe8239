//! A place to probe, in words.

use crate::probes::evidence::{Evidence, Site};
use crate::probes::kind::ProbeKind;
use crate::symbols::names::{By, Clue};

/// Name for the operator function where it has none.
pub(super) const BY_STRUCTURE: &str = "dispatcher found by its structure";

/// A function's name, and its clue if its file does not name it.
pub(super) fn known(name: &str, by: Option<By>) -> String {
    match by {
        None => name.to_owned(),
        Some(By::Messages) => format!("{name} by its messages"),
        Some(By::CallersMessages) => format!("{name} by its caller's messages"),
        Some(By::Position) => format!("{name} by their place"),
    }
}

/// The event that a probe of this kind sees.
#[must_use]
pub const fn kind(kind: ProbeKind) -> &'static str {
    match kind {
        ProbeKind::LoadModel => "loading the model",
        ProbeKind::NewContext => "creating a context",
        ProbeKind::LlamaDecode | ProbeKind::LlamaProcess | ProbeKind::LlamaEncode => "decode call",
        ProbeKind::BatchClear => "start of a batch",
        ProbeKind::SequenceCut => "removal of tokens",
        ProbeKind::SequenceCopy => "copy of a sequence",
        ProbeKind::MemoryClear => "clearing of the memory",
        ProbeKind::SaveState => "copy of a sequence's state",
        ProbeKind::RestoreState => "return of a sequence's state",
        ProbeKind::AllocateGraph => "allocation of a graph",
        ProbeKind::Synchronize => "wait for the backends",
        ProbeKind::OutputTaken => "taken output",
        ProbeKind::OutputsTaken => "taken outputs",
        ProbeKind::BatchAdd => "token of a batch",
        ProbeKind::BatchSequence => "sequence of a token",
        ProbeKind::BatchPosition => "position of a token",
        ProbeKind::BatchOutput => "output of a token",
        ProbeKind::SchedulerGraph => "scheduler graph",
        ProbeKind::CpuGraph => "CPU graph",
        ProbeKind::BackendGraph => "backend graph",
        ProbeKind::OpStart => "operator start",
        ProbeKind::OpFused => "fused operator start",
        ProbeKind::OpEnd => "operator end",
        ProbeKind::OpFunction => "operator function",
        ProbeKind::BackendOp(_) => "backend operator",
        ProbeKind::NestedCall(_) => "nested call",
    }
}

/// The function of a site, and its clue if its file does not name it.
#[must_use]
pub fn symbol(site: &Site) -> String {
    match &site.evidence {
        Evidence::Structure { .. } => BY_STRUCTURE.to_owned(),
        Evidence::Join { .. } if site.symbol.is_empty() => "dispatch function".to_owned(),
        evidence => known(&site.symbol, evidence.clue().map(Clue::by)),
    }
}

/// How a site was found, and what a probe there costs.
#[must_use]
pub fn note(site: &Site) -> String {
    let mnemonic = &site.mnemonic;
    let cost = if site.emulated { "the kernel emulates it" } else { "the kernel single-steps it" };
    let at = |entry: &u64| format!("entry+{entry} `{mnemonic}`");
    let found = match &site.evidence {
        Evidence::Named { entry } => at(entry),
        Evidence::Recovered { address, clue, entry } => {
            format!("function at {address:#x}, without a name: {}; {}", self::clue(*clue), at(entry))
        }
        Evidence::OperatorFunction { callers, dispatches, entry } => {
            let inside =
                if *dispatches { "; the call of ggml_cpu_extra_compute_forward is inside it" } else { "" };
            format!("called from {callers} places{inside}; {}", at(entry))
        }
        Evidence::Structure { address, bound, kernels, callers, entry } => format!(
            "function at {address:#x}, without a name: it compares the operator of its second argument with {bound}, \
             jumps through a table, calls {kernels} functions, and is called from {callers} places; {}",
            at(entry)
        ),
        Evidence::DispatchCall { function } => {
            format!("`{mnemonic}` in the dispatch function at {function:#x}")
        }
        Evidence::RecoveredCall { clue } => {
            format!("`{mnemonic}` of a function without a name: {}", self::clue(*clue))
        }
        Evidence::Join { address, jumps } => {
            format!("`{mnemonic}` after {address:#x}, where {jumps} jumps meet")
        }
        Evidence::InlinedHandover { offset } => {
            format!("inlined into the scheduler: `{mnemonic}` through offset {offset} of the backend")
        }
        Evidence::Backend { backend, jumps_to, entry } => {
            let jumps = jumps_to.map(|to| format!("; it only jumps to {to:#x}, which is probed"));
            format!("{backend}{}; {}", jumps.unwrap_or_default(), at(entry))
        }
    };
    format!("{found}; {cost}")
}

/// The clue for a function that its file does not name.
fn clue(clue: Clue) -> String {
    match clue {
        Clue::Texts(texts) => format!("the only function with {}", quoted(texts)),
        Clue::CalledBefore(text) => format!("the call before {}", quoted(&[text])),
        Clue::CalledWith(text) => format!("the call with {}", quoted(&[text])),
        Clue::BeforeSwitch(function) => {
            format!("the call before the switch over the operator in the function at {function:#x}")
        }
        Clue::InsteadOfSwitch => {
            "called instead of that one, and returns to the place where all operators meet".to_owned()
        }
    }
}

/// Texts of the engine, in quotation marks.
pub(super) fn quoted(texts: &[&str]) -> String {
    let texts: Vec<_> = texts.iter().map(|text| format!("\"{}\"", text.trim_end())).collect();
    texts.join(", ")
}
