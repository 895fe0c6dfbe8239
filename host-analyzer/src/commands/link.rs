//! The two links over which `analyze` captures from an agent: TCP and serial lines.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serialport::SerialPort;

use super::progress::Progress;
use super::{Diagnostic, Result};

/// How long one read waits for bytes.
const PATIENCE: Duration = Duration::from_millis(100);

/// Where an agent is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Address {
    /// `tcp:HOST:PORT`
    Tcp(String),
    /// `serial:DEVICE@BAUD`
    Serial(String, u32),
}

impl Address {
    /// The address that a source names; `None` if it is a file.
    pub(super) fn of(source: &str) -> Result<Option<Self>> {
        if let Some(place) = source.strip_prefix("tcp:") {
            return Ok(Some(Self::Tcp(place.to_owned())));
        }
        let Some(place) = source.strip_prefix("serial:") else { return Ok(None) };
        let wrong = |answer: String| {
            Diagnostic::new(format!("opening {source}"), answer, "write it like serial:/dev/ttyUSB0@1500000")
        };
        let (device, baud) =
            place.rsplit_once('@').ok_or_else(|| wrong("the speed is missing".to_owned()))?;
        let baud =
            baud.parse().ok().filter(|b| *b > 0).ok_or_else(|| wrong(format!("`{baud}` is not a speed")))?;
        Ok(Some(Self::Serial(device.to_owned(), baud)))
    }

    /// Whether other bytes may come between frames.
    pub(super) fn is_serial(&self) -> bool {
        matches!(self, Self::Serial(..))
    }

    /// Connects once.
    pub(super) fn connect(&self) -> io::Result<Link> {
        match self {
            Self::Tcp(place) => {
                let socket = TcpStream::connect(place)?;
                socket.set_read_timeout(Some(PATIENCE))?;
                socket.set_nodelay(true)?;
                Ok(Link::Tcp(socket))
            }
            Self::Serial(device, baud) => {
                let port = serialport::new(device, *baud).timeout(PATIENCE).open()?;
                Ok(Link::Serial(port))
            }
        }
    }

    /// Connects; over TCP it tries again until `wait` is over.
    pub(super) fn connect_within(&self, wait: Duration) -> Result<Link> {
        let begun = Instant::now();
        let mut progress = Progress::new("connecting");
        loop {
            match self.connect() {
                Ok(link) => {
                    progress.done();
                    return Ok(link);
                }
                Err(e)
                    if begun.elapsed() >= wait || self.is_serial() || e.kind() == ErrorKind::InvalidInput =>
                {
                    progress.done();
                    return Err(Diagnostic::new(
                        format!("connecting to the agent at {self}"),
                        e,
                        self.help(),
                    ));
                }
                Err(e) => {
                    progress.say(&format!("{self}: {e}; trying again"));
                    std::thread::sleep(Duration::from_millis(200));
                }
            }
        }
    }

    fn help(&self) -> &'static str {
        match self {
            Self::Tcp(_) => {
                "start `profinfer-agent serve` on the board and forward its port, for example \
                 `adb forward tcp:7817 tcp:7817` or `ssh -L 7817:127.0.0.1:7817 BOARD`"
            }
            Self::Serial(..) => {
                "name the adapter's device on this machine (`ls /dev/ttyUSB* /dev/ttyACM*`), close other programs \
                 that use it (minicom, screen), and join the group that may open it (dialout)"
            }
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp(place) => write!(f, "tcp:{place}"),
            Self::Serial(device, baud) => write!(f, "serial:{device}@{baud}"),
        }
    }
}

/// A connected link.
pub(super) enum Link {
    Tcp(TcpStream),
    Serial(Box<dyn SerialPort>),
}

impl Link {
    /// Reads the bytes that came. Waits a tenth of a second for the first byte; 0 if none came.
    ///
    /// # Errors
    /// When the link is closed.
    pub(super) fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = match self {
            Self::Tcp(socket) => socket.read(bytes),
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

    pub(super) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Tcp(socket) => socket.write_all(bytes),
            Self::Serial(port) => port.write_all(bytes).and_then(|()| port.flush()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn sources() {
        assert_eq!(Address::of("a.pfi").ok().flatten(), None);
        assert_eq!(Address::of("tcp:h:1").ok().flatten(), Some(Address::Tcp("h:1".into())));
        let serial = Address::of("serial:/dev/ttyUSB0@1500000").ok().flatten();
        assert_eq!(serial, Some(Address::Serial("/dev/ttyUSB0".into(), 1_500_000)));
        for wrong in ["serial:/dev/ttyUSB0", "serial:/dev/ttyUSB0@", "serial:x@-1", "serial:x@0"] {
            let Err(e) = Address::of(wrong) else { panic!("{wrong}") };
            assert!(e.to_string().contains("@1500000"), "{e}");
        }
    }
}
