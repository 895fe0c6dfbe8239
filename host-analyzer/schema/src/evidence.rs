//! Evidence of findings.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ladder::Question;

/// One piece of evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Evidence {
    /// Key of the quantity; stable.
    pub key: String,
    /// The quantity is per unit of this question: per token that came out, per prompt, per call of an encoder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per: Option<Question>,
    /// Name of the quantity for people.
    #[serde(default)]
    pub name: String,
    /// The value for people, with its unit.
    #[serde(default)]
    pub text: String,
    /// Unit of `value`.
    pub unit: Unit,
    /// The value: a number, a list of CPUs (`cpus`), or a text (`name`).
    pub value: EvidenceValue,
    /// Where the report shows it.
    pub place: Place,
}

/// Unit of a piece of evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// A time, ns.
    Nanoseconds,
    /// A size.
    Bytes,
    /// A number of things.
    Count,
    /// A mean number of things, a float.
    Mean,
    /// A part of a whole, 0 to 1, a float.
    Share,
    /// A rate of data, a float.
    BytesPerSecond,
    /// A clock.
    Hertz,
    /// A temperature, 1/1000 °C.
    Millidegrees,
    /// A list of CPUs.
    Cpus,
    /// A number of CPUs, in thousandths.
    MilliCpus,
    /// A name from the system or the engine.
    Name,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// A value in its unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum EvidenceValue {
    /// A whole number that is not negative.
    Whole(u64),
    /// A whole number.
    Signed(i64),
    /// A float.
    Float(f64),
    /// CPUs.
    Cpus(Vec<u16>),
    /// A text.
    Name(String),
}

/// Part of the report that shows the number.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
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
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// What a rule needs and does not have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Missing {
    /// What.
    pub kind: MissingKind,
    /// Which, or at least how many; absent for kinds of which there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<MissingName>,
    /// Of a ceiling: why there is none. `not_measured`, `other_threads` (it was measured, but not
    /// with this number of threads), or the doubt about its figures.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// A kind of what a rule needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MissingKind {
    /// Calls of the judged question: at least `name`.
    Calls,
    /// Those whose operators were captured completely: at least `name`.
    TracedCalls,
    /// The ends of operators: without them work and the wait after it are not distinguished.
    Ends,
    /// All operators of all threads: no filter leaves any out.
    AllOperators,
    /// The CPUs on which the operators of these calls ran: some direct probes do not record them.
    Cpus,
    /// The level `name` of the recording.
    Level,
    /// The ceiling `name`.
    Ceiling,
    /// The fact `name` of the system.
    Fact,
    /// The counter `name`.
    Counter,
    /// The gauge `name`.
    Gauge,
    /// At least three steps of the KV cache's cells with eight tokens each.
    ContextSteps,
    /// Rounds of speculative decoding whose outcome is known.
    Rounds,
    /// Tokens that the engine generates without guesses, for a comparison.
    PlainTokens,
    /// A record of what delays come from that the ladder shows.
    Culprit,
    /// The speed of another type of weights.
    OtherType,
    /// A recording with keys of another type.
    OtherKvType,
    /// A recording without the programs that ran on other CPUs, or in which they come and go.
    WithoutNeighbours,
    /// The waits for other backends, from a build whose function for them has a name.
    WaitsForBackends,
    /// Calls that have at least a quarter of the time between two readings of the steal time.
    StealReadings,
    /// Ladders with less than 2 % of time that no record explains: in `unexplained` or `not_recorded`.
    Explained,
    /// Records of interrupts.
    Interrupts,
    /// Eight calls with texts of different lengths.
    TextLengths,
    /// The tokens of prompts, which no recording has.
    Prompts,
    /// A value of a newer `analyze`.
    #[serde(untagged)]
    #[schemars(skip)]
    Newer(String),
}

/// Which, or how many.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum MissingName {
    /// How many.
    Number(u64),
    /// Which.
    Name(String),
}
