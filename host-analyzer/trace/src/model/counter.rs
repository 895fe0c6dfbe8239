//! Counters, and the counter values of each span.

/// Value of a span that was not counted.
pub const NOT_COUNTED: u64 = u64::MAX;

/// One counter on one type of core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// Event name as in Arm's manuals; software events as perf names them.
    pub name: String,
    /// Event number.
    pub event: u32,
    /// PMU's name in sysfs, or `software`.
    pub pmu: String,
    /// CPUs on which it counts.
    pub cpus: Vec<u16>,
    /// Slot among the values in the stream.
    pub slot: u8,
    /// Whether it counts.
    pub attached: bool,
    /// Why it does not.
    pub note: String,
}

/// Columns parallel to [`super::Spans`], with the same rows; all empty when nothing was counted.
#[derive(Debug, Default, Clone)]
pub struct Counts {
    /// Names of the counters, each once, in order of slots.
    pub names: Vec<String>,
    /// Values, one column per name; [`NOT_COUNTED`] where there is none.
    pub values: Vec<Vec<u64>>,
    /// How often the thread was switched out during the span.
    pub switches: Vec<u32>,
    /// Why hardware counters are absent, bits of [`Absence`]; 0 when nothing went wrong.
    pub why: Vec<u8>,
}

/// Why the hardware counters of a span are absent; a span may have several reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absence {
    /// The kernel did not read them.
    Unread,
    /// The thread moved to a core of another type during the span.
    Mixed,
    /// They were multiplexed: another user needs the counters too.
    Multiplexed,
    /// The thread was switched out while they were read.
    Torn,
}

impl Absence {
    /// All reasons.
    pub const ALL: [Self; 4] = [Self::Unread, Self::Mixed, Self::Multiplexed, Self::Torn];

    /// Its bit in [`Counts::why`].
    #[must_use]
    pub const fn bit(self) -> u8 {
        1 << self as u8
    }

    /// Key in summary.json.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Unread => "unread",
            Self::Mixed => "mixed",
            Self::Multiplexed => "multiplexed",
            Self::Torn => "torn",
        }
    }
}

impl Counts {
    /// Nothing was counted.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Value of a span by column; `None` where it was not counted.
    #[must_use]
    pub fn value(&self, column: usize, span: usize) -> Option<u64> {
        self.values.get(column)?.get(span).copied().filter(|v| *v != NOT_COUNTED)
    }
}
