//! The outcome of a probe: typed, and as text for the stream and the terminal.

use profinfer_engine::{Level, Missing, NoLayout, ProbeKind, Site, describe};
use profinfer_wire::record::control::level;

use crate::probes::selfcheck::Doubt;

/// The outcome of one probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What the probe observes.
    pub kind: ProbeKind,
    /// Demangled symbol that was found or searched.
    pub symbol: String,
    /// File, as the process sees it; empty if there is none.
    pub library: String,
    pub fate: Fate,
}

/// The state of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    Attached {
        /// The place and how it was found.
        site: Site,
        /// Result of the self-check, if the hits do not match.
        doubt: Option<Doubt>,
    },
    /// A direct probe records this instead.
    Direct {
        /// Where the uprobe would be.
        offset: u64,
    },
    /// The kernel refused the probe with this answer.
    Refused(String),
    /// No place was found.
    Missing(Missing),
    /// A place was found, but the engine's structs cannot be read there.
    Unreadable(NoLayout),
    /// Removed, because its file was overwritten.
    Overwritten { offset: u64 },
}

impl Outcome {
    #[must_use]
    pub const fn attached(&self) -> bool {
        matches!(self.fate, Fate::Attached { .. } | Fate::Direct { .. })
    }

    /// File offset of a probe that is or was attached, or else 0.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        match &self.fate {
            Fate::Attached { site, .. } => site.offset,
            Fate::Overwritten { offset } | Fate::Direct { offset } => *offset,
            _ => 0,
        }
    }

    /// How the place was found, or why the probe is not attached.
    #[must_use]
    pub fn note(&self) -> String {
        match &self.fate {
            Fate::Attached { site, doubt: None } => describe::note(site),
            Fate::Attached { site, doubt: Some(doubt) } => {
                format!("{}. Self-check: {doubt}", describe::note(site))
            }
            Fate::Direct { .. } => "direct: a jump to a stub, without a trap".to_owned(),
            Fate::Refused(answer) => answer.clone(),
            Fate::Missing(missing) => describe::reason(missing),
            Fate::Unreadable(reason) => describe::unreadable(*reason),
            Fate::Overwritten { .. } => {
                "removed: the file was overwritten while the process runs, and another process maps its new \
                                  content"
                    .to_owned()
            }
        }
    }
}

/// The wire's bit for the level of a probe.
#[must_use]
pub const fn level_bit(of: Level) -> u32 {
    match of {
        Level::Token => level::TOKEN,
        Level::Graph => level::GRAPH,
        Level::Operator => level::OP,
    }
}

#[cfg(test)]
mod tests {
    use profinfer_engine::Evidence;

    use super::*;

    fn outcome(fate: Fate) -> Outcome {
        let symbol = "ggml_graph_compute".to_owned();
        Outcome { kind: ProbeKind::CpuGraph, symbol, library: "libggml-cpu.so".into(), fate }
    }

    #[test]
    fn a_doubt_is_appended_to_the_note() {
        let site = Site {
            kind: ProbeKind::CpuGraph,
            file: 0,
            offset: 0x4cbb4,
            symbol: "ggml_graph_compute".into(),
            mnemonic: "push".into(),
            emulated: true,
            evidence: Evidence::Named { entry: 4 },
        };
        let found = outcome(Fate::Attached { site: site.clone(), doubt: None });
        assert_eq!(found.note(), "entry+4 `push`; the kernel emulates it");
        assert!(found.attached() && found.offset() == 0x4cbb4);
        let doubt = Some(Doubt::NotOnCpu { graphs: 3 });
        assert_eq!(
            outcome(Fate::Attached { site, doubt }).note(),
            "entry+4 `push`; the kernel emulates it. Self-check: never hit, although 3 graphs ran: nothing was computed on \
             the CPU, or not through it"
        );
    }

    #[test]
    fn probes_that_are_not_attached_have_a_reason() {
        let refused = outcome(Fate::Refused("Operation not permitted".into()));
        assert_eq!((refused.note().as_str(), refused.offset()), ("Operation not permitted", 0));
        assert!(!refused.attached());
        let gone = outcome(Fate::Overwritten { offset: 64 });
        assert!(gone.note().starts_with("removed: the file was overwritten") && gone.offset() == 64);
        let unreadable = outcome(Fate::Unreadable(NoLayout::NameNotUnderstood));
        assert!(unreadable.note().starts_with("the structs cannot be read: ggml_get_name is not understood"));
    }
}
