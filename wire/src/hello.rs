//! The first 64 bytes of a stream: sender, version, and a test of the link.
//!
//! Coded by hand, without postcard: a reader must be able to refuse a stream that it does not
//! understand. All integers are little-endian.
//!
//! | bytes | field |
//! |---|---|
//! | 0..8 | magic `PROFINF` 0x1a |
//! | 8..16 | newline canary `\n \r\n \r 0x00 0xff \n \n`, see [`CANARY`] |
//! | 16..18 | wire version |
//! | 18..20 | flags, zero in version 1 |
//! | 20..24 | agent version: major, minor, patch, zero |
//! | 24..32 | first 8 bytes of the agent's build id (its git commit), zero when unknown |
//! | 32..48 | session nonce |
//! | 48..60 | zero |
//! | 60..64 | CRC-32C of bytes 0..60 |

use crate::SUPPORTED_VERSIONS;
use crate::frame::CRC;

/// Length of the hello in bytes.
pub const HELLO_LEN: usize = 64;

/// First eight bytes of every stream.
pub const MAGIC: [u8; 8] = *b"PROFINF\x1a";

/// Every kind of line end, a zero and a byte outside ASCII. A terminal in cooked mode, `adb shell`
/// and some serial consoles rewrite line ends. Each of them changes these bytes in a recognisable
/// way.
pub const CANARY: [u8; 8] = [b'\n', b'\r', b'\n', b'\r', 0x00, 0xff, b'\n', b'\n'];

/// The decoded hello.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hello {
    /// Version of the wire format that the frames after the hello use.
    pub wire_version: u16,
    /// Agent version: major, minor, patch.
    pub agent_version: [u8; 3],
    /// First 8 bytes of the agent's build id; zero when unknown.
    pub build: [u8; 8],
    /// Random bytes that identify the session.
    pub nonce: [u8; 16],
}

/// Why a reader of this build cannot follow the stream after these bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HelloError {
    /// Fewer than 64 bytes, which begin like a hello.
    Short {
        /// Bytes present.
        found: usize,
    },
    /// Without the magic: another file or service.
    NotAStream,
    /// The magic is intact, but the link rewrote the canary's line ends.
    NewlinesRewritten,
    /// Magic or canary are recognisable, but the checksum is wrong.
    Damaged,
    /// A version newer than all that this build reads.
    Newer {
        /// The stream's version.
        found: u16,
    },
    /// A version that this build no longer reads.
    Older {
        /// The stream's version.
        found: u16,
    },
}

impl Hello {
    /// Encodes the hello.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; HELLO_LEN] {
        let mut b = [0u8; HELLO_LEN];
        b[0..8].copy_from_slice(&MAGIC);
        b[8..16].copy_from_slice(&CANARY);
        b[16..18].copy_from_slice(&self.wire_version.to_le_bytes());
        b[20..23].copy_from_slice(&self.agent_version);
        b[24..32].copy_from_slice(&self.build);
        b[32..48].copy_from_slice(&self.nonce);
        let crc = CRC.checksum(&b[..60]);
        b[60..64].copy_from_slice(&crc.to_le_bytes());
        b
    }

    /// Decodes the first bytes of a stream; `bytes` may be longer than the hello.
    ///
    /// # Errors
    /// See [`HelloError`]; a hello with one flipped bit is `Damaged`, never a wrong hello.
    pub fn parse(bytes: &[u8]) -> Result<Self, HelloError> {
        let head = &bytes[..bytes.len().min(HELLO_LEN)];
        let Ok(b) = <&[u8; HELLO_LEN]>::try_from(head) else {
            let n = head.len().min(MAGIC.len());
            return Err(if head.is_empty() || head[..n] != MAGIC[..n] {
                HelloError::NotAStream
            } else {
                HelloError::Short { found: head.len() }
            });
        };
        if b[0..8] == MAGIC && b[8..16] != CANARY && newlines_rewritten(&b[8..]) {
            return Err(HelloError::NewlinesRewritten);
        }
        let crc = u32::from_le_bytes([b[60], b[61], b[62], b[63]]);
        if crc != CRC.checksum(&b[..60]) {
            // Sixteen known bytes: random data agrees with four of them about once in a billion
            // times.
            let alike = b.iter().zip(MAGIC.iter().chain(&CANARY)).filter(|(a, k)| a == k).count();
            return Err(if alike >= 8 { HelloError::Damaged } else { HelloError::NotAStream });
        }
        if b[0..8] != MAGIC {
            return Err(HelloError::NotAStream);
        }
        let found = u16::from_le_bytes([b[16], b[17]]);
        if !SUPPORTED_VERSIONS.contains(&found) {
            let newer = SUPPORTED_VERSIONS.iter().all(|v| found > *v);
            return Err(if newer { HelloError::Newer { found } } else { HelloError::Older { found } });
        }
        let mut hello = Hello {
            wire_version: found,
            agent_version: [b[20], b[21], b[22]],
            build: [0; 8],
            nonce: [0; 16],
        };
        hello.build.copy_from_slice(&b[24..32]);
        hello.nonce.copy_from_slice(&b[32..48]);
        Ok(hello)
    }
}

/// Whether `seen`, the bytes after the magic, is the canary after one of the usual rewritings: LF
/// to CR LF (terminals with ONLCR, old `adb shell`), CR LF to LF, CR to LF, or CR dropped.
fn newlines_rewritten(seen: &[u8]) -> bool {
    let rewritten: [&[u8]; 5] =
        [b"\r\n\r\r\n\r\0\xff", b"\n\n\r\0\xff", b"\n\n\n\n\0\xff", b"\n\n\0\xff", b"\n\n\n\0\xff"];
    rewritten.iter().any(|r| seen.starts_with(r))
}
