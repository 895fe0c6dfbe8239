//! The address after `--listen`.

use std::path::PathBuf;

use crate::error::{Diagnostic, Result};

/// An address to listen at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// `tcp:HOST:PORT` or `tcp://HOST:PORT`
    Tcp(String),
    /// `unix:PATH`
    Unix(PathBuf),
    /// `unix:@NAME`: an abstract socket, which vanishes with the agent
    Abstract(String),
    /// `serial:DEVICE@BAUD`, without the prefix
    Serial(String),
}

impl Address {
    ///
    /// # Errors
    /// If the text has none of these forms.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |answer: &str| {
            Diagnostic::new(
                format!("listening at {text}"),
                answer,
                "use the form tcp:127.0.0.1:7817, unix:/run/profinfer.sock, unix:@profinfer or serial:/dev/ttyFIQ0@1500000",
            )
        };
        let (kind, place) = text.split_once(':').unwrap_or_default();
        match (kind, place.strip_prefix("//").unwrap_or(place)) {
            ("tcp", place) => Ok(Self::Tcp(place.to_owned())),
            ("unix", "" | "@") => Err(wrong("the socket name is missing")),
            ("unix", _) => Ok(place
                .strip_prefix('@')
                .map_or_else(|| Self::Unix(place.into()), |name| Self::Abstract(name.to_owned()))),
            ("serial", _) => Ok(Self::Serial(place.to_owned())),
            _ => Err(wrong("the address must begin with `tcp:`, `unix:` or `serial:`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Address;

    #[test]
    fn every_form() {
        let of = |text| Address::parse(text).ok();
        assert_eq!(of("tcp:h:1"), Some(Address::Tcp("h:1".into())));
        assert_eq!(of("tcp://0.0.0.0:7817"), Some(Address::Tcp("0.0.0.0:7817".into())));
        assert_eq!(of("unix:/run/a"), Some(Address::Unix("/run/a".into())));
        assert_eq!(of("unix:@a"), Some(Address::Abstract("a".into())));
        assert_eq!(of("serial:/dev/a@1"), Some(Address::Serial("/dev/a@1".into())));
        for wrong in ["", "0.0.0.0:1", "unix:", "unix:@", "udp:h:1"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
