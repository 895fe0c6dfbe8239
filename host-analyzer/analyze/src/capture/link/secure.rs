//! The handshake with an agent, and the encrypted link after it.

use std::io::{self, ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use profinfer_secure::channel::{FRAME_OVERHEAD, MAX_PLAIN};
use profinfer_secure::{Error, Initiator, Key, Opener, Sealer};
use profinfer_wire::WIRE_VERSION;

use super::{Link, Socket};

/// Time limit for the agent's answer. The agent may have other pending connections.
const PATIENCE: Duration = Duration::from_secs(10);

/// Both sides prove that they have the key.
pub(super) fn connect(mut socket: Box<dyn Socket>, key: &Key) -> io::Result<Link> {
    let (mut waiting, request) = Initiator::new(key, WIRE_VERSION).map_err(io::Error::other)?;
    socket.write_all(&request)?;
    let begun = Instant::now();
    loop {
        let n = match socket.read(waiting.room()) {
            Ok(0) => {
                let answer = "the agent closed the connection during the handshake";
                return Err(io::Error::new(ErrorKind::UnexpectedEof, answer));
            }
            Ok(n) => n,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if begun.elapsed() > PATIENCE {
                    let answer = "no answer to the handshake within ten seconds";
                    return Err(io::Error::new(ErrorKind::TimedOut, answer));
                }
                continue;
            }
            Err(e) => return Err(e),
        };
        waiting = match waiting.filled(n) {
            Ok(Ok(known)) => {
                socket.write_all(&known.first)?;
                return Ok(Link::Secure { socket, sealer: known.sealer, opener: known.opener });
            }
            Ok(Err(waiting)) => waiting,
            Err(e) => return Err(io::Error::other(e)),
        };
    }
}

/// Returns received plain text.
pub(super) fn read(socket: &mut dyn Read, opener: &mut Opener, bytes: &mut [u8]) -> io::Result<usize> {
    while opener.plain().is_empty() {
        let n = socket.read(opener.room())?;
        if n == 0 {
            return Ok(0);
        }
        opener.filled(n).map_err(broken)?;
    }
    let n = opener.plain().len().min(bytes.len());
    bytes[..n].copy_from_slice(&opener.plain()[..n]);
    opener.consume(n);
    Ok(n)
}

/// Treats modified bytes as a broken connection: a new handshake makes a new channel.
fn broken(e: Error) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, e.to_string())
}

/// Encrypts and sends all bytes.
pub(super) fn write(socket: &mut dyn Write, sealer: &mut Sealer, bytes: &[u8]) -> io::Result<()> {
    for piece in bytes.chunks(MAX_PLAIN) {
        let mut frame = vec![0; piece.len() + FRAME_OVERHEAD];
        let len = sealer
            .seal(piece, &mut frame)
            .ok_or_else(|| io::Error::other("the encrypted channel has reached its limit"))?;
        socket.write_all(&frame[..len])?;
    }
    Ok(())
}
