//! Why an option or a filter was not in force.

/// Why an option or a filter was not in force.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// No operators are captured.
    NoOperators,
    /// The engine has no token calls that can be probed.
    NoTokenCalls,
    /// Starts of the engine's operators alone are not told from calls that do nothing.
    NotCallSites,
    /// Counters are read, which need both edges of an operator.
    Counters,
    /// Another option excludes it.
    Excluded,
    /// More, longer or larger than the agent takes.
    TooMuch,
    /// What it asks for cannot be seen from outside of the engine.
    Unseen,
    /// The kernel did not take what it needs.
    Kernel,
    /// It could not be read.
    Unreadable,
}
