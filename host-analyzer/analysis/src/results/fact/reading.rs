//! The value of one condition, or the reason why it is missing.

/// A value, or the reason why it is missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Reading<T> {
    /// It was read.
    Value(T),
    /// It could not be read, or the system does not have it; the agent's reason.
    Absent(String),
    /// Not in the recording: an older agent, or a lost record.
    #[default]
    Unrecorded,
}

impl<T> Reading<T> {
    #[must_use]
    pub const fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Absent(_) | Self::Unrecorded => None,
        }
    }

    /// The agent's reason for a missing value.
    #[must_use]
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Absent(why) => Some(why),
            Self::Value(_) | Self::Unrecorded => None,
        }
    }

    /// Converts the value.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Reading<U> {
        self.and_then(|value| Reading::Value(f(value)))
    }

    /// Converts the value to another reading.
    pub fn and_then<U>(self, f: impl FnOnce(T) -> Reading<U>) -> Reading<U> {
        match self {
            Self::Value(value) => f(value),
            Self::Absent(why) => Reading::Absent(why),
            Self::Unrecorded => Reading::Unrecorded,
        }
    }
}

/// A configured limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit<T> {
    /// No limit is set.
    None,
    At(T),
}

impl<T> Limit<T> {
    /// The limit, if there is one.
    #[must_use]
    pub const fn get(&self) -> Option<&T> {
        match self {
            Self::At(limit) => Some(limit),
            Self::None => None,
        }
    }
}

/// A value over the session, read about once per second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Course {
    /// First value.
    pub first: u64,
    /// Last value.
    pub last: u64,
    /// Least value.
    pub min: u64,
    /// Greatest value.
    pub max: u64,
}

/// How much a kernel counter rose. Readings are about a second apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rise {
    /// From the first reading to the last.
    pub whole: u64,
    /// Time between these, ns.
    pub whole_ns: u64,
    /// Between readings with only decode calls in between; `None` when there were none.
    pub decode: Option<u64>,
    /// Time between these, ns.
    pub decode_ns: u64,
}

/// What a process read from a file into the page cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRead {
    /// Name without its folders; `inode N` if it is not known.
    pub file: String,
    pub bytes: Rise,
}

impl Rise {
    /// Mean rate, per second; `None` for a single reading.
    #[must_use]
    pub fn per_s(&self) -> Option<f64> {
        (self.whole_ns > 0).then(|| self.whole as f64 * 1e9 / self.whole_ns as f64)
    }

    /// Mean rate while tokens were generated, per second.
    #[must_use]
    pub fn decode_per_s(&self) -> Option<f64> {
        self.decode.filter(|_| self.decode_ns > 0).map(|n| n as f64 * 1e9 / self.decode_ns as f64)
    }
}
