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
}

impl Ceiling {
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
