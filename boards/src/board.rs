//! A board, with its cores and backends resolved.

use std::sync::Arc;

use serde::Deserialize;

use crate::error::nearest;
use crate::{Backend, BoardError, Core, Cpus, Event, Memory, Provenance, Sensor};

/// The machine type of a profile for every machine.
const ANY: &str = "any";
/// The kernel's own events, which every machine can count.
pub(crate) const SOFTWARE: [&str; 2] = ["minor-faults", "major-faults"];

/// A profile.
#[derive(Debug, Clone)]
pub struct Board {
    /// Name, as given to `--board`; the file's name without `.toml`.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// System on chip, for people.
    pub soc: String,
    /// `uname -m` of the board, `any` when it does not matter.
    pub machine: String,
    /// Parts of the model name in the device tree of such machines, for
    /// [`crate::Catalog::by_machine`].
    pub models: Vec<String>,
    /// Short names that people use for it, beside `name` and `models`.
    pub aliases: Vec<String>,
    /// Levels to capture when the command line names none.
    pub levels: Vec<String>,
    /// Counter set to use when the command line names none; `None` where no hardware counter
    /// counts.
    pub counter_set: Option<String>,
    /// Where its facts come from.
    pub provenance: Provenance,
    /// Caches that the cores share.
    pub caches: Option<Caches>,
    /// Memory.
    pub memory: Option<Memory>,
    /// Backends that engines use on it.
    pub backends: Vec<Arc<Backend>>,
    /// Sensors outside the cores.
    pub uncore: Vec<Sensor>,
    /// Notes for people.
    pub notes: Vec<Note>,
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) cores: Vec<Arc<Core>>,
}

/// Cores of one type that share a clock.
#[derive(Debug, Clone)]
pub struct Cluster {
    /// Core type.
    pub core: Arc<Core>,
    /// Their CPU numbers.
    pub cpus: Cpus,
    /// Highest frequency, kHz.
    pub max_khz: Option<u64>,
    /// First-level cache for instructions, bytes, of each core.
    pub l1i_bytes: Option<u64>,
    /// First-level cache for data, bytes, of each core.
    pub l1d_bytes: Option<u64>,
    /// Second-level cache, bytes, of each core.
    pub l2_bytes: Option<u64>,
    /// Where its facts come from.
    pub provenance: Provenance,
}

/// Caches that the cores share.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caches {
    /// Third-level cache of the cluster, bytes.
    pub l3_bytes: u64,
    /// Bytes of a line.
    pub line_bytes: u32,
    /// Where the facts come from.
    pub provenance: Provenance,
}

/// A note about a board.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Note {
    /// The sentence.
    pub text: String,
    /// Where it comes from.
    pub provenance: Provenance,
}

impl Board {
    /// Its clusters; none when the profile stands for boards of many kinds.
    #[must_use]
    pub fn clusters(&self) -> &[Cluster] {
        &self.clusters
    }

    /// Core types that it has, or may have if the clusters are unknown; each once.
    #[must_use]
    pub fn cores(&self) -> &[Arc<Core>] {
        &self.cores
    }

    /// Whether the profile cannot be that of a machine of this type (`uname -m`). An unknown type
    /// contradicts nothing.
    #[must_use]
    pub fn contradicts(&self, machine: &str) -> bool {
        self.machine != ANY && !machine.is_empty() && self.machine != machine
    }

    /// Checks that an event can be counted on it: an event of one of its cores, or one of the
    /// kernel's own. If nothing is known about the cores' events, every name is accepted.
    ///
    /// # Errors
    /// With events of similar names.
    pub fn can_count(&self, name: &str) -> Result<(), BoardError> {
        let mut all = self.cores.iter().flat_map(|c| c.events()).peekable();
        if all.peek().is_none()
            || SOFTWARE.contains(&name)
            || self.cores.iter().any(|c| c.event(name).is_some())
        {
            return Ok(());
        }
        let mut candidates = nearest(name, all.map(|e| e.name.as_str()).chain(SOFTWARE));
        candidates.truncate(5);
        Err(BoardError::NoEvent { board: self.name.clone(), name: name.to_owned(), candidates })
    }

    /// What a counter means on cores with this main ID register (`MIDR_EL1 & 0xff00fff0`).
    #[must_use]
    pub fn event(&self, midr: u32, name: &str) -> Option<&Event> {
        self.cores.iter().find(|c| c.midr == Some(midr))?.event(name)
    }
}
