//! Work and environment of a run, as far as recorded: one value for each property in which two runs
//! may differ.

use std::collections::{BTreeMap, BTreeSet};

/// A property in which runs may differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Thing {
    /// Name, type and dimensions of every weight that the graphs read.
    Weights,
    /// Number of experts per token.
    Experts,
    /// Whether a draft model is used.
    Draft,
    /// What was traced and how, which determines the time that the probes add.
    Capture,
    /// File of the model.
    ModelFile,
    /// Version reported by the engine.
    EngineVersion,
    /// Build ids of the engine's files.
    EngineBuild,
    /// The loaded CPU backend.
    CpuVariant,
    /// Command line, as far as recorded.
    Command,
    /// Threads that computed operators of one token.
    Threads,
    /// CPUs on which the engine's threads may run.
    Affinity,
    /// Recorded environment variables.
    Environment,
    /// CPU quota.
    Quota,
    /// Type of the KV cache.
    KvCache,
    /// Largest number of KV cells that attention covers.
    Cells,
    /// Tokens before the first generated one.
    Prompt,
    /// How often each operator is in the graph of a token.
    Operators,
    /// Backends that compute graphs.
    Backends,
    /// Buffers of the weights.
    Buffers,
    Board,
    /// CPU model.
    Cpu,
    /// Number of CPUs online.
    Cpus,
    /// Kernel release.
    Kernel,
    /// Version of the agent.
    Agent,
    /// Governor of the clocks.
    Governor,
    /// Highest clock that the governor was allowed to choose, Hz.
    ClockLimit,
    /// Policy for huge pages.
    HugePages,
    /// Mean of a clock while tokens were generated, Hz.
    Clock,
    /// Mean of a temperature while tokens were generated, 1/1000 °C.
    Temperature,
    /// A ceiling of the board, as measured in that session.
    Ceiling,
    /// Time that a pair of probes adds, ns.
    ProbeCost,
    /// Whether anything was lost or cut.
    Losses,
}

/// What a difference in a property means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The runs did different work: their times are not comparable.
    Work,
    /// The runs did the same work under other conditions, which may be the subject of the
    /// comparison.
    Environment,
}

/// A property, and which instance of it: the name of a clock, a sensor or a ceiling. Empty where
/// there is only one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    pub thing: Thing,
    pub which: String,
}

/// Recorded value of a property in one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// Nothing recorded: neither equal to anything nor different.
    #[default]
    Unknown,
    /// Texts without an order; a single one for most properties.
    Texts(BTreeSet<String>),
    /// A measured number, in the unit of its property.
    Number(f64),
}

/// Variation of a measurement between runs under the same conditions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Tolerance {
    /// Share of the smaller value.
    Share(f64),
    /// In the unit of the property.
    Absolute(f64),
}

impl Thing {
    /// What a difference in it means.
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self {
            Self::Weights | Self::Experts | Self::Draft | Self::Capture => Kind::Work,
            _ => Kind::Environment,
        }
    }

    /// Only larger differences are reported. A clock that is read ten times per second gives its
    /// mean to about one percent, sensors have steps of up to 3 °C, and `ci/bench-check.sh`
    /// verifies ceilings to 3 %.
    pub(super) const fn tolerance(self) -> Tolerance {
        match self {
            Self::Clock => Tolerance::Share(0.01),
            Self::Temperature => Tolerance::Absolute(3000.0),
            Self::ProbeCost => Tolerance::Share(0.2),
            Self::Ceiling => Tolerance::Share(0.03),
            _ => Tolerance::Absolute(0.0),
        }
    }
}

impl Value {
    /// One text; unknown if it is empty.
    pub(super) fn text(text: &str) -> Self {
        Self::texts((!text.is_empty()).then(|| text.to_owned()))
    }

    /// Several texts; unknown if there are none.
    pub(super) fn texts(texts: impl IntoIterator<Item = String>) -> Self {
        let texts: BTreeSet<String> = texts.into_iter().collect();
        if texts.is_empty() { Self::Unknown } else { Self::Texts(texts) }
    }

    /// A number, if there is one.
    pub(super) fn number(number: Option<f64>) -> Self {
        number.map_or(Self::Unknown, Self::Number)
    }
}

/// The values of one run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Environment(BTreeMap<Key, Value>);

impl Environment {
    pub(super) fn set(&mut self, thing: Thing, value: Value) {
        self.set_of(thing, "", value);
    }

    pub(super) fn set_of(&mut self, thing: Thing, which: &str, value: Value) {
        self.0.insert(Key { thing, which: which.to_owned() }, value);
    }

    /// All properties with a value, known or unknown.
    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> + '_ {
        self.0.keys()
    }

    /// The value of one property.
    #[must_use]
    pub fn get(&self, key: &Key) -> &Value {
        static UNKNOWN: Value = Value::Unknown;
        self.0.get(key).unwrap_or(&UNKNOWN)
    }
}
