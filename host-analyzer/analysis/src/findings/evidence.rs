//! Evidence: numbers with their meaning, and the view that shows them.

/// A number, a set, or a name.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A time, ns.
    Nanoseconds(u64),
    /// A size.
    Bytes(u64),
    /// A number of things.
    Count(u64),
    /// A mean number of things.
    Mean(f64),
    /// A part of a whole, 0 to 1.
    Share(f64),
    /// A rate of data.
    BytesPerSecond(f64),
    /// A clock.
    Hertz(u64),
    /// A temperature, 1/1000 °C.
    Millidegrees(i64),
    /// CPUs.
    Cpus(Vec<u16>),
    /// A number of CPUs, in thousandths.
    MilliCpus(u64),
    /// A name from the system or the engine: foreign text.
    Name(String),
}

/// Where the report shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The budget.
    Budget,
    /// The timeline.
    Timeline,
    /// The table of threads.
    Threads,
    /// Who had the CPUs.
    Interference,
    /// The table of operators.
    Operators,
    /// The roofline.
    Roofline,
    /// Tokens over time.
    Tokens,
    /// Sensors over time.
    Gauges,
    /// Facts of the system.
    Conditions,
    /// Where weights lie.
    Weights,
    /// Expert selections.
    Experts,
    /// Requests.
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
    /// What it is a number of; stable, for scripts.
    pub key: &'static str,
    /// The number.
    pub value: Value,
    /// Where the report shows it.
    pub place: Place,
}

impl Evidence {
    pub(super) const fn new(key: &'static str, value: Value, place: Place) -> Self {
        Self { key, value, place }
    }
}
