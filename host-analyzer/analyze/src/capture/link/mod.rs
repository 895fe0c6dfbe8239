//! Links to an agent: TCP, Unix sockets, serial lines.

mod address;
mod secure;

use std::io::{self, ErrorKind, Read, Write};
use std::time::Duration;

use profinfer_secure::{Opener, Refusal, Sealer};
use serialport::SerialPort;

pub(crate) use address::{Address, address_meant};

/// Time that one read waits for bytes.
const PATIENCE: Duration = Duration::from_millis(100);

pub(crate) trait Socket: Read + Write + Send {}
impl<T: Read + Write + Send> Socket for T {}

/// A connected link.
pub(crate) enum Link {
    /// Without a key.
    Plain {
        socket: Box<dyn Socket>,
        /// A byte was received.
        begun: bool,
    },
    /// Encrypted.
    Secure {
        socket: Box<dyn Socket>,
        sealer: Sealer,
        opener: Opener,
    },
    Serial(Box<dyn SerialPort>),
}

impl Link {
    /// Reads received bytes. Waits a tenth of a second for the first byte; returns 0 if none
    /// arrived.
    ///
    /// # Errors
    ///
    /// If the link is closed, or the agent refuses ([`refusal`]).
    pub(crate) fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = match self {
            Self::Plain { socket, begun } => {
                let read = socket.read(bytes);
                if let Ok(n @ 1..) = read
                    && !std::mem::replace(begun, true)
                    && let Some(refusal) = bytes[..n].first_chunk().and_then(Refusal::parse)
                {
                    return Err(io::Error::other(profinfer_secure::Error::Refused(refusal)));
                }
                read
            }
            Self::Secure { socket, opener, .. } => secure::read(socket, opener, bytes),
            Self::Serial(port) => port.read(bytes),
        };
        match read {
            Ok(0) => Err(io::Error::new(ErrorKind::UnexpectedEof, "the other side closed the connection")),
            Err(e)
                if matches!(
                    e.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) =>
            {
                Ok(0)
            }
            read => read,
        }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Plain { socket, .. } => socket.write_all(bytes),
            Self::Secure { socket, sealer, .. } => secure::write(socket, sealer, bytes),
            Self::Serial(port) => port.write_all(bytes).and_then(|()| port.flush()),
        }
    }
}

/// The refusal of the agent in an error. After a refusal, reconnecting does not help.
pub(crate) fn refusal(e: &io::Error) -> Option<profinfer_secure::Error> {
    e.get_ref()?.downcast_ref().copied()
}
