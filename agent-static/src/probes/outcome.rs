//! What became of a probe: typed, and in words for the stream and the terminal.

use profinfer_engine::{Level, Missing, NoLayout, ProbeKind, Site, describe};
use profinfer_wire::record::control::level;

use crate::probes::selfcheck::Doubt;

/// One probe's fate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// What it was to see.
    pub kind: ProbeKind,
    /// Symbol that led there or was looked for, as people read it.
    pub symbol: String,
    /// File, as the process sees it; empty where there is none.
    pub library: String,
    /// What became of it.
    pub fate: Fate,
}

/// What became of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// It is in place.
    Attached {
        /// Where, and how that was found.
        site: Site,
        /// What is wrong with it by what was hit, if something is.
        doubt: Option<Doubt>,
    },
    /// A direct probe records what it was to see.
    Direct {
        /// Where the probe would be.
        offset: u64,
    },
    /// The kernel did not take it, and answered this.
    Refused(String),
    /// No place was found for it.
    Missing(Missing),
    /// A place was found, but what it would see cannot be read.
    Unreadable(NoLayout),
    /// It was in place, and was removed because its file was overwritten.
    Overwritten {
        /// File offset at which it was.
        offset: u64,
    },
}

impl Outcome {
    /// Whether the probe is in place.
    #[must_use]
    pub const fn attached(&self) -> bool {
        matches!(self.fate, Fate::Attached { .. } | Fate::Direct { .. })
    }

    /// File offset of a probe that is or was in place, else 0.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        match &self.fate {
            Fate::Attached { site, .. } => site.offset,
            Fate::Overwritten { offset } | Fate::Direct { offset } => *offset,
            _ => 0,
        }
    }

    /// How it was found, or why it is not in place.
    #[must_use]
    pub fn note(&self) -> String {
        match &self.fate {
            Fate::Attached { site, doubt: None } => describe::note(site),
            Fate::Attached { site, doubt: Some(doubt) } => {
                format!("{}. Self-check: {doubt}", describe::note(site))
            }
            Fate::Direct { .. } => "direct: the code leads to a stub, without a trap".to_owned(),
            Fate::Refused(answer) => answer.clone(),
            Fate::Missing(missing) => describe::reason(missing),
            Fate::Unreadable(reason) => describe::unreadable(*reason),
            Fate::Overwritten { .. } => {
                "removed: the file was overwritten while the process runs, and another process maps what \
                                  is in it now"
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
    fn a_doubt_follows_what_was_found() {
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
    fn what_is_not_in_place_says_why() {
        let refused = outcome(Fate::Refused("Operation not permitted".into()));
        assert_eq!((refused.note().as_str(), refused.offset()), ("Operation not permitted", 0));
        assert!(!refused.attached());
        let gone = outcome(Fate::Overwritten { offset: 64 });
        assert!(gone.note().starts_with("removed: the file was overwritten") && gone.offset() == 64);
        let unreadable = outcome(Fate::Unreadable(NoLayout::NameNotUnderstood));
        assert!(unreadable.note().starts_with("the structs cannot be read: ggml_get_name is not understood"));
    }
}
