//! What a run did and under which conditions, as far as its recording tells: one value for each thing that two runs may differ in.

use std::collections::{BTreeMap, BTreeSet};

/// A thing that runs may differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Thing {
    /// Name, type and dimensions of every weight that the graphs read.
    Weights,
    /// How many experts a token uses.
    Experts,
    /// Whether a draft model guesses tokens.
    Draft,
    /// What was traced and how, which decides what the probes add.
    Capture,
    /// File of the model.
    ModelFile,
    /// Version as the engine says itself.
    EngineVersion,
    /// Build ids of the engine's files.
    EngineBuild,
    /// Which CPU backend is loaded.
    CpuVariant,
    /// Command line, as far as it is recorded.
    Command,
    /// Threads that computed operators of one token.
    Threads,
    /// CPUs on which the engine's threads may run.
    Affinity,
    /// Variables of the environment that are recorded.
    Environment,
    /// Quota of CPU time.
    Quota,
    /// Type of the KV cache.
    KvCache,
    /// Most cells of the KV cache that attention goes over.
    Cells,
    /// Tokens before the first one that was generated.
    Prompt,
    /// How often each operator is in the graph of a token.
    Operators,
    /// Backends that compute graphs.
    Backends,
    /// In what buffers the weights lie.
    Buffers,
    /// Board.
    Board,
    /// CPU model.
    Cpu,
    /// Number of CPUs online.
    Cpus,
    /// Kernel release.
    Kernel,
    /// Version of the agent.
    Agent,
    /// Who chooses the clocks.
    Governor,
    /// Highest clock that the governor was allowed to choose, Hz.
    ClockLimit,
    /// Policy for huge pages.
    HugePages,
    /// Mean of a clock while tokens were generated, Hz.
    Clock,
    /// Mean of a temperature while tokens were generated, 1/1000 °C.
    Temperature,
    /// A ceiling of the board as it was measured in that session.
    Ceiling,
    /// What a pair of probes adds, ns.
    ProbeCost,
    /// Whether anything was lost or cut.
    Losses,
}

/// What a difference in a thing means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The runs did not do the same: their times are not of one thing.
    Work,
    /// They did the same under other conditions, which may be what is compared.
    Surroundings,
}

/// A thing, and which one of several: the name of a clock, a sensor, a ceiling. Empty where there is only one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// The thing.
    pub thing: Thing,
    /// Which one.
    pub which: String,
}

/// What is recorded of a thing in one run.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// Nothing: not equal to anything, nor different.
    #[default]
    Unknown,
    /// Texts without an order; one for most things.
    Texts(BTreeSet<String>),
    /// A measured number, in the unit of its thing.
    Number(f64),
}

/// What a measurement may vary by between runs under the same conditions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Tolerance {
    /// A part of the smaller value.
    Share(f64),
    /// In the unit of the thing.
    Absolute(f64),
}

impl Thing {
    /// What a difference in it means.
    #[must_use]
    pub const fn kind(self) -> Kind {
        match self {
            Self::Weights | Self::Experts | Self::Draft | Self::Capture => Kind::Work,
            _ => Kind::Surroundings,
        }
    }

    /// Only what exceeds it is named. A clock that is read ten times a second shows its mean to about a percent, sensors step by up to
    /// 3 °C, and `ci/bench-check.sh` holds ceilings to 3 %.
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

    /// Several; unknown if there are none.
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
pub struct Surroundings(BTreeMap<Key, Value>);

impl Surroundings {
    pub(super) fn set(&mut self, thing: Thing, value: Value) {
        self.set_of(thing, "", value);
    }

    pub(super) fn set_of(&mut self, thing: Thing, which: &str, value: Value) {
        self.0.insert(Key { thing, which: which.to_owned() }, value);
    }

    /// All things that something is or may be recorded of.
    pub(super) fn keys(&self) -> impl Iterator<Item = &Key> + '_ {
        self.0.keys()
    }

    /// The value of one.
    #[must_use]
    pub fn get(&self, key: &Key) -> &Value {
        static UNKNOWN: Value = Value::Unknown;
        self.0.get(key).unwrap_or(&UNKNOWN)
    }
}
