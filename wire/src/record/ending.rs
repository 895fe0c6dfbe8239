//! How an engine ended, and why nothing was traced.

use serde::{Deserialize, Serialize};

/// Values of [`Ending::code`]. A host that does not know a code reports its number.
pub mod code {
    /// No process of the requested name appeared: `text` is the name.
    pub const NO_PROCESS: u8 = 1;
    /// No probe was attached to the process `pid`.
    pub const NO_PROBE: u8 = 2;
    /// The program that the agent started exited with `status`; `text` is what may leave the board of its last lines, separated by `\n`.
    pub const EXITED: u8 = 3;
    /// The program that the agent started was ended by `signal`; `text` as in [`EXITED`].
    pub const KILLED: u8 = 4;
    /// A `llama_decode` call of `pid` that began at `since_ns` has not returned when the session ends.
    pub const CALL_OPEN: u8 = 5;
    /// The process `pid` lives in a PID namespace below the agent's, in which it is `other`: the kernel does not
    /// translate its id for the BPF programs, so that none of its events is recorded.
    pub const PID_NAMESPACE: u8 = 6;
    /// The process `pid` maps code out of an archive (APK, HAP): `text` is the file.
    pub const PACKED_LIBRARY: u8 = 7;
    /// `other` is a child of `pid`, maps the same engine and is not traced: `text` is its name.
    pub const CHILD: u8 = 8;
    /// The process `pid`, whose program began at `since_ns`, was met at `at_ns` with its engine loaded: its first calls may be missing.
    pub const LATE: u8 = 9;
}

/// One thing that is known of the end of a session; several may be sent, before [`super::loss::End`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ending<'a> {
    /// When it was found out, ns.
    pub at_ns: u64,
    /// Which, see [`code`].
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
