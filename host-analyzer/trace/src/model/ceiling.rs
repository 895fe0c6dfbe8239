//! Ceilings: the board's best results, as measured by the agent.

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CeilingKind {
    /// Reading memory, bytes per second.
    Read,
    /// Copying memory, bytes per second; a byte that is read and written counts once.
    Copy,
    /// Products of 8-bit integers, operations per second; a multiplication and an addition are two.
    Int8,
    /// Multiply-accumulate in 32-bit floats, operations per second.
    F32,
    /// Multiply-accumulate in 16-bit floats, operations per second.
    F16,
    /// All threads reach a barrier by spinning and leave it, ns.
    Barrier,
    /// A sleeping thread runs after it was woken, ns.
    WakeUp,
}

/// Unit of a ceiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CeilingUnit {
    /// Bytes per second.
    BytesPerSecond,
    /// Operations per second.
    OpsPerSecond,
    /// Nanoseconds.
    Nanoseconds,
}

impl CeilingKind {
    /// All kinds.
    pub const ALL: [Self; 7] =
        [Self::Read, Self::Copy, Self::Int8, Self::F32, Self::F16, Self::Barrier, Self::WakeUp];

    /// Name in views.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Copy => "copy",
            Self::Int8 => "int8",
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Barrier => "barrier",
            Self::WakeUp => "wake-up",
        }
    }

    /// Unit of its values.
    #[must_use]
    pub const fn unit(self) -> CeilingUnit {
        match self {
            Self::Read | Self::Copy => CeilingUnit::BytesPerSecond,
            Self::Int8 | Self::F32 | Self::F16 => CeilingUnit::OpsPerSecond,
            Self::Barrier | Self::WakeUp => CeilingUnit::Nanoseconds,
        }
    }
}

/// What makes figures doubtful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Doubt {
    /// The repetitions differ too much.
    Unstable,
    /// An engine ran during the measurement.
    EngineRan,
    /// The note of an agent that sends no codes.
    Noted,
    /// A doubt of a newer agent that this host does not know.
    Unknown,
}

impl Doubt {
    /// Name in summary.json.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unstable => "unstable",
            Self::EngineRan => "engine_ran",
            Self::Noted => "noted",
            Self::Unknown => "unknown",
        }
    }
}

/// Why a curve has no points at larger working sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CurveEnd {
    /// Not a curve, or its last points are lost.
    Open,
    /// It reached four times the last-level cache.
    Cache,
    /// The memory limit was reached.
    Memory,
    /// The time limit was reached.
    Time,
}

impl CurveEnd {
    /// Name in summary.json.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Cache => "cache",
            Self::Memory => "memory",
            Self::Time => "time",
        }
    }
}

/// A ceiling at one working set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CeilingPoint {
    /// Bytes that all threads together read; 0 for kinds that read no memory.
    pub working_set_bytes: u64,
    /// Repetitions, at least 1.
    pub repeats: u32,
    /// Median of the repetitions.
    pub median: u64,
    /// Smallest of them.
    pub min: u64,
    /// Largest of them.
    pub max: u64,
    /// Empty when nothing makes the figures doubtful.
    pub doubts: Vec<Doubt>,
    /// Why no larger one follows.
    pub end: CurveEnd,
}

/// Who held the CPUs during the measurement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CeilingLoad {
    /// Time of the measurement, ns.
    pub wall_ns: u64,
    /// CPU time of everything except the agent on all CPUs in that time, ns, in steps of the
    /// kernel's tick.
    pub others_ns: u64,
    /// Process with most CPU time; 0 if none had a tick.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// Its CPU time, ns, in steps of the kernel's tick.
    pub pid_ns: u64,
}

impl CeilingLoad {
    /// Part of one CPU that others may use without disturbing: the usual work of a quiet system.
    const QUIET: u64 = 10;
    /// Ticks are counted at their ends, so two of 10 ms may be wrong.
    const TICKS_NS: u64 = 20_000_000;

    /// Others used more than a tenth of one CPU, so the figures may be too low.
    #[must_use]
    pub const fn busy(&self) -> bool {
        self.others_ns > (self.wall_ns / Self::QUIET).saturating_add(Self::TICKS_NS)
    }
}

/// The memory's bandwidth by the board's profile, for any number of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoardMemory {
    /// The highest measured bandwidth, else the theoretical one, bytes per second.
    pub per_s: u64,
    /// The lowest measured one.
    pub low: u64,
    /// In theory; no program reaches it.
    pub theoretical: Option<u64>,
}

/// Where the figures of a ceiling come from, the most reliable first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CeilingSource {
    /// Measured by the agent before this session.
    #[default]
    Recording,
    /// Measured separately; the user named the file.
    Given,
    /// Measured earlier on this machine, and kept by the host.
    Kept {
        /// Wall clock of that session, ns since 1970.
        unix_ns: u64,
    },
    /// The board's profile, for any number of threads.
    Profile,
    /// The fastest operator of this recording: the ceiling is at least that high.
    BestSeen,
}

impl CeilingSource {
    /// Name in summary.json.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Recording => "recording",
            Self::Given => "given",
            Self::Kept { .. } => "kept",
            Self::Profile => "profile",
            Self::BestSeen => "best_seen",
        }
    }
}

/// One ceiling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ceiling {
    /// What was measured.
    pub kind: CeilingKind,
    /// Core type of its CPUs as the kernel names it; several joined by `+`; empty when unknown.
    pub core: String,
    /// CPUs that the threads ran on, one thread per CPU.
    pub cpus: Vec<u16>,
    /// What the measuring loop used, for example `sdot` or `AVX2`.
    pub how: String,
    /// Repetitions.
    pub repeats: u32,
    /// Median of the repetitions, in the unit of the kind.
    pub median: u64,
    /// Smallest of them.
    pub min: u64,
    /// Largest of them.
    pub max: u64,
    /// For people: why it was not measured (then `repeats` is 0), or what makes its figures
    /// doubtful; otherwise empty.
    pub note: String,
    /// By working set, the smallest first; the figures above are those of the last one. Empty in
    /// recordings of older agents.
    pub points: Vec<CeilingPoint>,
    /// `None` for agents that do not send it.
    pub load: Option<CeilingLoad>,
    /// Where it comes from.
    pub source: CeilingSource,
}

impl Ceiling {
    /// The same loop on the same CPUs.
    #[must_use]
    pub fn same_as(&self, other: &Self) -> bool {
        self.kind == other.kind && self.cpus == other.cpus && self.how == other.how
    }

    /// Others held CPUs during the measurement, so the figures may be too low.
    #[must_use]
    pub fn polluted(&self) -> bool {
        self.load.as_ref().is_some_and(CeilingLoad::busy)
    }

    /// It has a figure that nothing makes doubtful.
    #[must_use]
    pub fn usable(&self) -> bool {
        let any = self.points.iter().any(|p| p.doubts.is_empty());
        self.measured() && if self.points.is_empty() { self.doubts().is_empty() } else { any }
    }

    /// Whether it was measured.
    #[must_use]
    pub const fn measured(&self) -> bool {
        self.repeats > 0
    }

    /// What makes its figures doubtful: the agent's codes, or the note of an agent without codes.
    #[must_use]
    pub fn doubts(&self) -> &[Doubt] {
        match self.points.last() {
            Some(largest) => &largest.doubts,
            None if self.note.is_empty() || !self.measured() => &[],
            None => &[Doubt::Noted],
        }
    }
}
