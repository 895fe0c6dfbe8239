//! Address of an agent, and connecting to it.

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use profinfer_secure::{Error, Key, file};

use super::{Link, PATIENCE, Socket, refusal, secure};
use crate::capture::interrupts;
use crate::capture::observer::CaptureObserver;
use crate::system::unix_socket;
use crate::{Diagnostic, Result};

/// Address of an agent, and the key that it shares with this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    place: Place,
    key: Option<Key>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// `tcp:HOST:PORT` or `tcp://HOST:PORT`
    Tcp(String),
    /// `unix:PATH` or `unix:@NAME`
    Unix(String),
    /// `serial:DEVICE@BAUD`
    Serial(String, u32),
}

impl Address {
    /// The address in a source, with the key of the file. `None` if the source is a file.
    pub(crate) fn parse(source: &str, key: Option<&Path>) -> Result<Option<Self>> {
        let Some(place) = Place::parse(source)? else { return Ok(None) };
        let Some(path) = key else { return Ok(Some(Self { place, key: None })) };
        if matches!(place, Place::Serial(..)) {
            return Err(Diagnostic::new(
                format!("opening {source} with a key"),
                "a serial line cannot be encrypted: kernel messages mix with its frames",
                "leave --key out; anyone at the other end of the line can read the stream",
            ));
        }
        let key = file::read(path).map_err(|e| {
            Diagnostic::new(format!("reading the key file {}", path.display()), &e, e.help(path))
        })?;
        Ok(Some(Self { place, key: Some(key) }))
    }

    /// True if other bytes may arrive between frames.
    pub(crate) fn is_serial(&self) -> bool {
        matches!(self.place, Place::Serial(..))
    }

    /// Connects once. With a key, nothing is sent or received before the handshake.
    pub(crate) fn connect(&self) -> io::Result<Link> {
        let socket: Box<dyn Socket> = match &self.place {
            Place::Tcp(place) => {
                let socket = TcpStream::connect(place)?;
                socket.set_read_timeout(Some(PATIENCE))?;
                socket.set_nodelay(true)?;
                Box::new(socket)
            }
            Place::Unix(path) => Box::new(unix_socket(path, PATIENCE)?),
            Place::Serial(device, baud) => {
                return Ok(Link::Serial(serialport::new(device, *baud).timeout(PATIENCE).open()?));
            }
        };
        match &self.key {
            Some(key) => secure::connect(socket, key),
            None => Ok(Link::Plain { socket, begun: false }),
        }
    }

    /// Connects. On a socket, retries until `wait` has passed or the user interrupts. A refusal by
    /// the agent is final.
    pub(crate) fn connect_within(&self, wait: Duration, observer: &mut dyn CaptureObserver) -> Result<Link> {
        let begun = Instant::now();
        observer.begin("connecting");
        observer.say(&self.to_string());
        loop {
            match self.connect() {
                Ok(link) => return Ok(link),
                Err(e) => {
                    let over = begun.elapsed() >= wait
                        || interrupts::asked() > 0
                        || self.is_serial()
                        || e.kind() == ErrorKind::InvalidInput
                        || refusal(&e).is_some();
                    if over {
                        return Err(self.failed(&e));
                    }
                    observer.say(&format!("{self}: {e}; retrying"));
                    std::thread::sleep(Duration::from_millis(200));
                }
            }
        }
    }

    /// The error of a failed connection.
    pub(crate) fn failed(&self, e: &io::Error) -> Diagnostic {
        let help = match refusal(e) {
            Some(Error::Refused(refusal)) => refusal.help(),
            Some(Error::Answer) => {
                "copy the complete key file of the agent; or another program uses this address"
            }
            _ => self.help(),
        };
        Diagnostic::new(format!("connecting to the agent at {self}"), e, help)
    }

    fn help(&self) -> &'static str {
        match self.place {
            Place::Tcp(_) => {
                "start `profinfer-agent serve` on the board and forward its port, for example \
                 `adb forward tcp:7817 tcp:7817` or `ssh -L 7817:127.0.0.1:7817 BOARD`"
            }
            Place::Unix(_) => {
                "start `profinfer-agent serve --listen unix:PATH` as a user whose socket you may open, or forward it: \
                 `ssh -L PATH:PATH BOARD`"
            }
            Place::Serial(..) => {
                "name the adapter's device on this machine (`ls /dev/ttyUSB* /dev/ttyACM*`), close other programs \
                 that use it (minicom, screen), and join the group that may open it (dialout)"
            }
        }
    }
}

impl Place {
    fn parse(source: &str) -> Result<Option<Self>> {
        if let Some(place) = source.strip_prefix("tcp:") {
            let place = place.strip_prefix("//").unwrap_or(place);
            return match port_of(place) {
                Some(_) => Ok(Some(Self::Tcp(place.to_owned()))),
                None => Err(Diagnostic::new(
                    format!("opening {source}"),
                    "a port from 1 to 65535 is missing",
                    "write it as tcp:127.0.0.1:7817",
                )),
            };
        }
        if let Some(path) = source.strip_prefix("unix:") {
            return Ok(Some(Self::Unix(path.to_owned())));
        }
        let Some(place) = source.strip_prefix("serial:") else { return Ok(None) };
        let wrong = |answer: String| {
            Diagnostic::new(format!("opening {source}"), answer, "write it as serial:/dev/ttyUSB0@1500000")
        };
        let (device, baud) =
            place.rsplit_once('@').ok_or_else(|| wrong("the speed is missing".to_owned()))?;
        let baud =
            baud.parse().ok().filter(|b| *b > 0).ok_or_else(|| wrong(format!("`{baud}` is not a speed")))?;
        Ok(Some(Self::Serial(device.to_owned(), baud)))
    }
}

/// The port of `HOST:PORT`.
fn port_of(place: &str) -> Option<u16> {
    let (host, port) = place.rsplit_once(':')?;
    port.parse().ok().filter(|port| *port > 0 && !host.is_empty())
}

/// The address that a source without a scheme seems to mean; `None` if it looks like a file.
pub(crate) fn address_meant(source: &str) -> Option<String> {
    let place = ["http://", "https://", "ssh://"].iter().find_map(|scheme| source.strip_prefix(scheme));
    let place = place.unwrap_or(source).trim_end_matches('/');
    (!place.contains('/') && port_of(place).is_some()).then(|| format!("tcp:{place}"))
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Tcp(place) => write!(f, "tcp:{place}"),
            Place::Unix(path) => write!(f, "unix:{path}"),
            Place::Serial(device, baud) => write!(f, "serial:{device}@{baud}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, Place, address_meant};

    #[test]
    fn sources() {
        let of = |source| Place::parse(source).ok().flatten();
        assert_eq!(of("a.pfi"), None);
        assert_eq!(of("tcp:h:1"), Some(Place::Tcp("h:1".into())));
        assert_eq!(of("tcp://h:1"), Some(Place::Tcp("h:1".into())));
        assert_eq!(of("unix:/run/a"), Some(Place::Unix("/run/a".into())));
        assert_eq!(of("unix:@a"), Some(Place::Unix("@a".into())));
        let serial = of("serial:/dev/ttyUSB0@1500000");
        assert_eq!(serial, Some(Place::Serial("/dev/ttyUSB0".into(), 1_500_000)));
        for wrong in ["tcp:h", "tcp:h:", "tcp:h:abc", "tcp:h:99999", "tcp:h:0", "tcp://:7817"] {
            let Err(e) = Place::parse(wrong) else { panic!("{wrong}") };
            assert!(e.to_string().contains("1 to 65535"), "{e}");
        }
        for wrong in ["serial:/dev/ttyUSB0", "serial:/dev/ttyUSB0@", "serial:x@-1", "serial:x@0"] {
            let Err(e) = Place::parse(wrong) else { panic!("{wrong}") };
            assert!(e.to_string().contains("@1500000"), "{e}");
        }
    }

    #[test]
    fn an_address_without_a_scheme_is_recognised() {
        let tcp = Some("tcp:127.0.0.1:7817".to_owned());
        assert_eq!(address_meant("127.0.0.1:7817"), tcp);
        assert_eq!(address_meant("http://127.0.0.1:7817/"), tcp);
        for file in ["a.pfi", "a/b:7817", "C:\\a.pfi", "run:one", "7817"] {
            assert_eq!(address_meant(file), None, "{file}");
        }
    }

    #[test]
    fn a_key_is_never_left_aside() {
        let missing = std::path::Path::new("/nowhere/board.key");
        for source in ["tcp:127.0.0.1:1", "unix:@a", "serial:/dev/a@9600"] {
            assert!(Address::parse(source, Some(missing)).is_err(), "{source}");
        }
    }
}
