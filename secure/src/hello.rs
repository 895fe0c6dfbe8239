//! The first bytes of both sides: six bytes that begin a request, six that refuse one.

use std::fmt;

/// The first bytes of every secure link.
pub const MAGIC: [u8; 4] = *b"PFIS";
/// Version of the secure link.
pub const VERSION: u8 = 1;
/// The pattern NNpsk0: one key for each board. Other numbers are for patterns to come, with a key for each desk.
pub const NN_PSK0: u8 = 1;
/// Length of a hello and of a refusal, in bytes.
pub const HELLO_LEN: usize = 6;
/// The hello of a request.
pub const HELLO: [u8; HELLO_LEN] = [MAGIC[0], MAGIC[1], MAGIC[2], MAGIC[3], VERSION, NN_PSK0];

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Refusal {
    /// The first bytes are no hello of a secure link: the host came without a key.
    KeyWanted = 1,
    /// The agent was started without a key.
    NoKeyHere = 2,
    /// Another version of the secure link, or a pattern that the agent does not know.
    Unknown = 3,
    /// The request was not made with the agent's key, for its board, by a host of the same wire version.
    WrongKey = 4,
    /// It took too long.
    TooSlow = 5,
}

impl Refusal {
    /// The bytes to send. Version 0 is no version of a hello.
    #[must_use]
    pub fn to_bytes(self) -> [u8; HELLO_LEN] {
        [MAGIC[0], MAGIC[1], MAGIC[2], MAGIC[3], 0, self as u8]
    }

    /// The refusal that the bytes are. A reason of a later release reads as [`Self::Unknown`].
    #[must_use]
    pub fn parse(bytes: &[u8; HELLO_LEN]) -> Option<Self> {
        if bytes[..5] != [MAGIC[0], MAGIC[1], MAGIC[2], MAGIC[3], 0] {
            return None;
        }
        Some(match bytes[5] {
            1 => Self::KeyWanted,
            2 => Self::NoKeyHere,
            4 => Self::WrongKey,
            5 => Self::TooSlow,
            _ => Self::Unknown,
        })
    }

    /// What to do about it, at the host.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Self::KeyWanted => {
                "give `--key FILE` with the file that `profinfer-agent keygen` made for this board"
            }
            Self::NoKeyHere => "leave `--key` out, or start the agent with `--key FILE`",
            Self::Unknown => "use an analyze and an agent of the same release",
            Self::WrongKey => {
                "copy the key file that the agent uses, whole, and use an analyze and an agent of the same release"
            }
            Self::TooSlow => "connect again; the whole handshake has two seconds",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KeyWanted => "the agent demands a key, and none was given",
            Self::NoKeyHere => "the agent was started without a key",
            Self::Unknown => "the agent does not know this kind of secure link",
            Self::WrongKey => "the agent has another key, or the same key for another board or release",
            Self::TooSlow => "the agent waited two seconds for the handshake",
        })
    }
}
