//! The first bytes of both sides: a request begins with six bytes, and a refusal consists of six
//! bytes.

use std::fmt;

/// The first bytes of every secure link.
pub const MAGIC: [u8; 4] = *b"PFIS";
/// Version of the secure link.
pub const VERSION: u8 = 1;
/// The pattern NNpsk0: one key per board. Other numbers are reserved for future patterns, such as
/// one key per workstation.
pub const NN_PSK0: u8 = 1;
/// Length of a hello and of a refusal, in bytes.
pub const HELLO_LEN: usize = 6;
/// The hello of a request.
pub const HELLO: [u8; HELLO_LEN] = [MAGIC[0], MAGIC[1], MAGIC[2], MAGIC[3], VERSION, NN_PSK0];

/// Why the agent refuses a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Refusal {
    /// The first bytes are not the hello of a secure link: the host uses no key.
    KeyWanted = 1,
    /// The agent was started without a key.
    NoKeyHere = 2,
    /// Another version of the secure link, or an unknown pattern.
    Unknown = 3,
    /// The request was not made with the key of the agent, for its board, by a host of the same
    /// wire version.
    WrongKey = 4,
    /// The handshake took too long.
    TooSlow = 5,
}

impl Refusal {
    /// The bytes to send. A hello never has version 0.
    #[must_use]
    pub fn to_bytes(self) -> [u8; HELLO_LEN] {
        [MAGIC[0], MAGIC[1], MAGIC[2], MAGIC[3], 0, self as u8]
    }

    /// Parses a refusal. A reason from a later release becomes [`Self::Unknown`].
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

    /// What to do about it on the host.
    #[must_use]
    pub fn help(self) -> &'static str {
        match self {
            Self::KeyWanted => {
                "add `--key FILE` with the file that `profinfer-agent keygen` made for this board"
            }
            Self::NoKeyHere => "omit `--key`, or start the agent with `--key FILE`",
            Self::Unknown => "use `analyze` and the agent of the same release",
            Self::WrongKey => {
                "copy the complete key file of the agent, and use `analyze` and the agent of the same release"
            }
            Self::TooSlow => "connect again; the handshake must complete within two seconds",
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::KeyWanted => "the agent requires a key, and none was given",
            Self::NoKeyHere => "the agent was started without a key",
            Self::Unknown => "the agent does not support this kind of secure link",
            Self::WrongKey => "the agent has another key, or the same key for another board or release",
            Self::TooSlow => "the handshake took more than two seconds",
        })
    }
}
