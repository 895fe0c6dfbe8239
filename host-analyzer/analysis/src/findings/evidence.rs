//! Evidence: numbers with their meaning, and the view that shows them.

use crate::ladder::Question;

/// A number, a set, or a name.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A time, ns.
    Nanoseconds(u64),
    /// A size, bytes.
    Bytes(u64),
    Count(u64),
    /// A mean count.
    Mean(f64),
    /// A share of a total, 0 to 1.
    Share(f64),
    BytesPerSecond(f64),
    /// A clock, Hz.
    Hertz(u64),
    /// A temperature, 1/1000 °C.
    Millidegrees(i64),
    Cpus(Vec<u16>),
    /// A number of CPUs, in thousandths.
    MilliCpus(u64),
    /// A name from the system or the engine: untrusted text.
    Name(String),
}

/// Where the report shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Budget,
    Timeline,
    /// The table of threads.
    Threads,
    /// The tasks that had the CPUs.
    Interference,
    /// The table of operators.
    Operators,
    Roofline,
    /// Tokens over time.
    Tokens,
    /// Sensors over time.
    Gauges,
    /// Facts of the system.
    Conditions,
    /// Placement of the weights.
    Weights,
    /// Expert selections.
    Experts,
    Requests,
    /// What grows with the context.
    Context,
    /// Draft and target.
    Speculative,
    /// Splits of graphs.
    Graphs,
}

/// One piece of evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    /// Stable name of the number, for scripts.
    pub key: &'static str,
    pub value: Value,
    /// It is per unit of this question.
    pub per: Option<Question>,
    /// Where the report shows it.
    pub place: Place,
}

impl Evidence {
    pub(super) const fn new(key: &'static str, value: Value, place: Place) -> Self {
        Self { key, value, per: None, place }
    }

    /// Evidence per unit of a question.
    pub(super) const fn per(question: Question, key: &'static str, value: Value, place: Place) -> Self {
        Self { key, value, per: Some(question), place }
    }
}
