//! How an engine ended, and why nothing was traced.

use serde::{Deserialize, Serialize};

/// Values of [`Ending::code`]. A host reports the number of a code that it does not know.
pub mod code {
    /// No process of the requested name appeared: `text` is the name.
    pub const NO_PROCESS: u8 = 1;
    /// No probe was attached to the process `pid`.
    pub const NO_PROBE: u8 = 2;
    /// The program that the agent started exited with `status`. `text` has those of its last lines
    /// that may leave the board, separated by `\n`.
    pub const EXITED: u8 = 3;
    /// `signal` killed the program that the agent started; `text` as in [`EXITED`].
    pub const KILLED: u8 = 4;
    /// A `llama_decode` call of `pid` that began at `since_ns` had not returned when the session
    /// ended.
    pub const CALL_OPEN: u8 = 5;
    /// The process `pid` is in a PID namespace below the agent's, in which it is `other`. The
    /// kernel does not translate its id for the BPF programs, so none of its events is recorded.
    pub const PID_NAMESPACE: u8 = 6;
    /// The process `pid` maps code from an archive (APK, HAP): `text` is the file.
    pub const PACKED_LIBRARY: u8 = 7;
    /// `other` is a child of `pid`, maps the same engine and is not traced: `text` is its name,
    /// and after `\n` those parts of its command line that may leave the board.
    pub const CHILD: u8 = 8;
    /// The agent found the process `pid`, whose program began at `since_ns`, at `at_ns` with its
    /// engine already loaded: its first calls may be missing.
    pub const LATE: u8 = 9;
}

/// One fact about the end of a session. Several may be sent, before [`super::loss::End`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending<'a> {
    /// When the agent found it out, ns.
    pub at_ns: u64,
    /// The fact, see [`code`].
    pub code: u8,
    /// Process that it is about; 0 where there is none.
    pub pid: u32,
    /// Another process id, see [`code`]; 0 where there is none.
    pub other: u32,
    /// Exit status.
    pub status: Option<i32>,
    /// Number of a signal.
    pub signal: Option<i32>,
    /// When a call began, ns; 0 where there is none.
    pub since_ns: u64,
    /// A name, a file or lines, see [`code`].
    pub text: &'a str,
}
