//! How engines ended, and why nothing was traced, as far as the agent found out.

/// Most rows that are kept: a session has a few.
pub const MAX_ENDINGS: usize = 64;

/// The fact that a row states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EndingKind {
    /// No process of the name `text` appeared.
    NoProcess,
    /// No probe was attached to `pid`.
    NoProbe,
    /// The program that the agent started exited with `status`.
    Exited,
    /// `signal` ended the program that the agent started.
    Killed,
    /// A call of `pid` that began at `since_ns` had not returned.
    CallOpen,
    /// `pid` is `other` in a PID namespace below the agent's.
    PidNamespace,
    /// `pid` maps code from the archive `text`.
    PackedLibrary,
    /// `other` is a child of `pid` with the same engine and is not traced: `text` is its name, and after `\n` its
    /// command line.
    Child,
    /// The agent found `pid`, whose program began at `since_ns`, at `at_ns` with its engine already
    /// loaded.
    Late,
    /// One that this build does not know.
    Unknown(u8),
}

/// One known fact about an end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndingRow {
    /// When the agent found it out, ns.
    pub at_ns: u64,
    /// What it is about.
    pub kind: EndingKind,
    /// Process; 0 where there is none.
    pub pid: u32,
    /// Another process id; 0 where there is none.
    pub other: u32,
    /// Exit status.
    pub status: Option<i32>,
    /// Number of a signal.
    pub signal: Option<i32>,
    /// When a call began, ns; 0 where there is none.
    pub since_ns: u64,
    /// A name, a file or lines.
    pub text: String,
}
