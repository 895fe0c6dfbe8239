//! Why an option or a filter was not in force.

/// Why an option or a filter was not in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// No operators are captured.
    NoOperators,
    /// The engine has no decode calls that can be probed.
    NoTokenCalls,
    /// Starts of the engine's operators alone cannot be distinguished from calls that do nothing.
    NotCallSites,
    /// Counters are read, which need both ends of an operator.
    Counters,
    /// Another option excludes it.
    Excluded,
    /// More, longer or larger than the agent accepts.
    TooMuch,
    /// It cannot be observed from outside the engine.
    Unseen,
    /// The kernel refused what it needs.
    Kernel,
    /// It could not be read.
    Unreadable,
}
