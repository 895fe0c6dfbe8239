//! One session, from the plan to the `End` record.
//!
//! ```text
//! targets ──▶ attach ──▶ ring buffer ──▶ lower ──▶ emit ──▶ link
//!    ▲ watch (ptrace) until the operators are attached      ▲ control frames from the host
//! ```
//! One thread runs one loop. It sleeps up to 200 ms when little happens. The kernel wakes it when
//! the ring buffer is a quarter full.

mod capture;
#[cfg(feature = "bench")]
pub mod ceiling;
mod drain;
pub mod ending;
mod flush_on_exit;
pub mod host;
mod identity;
mod records;
mod running;
mod scheduling;

use std::cell::RefCell;

use profinfer_wire::record::Record;
use profinfer_wire::record::control::{MAX_REFUSED_TEXT, Refused2};
use profinfer_wire::record::loss::{End, EndReason};

use crate::error::{Diagnostic, Result};
use crate::link::Output;
use crate::link::emit::Emitter;
use crate::link::output::Weight;
use crate::lower::Lower;
use crate::request::plan::Plan;
use crate::session::host::Host;
use crate::signals::Signals;
use crate::target::process::Target;
use drain::Drain;
use ending::Cause;
use flush_on_exit::flush_on_exit;

///
/// # Errors
/// If nothing can be traced. Then nothing stays behind, and the host receives the reason.
pub fn run(
    plan: &Plan,
    target: &Target,
    output: Output,
    signals: &Signals,
    host: &mut Host<'_>,
) -> Result<Summary> {
    let emit = Emitter::begin(output, identity::nonce()?);
    // The callback of the ring buffer and the loop borrow it in turn.
    let drain = RefCell::new(Drain::new(Lower::new(emit, plan.levels)));
    let outcome = capture::capture(plan, target, &drain, signals, host);
    let mut emit = drain.into_inner().lower.emit;
    if let Err(e) = &outcome {
        emit_refusal(&mut emit, e);
    }
    let sent = flush_on_exit(&mut emit, host, signals);
    let summary = outcome?;
    match emit.output().error() {
        Some(e) => Err(e),
        None if !sent => Err(Diagnostic::new(
            "sending the rest of the stream",
            "the link accepts no more bytes",
            "the recording is truncated; use a faster link or fewer levels",
        )),
        None => Ok(summary),
    }
}

/// Sends a host the reason why it gets no session.
pub fn refuse(output: Output, why: &Diagnostic, signals: &Signals) {
    // The nonce identifies a session for `Resume`. No host resumes this one.
    let mut emit = Emitter::begin(output, identity::nonce().unwrap_or_default());
    emit_refusal(&mut emit, why);
    flush_on_exit(&mut emit, &mut Host::nobody(), signals);
}

fn emit_refusal(emit: &mut Emitter, why: &Diagnostic) {
    let cut = |text: &'_ str| text[..text.floor_char_boundary(MAX_REFUSED_TEXT)].to_owned();
    let [tried, answer, help] = [&why.tried, &why.answer, &why.help].map(|text| cut(text));
    let record = Refused2 { tried: &tried, answer: &answer, help: &help };
    emit.emit(&Record::Refused2(record), Weight::Essential);
}

/// The result of a session.
#[derive(Debug, Clone)]
pub struct Summary {
    pub reason: EndReason,
    pub end: End,
    /// Exit status of the program that the agent started, if it ended.
    pub status: Option<i32>,
    /// Set if nothing was traced.
    pub nothing: Option<Cause>,
    /// Set if the agent could not trace, with what to do.
    pub error: Option<Diagnostic>,
}

impl Summary {
    /// Operators that ended and were not sent.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        let l = &self.end.loss;
        l.spans_ring_full + l.spans_queue_full + l.spans_no_graph
    }

    /// One line for the terminal, and a second one if nothing was traced.
    #[must_use]
    pub fn line(&self) -> String {
        let l = &self.end.loss;
        let reasons = [
            (l.spans_ring_full, "ring buffer full"),
            (l.spans_queue_full, "link too slow"),
            (l.spans_no_graph, "graph unknown"),
        ];
        let lost = self.lost();
        let reasons: Vec<String> =
            reasons.iter().filter(|(n, _)| *n > 0).map(|(n, why)| format!("{why}: {n}")).collect();
        let reasons = if lost > 0 { format!(" ({})", reasons.join(", ")) } else { String::new() };
        let nothing = self
            .nothing
            .as_ref()
            .map_or_else(String::new, |cause| format!("\n  nothing was traced: {}", cause.words()));
        format!(
            "{} spans sent, {lost} lost{reasons}, {} frames; agent: {:.1} MB, {:.2} s CPU{nothing}",
            l.spans_sent,
            self.end.frames,
            self.end.agent_rss_bytes as f64 / 1e6,
            self.end.agent_cpu_ns as f64 / 1e9,
        )
    }
}
