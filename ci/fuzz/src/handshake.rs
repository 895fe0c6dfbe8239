//! The link with a key: any bytes, in pieces of any size, to both sides. A side without the key is
//! never accepted.

use profinfer_secure::feed::{Outcome, initiator, responder};

/// First byte: size of the pieces, and which side gets the rest.
pub fn handshake(bytes: &[u8]) {
    let Some((how, bytes)) = bytes.split_first() else { return };
    let piece = usize::from(how >> 1).max(1);
    let side = if how & 1 == 0 { responder } else { initiator };
    let came = side(bytes, piece);
    // The other side's ephemeral key is new each time, so no recorded bytes fit.
    assert!(!matches!(came, Outcome::Known(..)), "{came:?}");
    if let Outcome::Refused(_) = came {
        assert!(side(bytes, 1) != Outcome::Short, "refused in large pieces alone");
    }
}
