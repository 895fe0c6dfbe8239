//! The Noise library, configured for the one pattern in use.

use snow::params::NoiseParams;
use snow::{Builder, HandshakeState};

use crate::error::Error;
use crate::hello::{HELLO, HELLO_LEN};
use crate::key::{Key, MAX_BOARD};

const PATTERN: &str = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2s";

/// Length of each message of the handshake: an ephemeral public key and a tag.
pub(crate) const MESSAGE_LEN: usize = 48;
/// Length of a tag, bytes.
pub(crate) const TAG_LEN: usize = 16;

/// What both sides must agree on before the first message: magic, version, pattern, wire version
/// and board.
struct Prologue {
    bytes: [u8; HELLO_LEN + 2 + MAX_BOARD],
    len: usize,
}

impl Prologue {
    fn new(key: &Key, wire_version: u16) -> Self {
        let board = key.board().as_bytes();
        let mut bytes = [0; HELLO_LEN + 2 + MAX_BOARD];
        let begin = HELLO_LEN + 2;
        bytes[..HELLO_LEN].copy_from_slice(&HELLO);
        bytes[HELLO_LEN..begin].copy_from_slice(&wire_version.to_le_bytes());
        bytes[begin..begin + board.len()].copy_from_slice(board);
        Self { bytes, len: begin + board.len() }
    }
}

fn params() -> Result<NoiseParams, Error> {
    PATTERN.parse().map_err(Error::preparing)
}

fn build(
    key: &Key,
    wire_version: u16,
    side: impl FnOnce(Builder<'_>) -> Result<HandshakeState, snow::Error>,
) -> Result<HandshakeState, Error> {
    let prologue = Prologue::new(key, wire_version);
    let builder = Builder::new(params()?)
        .psk(0, key.bytes())
        .and_then(|b| b.prologue(&prologue.bytes[..prologue.len]))
        .map_err(Error::preparing)?;
    side(builder).map_err(Error::preparing)
}

pub(crate) fn initiator(key: &Key, wire_version: u16) -> Result<HandshakeState, Error> {
    build(key, wire_version, |b| b.build_initiator())
}

pub(crate) fn responder(key: &Key, wire_version: u16) -> Result<HandshakeState, Error> {
    build(key, wire_version, |b| b.build_responder())
}
