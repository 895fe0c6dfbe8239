//! Ceilings: what the board can do at best, as the agent measured it there.

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CeilingKind {
    /// Reading memory, bytes a second.
    Read,
    /// Copying memory, bytes a second; a byte that is read and written counts once.
    Copy,
    /// Products of 8-bit integers, operations a second; a multiplication and an addition are two.
    Int8,
    /// Multiply-accumulate in 32-bit floats, operations a second.
    F32,
    /// Multiply-accumulate in 16-bit floats, operations a second.
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

/// One ceiling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ceiling {
    /// What was measured.
    pub kind: CeilingKind,
    /// Core type of its CPUs as the kernel tells it; several joined by `+`; empty when not known.
    pub core: String,
    /// CPUs that the threads ran on, a thread each.
    pub cpus: Vec<u16>,
    /// What the kernel of the measurement used, for example `sdot` or `AVX2`.
    pub how: String,
    /// Repetitions.
    pub repeats: u32,
    /// Median of the repetitions.
    pub median: u64,
    /// Least of them.
    pub min: u64,
    /// Most of them.
    pub max: u64,
    /// Why it was not measured (then `repeats` is 0), or what makes its figures doubtful; empty when nothing does.
    pub note: String,
}

impl Ceiling {
    /// Whether it was measured.
    #[must_use]
    pub const fn measured(&self) -> bool {
        self.repeats > 0
    }
}
