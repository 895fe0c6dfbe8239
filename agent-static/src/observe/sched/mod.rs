//! The scheduler level: what the kernel's scheduler does with the engine's threads.
//!
//! ```text
//! tracefs ─▶ format (one file per tracepoint) ─▶ Formats (ids, offsets, states) ─▶ bpf (programs) ─▶ ring ─▶ lower
//! ```
//! A kernel without support loses only this level. The reason is reported as a probe that is not
//! attached.

pub mod format;
pub mod formats;
pub mod states;
pub mod task;
#[cfg(test)]
mod tests;
pub mod tracefs;

use std::path::Path;

use libbpf_rs::Link;
use profinfer_wire::record::Record;
use profinfer_wire::record::control::level;
use profinfer_wire::record::sched::recorded;
use profinfer_wire::record::session::Probe;

use crate::bpf::Bpf;
use crate::bpf::layout::types::sched_format;
use crate::bpf::tracepoint::Tracepoint;
use crate::link::emit::Emitter;
use crate::link::output::Weight;
use crate::observe::counter::pmu;
use formats::Formats;

/// The level in one session.
#[derive(Debug)]
pub struct Level {
    /// Layout of this kernel's tracepoints; `None` if the level is off or refused.
    pub formats: Option<Formats>,
    outcomes: Vec<Outcome>,
    links: Vec<Link>,
}

/// The result for one tracepoint.
#[derive(Debug)]
struct Outcome {
    tracepoint: Tracepoint,
    /// Empty if it is attached.
    refused: String,
}

impl Level {
    /// Reads the kernel's tracepoint formats if `levels` includes this one.
    #[must_use]
    pub fn find(levels: u32) -> Self {
        let mut new = Self { formats: None, outcomes: Vec::new(), links: Vec::new() };
        if levels & level::SCHED != 0 {
            match formats::real_time().map_or_else(Formats::find, Err) {
                Ok(formats) => new.formats = Some(formats),
                Err(why) => new.refuse(&why),
            }
        }
        new
    }

    /// Layouts for the programs, set before loading; `None` if the level is off or refused.
    pub(crate) fn layout(&self) -> Option<sched_format> {
        self.formats.as_ref().map(|f| f.layout)
    }

    /// Disables the complete level.
    pub fn refuse(&mut self, why: &str) {
        self.links.clear();
        self.formats = None;
        self.outcomes = vec![Outcome { tracepoint: Tracepoint::Switch, refused: why.to_owned() }];
    }

    /// Attaches the programs. If one that follows threads fails, none is attached; if interrupts
    /// fail, only these are missing.
    pub fn attach(&mut self, bpf: &Bpf<'_>) {
        let Some(formats) = &self.formats else { return };
        let mut failed = None;
        let cpu = pmu::online(Path::new("/sys")).ok().and_then(|cpus| cpus.first().copied()).unwrap_or(0);
        // Several tasks at once would write to the per-CPU state of these programs.
        let preemptible = formats::is_real_time();
        for tracepoint in Tracepoint::ALL {
            let attached = match preemptible {
                true if tracepoint == Tracepoint::PageAdd => Err(formats::PREEMPTIBLE.to_owned()),
                true if !tracepoint.needed() => Err(formats::INTERRUPTS_ARE_THREADS.to_owned()),
                _ => formats.id(tracepoint).and_then(|id| bpf.attach_tracepoint(tracepoint, id, cpu)),
            };
            let refused = match attached {
                Ok(link) => {
                    self.links.push(link);
                    String::new()
                }
                Err(why) if tracepoint.needed() => {
                    failed = Some(format!("{}: {why}", tracepoint.name()));
                    break;
                }
                Err(why) => why,
            };
            self.outcomes.push(Outcome { tracepoint, refused });
        }
        if let Some(why) = failed {
            self.refuse(&why);
        }
    }

    /// The recorded events, bits of [`recorded`]; 0 if the level is off or refused.
    #[must_use]
    pub fn recorded(&self) -> u64 {
        let attached = |all: &[Tracepoint]| {
            all.iter().all(|t| self.outcomes.iter().any(|o| o.tracepoint == *t && o.refused.is_empty()))
        };
        let bit = |all: &[Tracepoint], bit| if attached(all) { bit } else { 0 };
        bit(&[Tracepoint::Switch], recorded::SCHED)
            | bit(&[Tracepoint::Irq, Tracepoint::IrqExit], recorded::HARD)
            | bit(&[Tracepoint::Softirq, Tracepoint::SoftirqExit], recorded::SOFT)
    }

    /// Why the level, or a part of it, is missing.
    pub fn refusals(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let refused = self.outcomes.iter().filter(|o| !o.refused.is_empty());
        refused.map(|o| (o.tracepoint.name(), o.refused.as_str()))
    }

    /// Sends the result for each tracepoint.
    pub fn emit(&self, emit: &mut Emitter) {
        let shown = self.formats.as_ref().map_or("", |f| &f.shown);
        for Outcome { tracepoint, refused } in &self.outcomes {
            let note = if refused.is_empty() { "layout from its format file" } else { refused };
            let probe = Probe {
                // Process 0: a tracepoint covers all processes.
                pid: 0,
                level: level::SCHED,
                what: "tracepoint",
                symbol: tracepoint.name(),
                library: &shown[..shown.floor_char_boundary(1000)],
                offset: 0,
                attached: refused.is_empty(),
                note: &note[..note.floor_char_boundary(1000)],
            };
            emit.emit(&Record::Probe(probe), Weight::Essential);
        }
    }

    pub fn detach(&mut self) {
        self.links.clear();
    }
}
