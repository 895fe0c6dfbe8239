//! Where a fact comes from. Every section of a profile has a provenance.

use std::fmt;

use serde::Deserialize;

/// Kind of a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The sources of Linux, with the device trees.
    Kernel,
    /// Documents and sources of the manufacturer.
    Vendor,
    /// Measured, by us or by others.
    Measured,
    /// Computed from other facts.
    Arithmetic,
    /// The ProfInfer paper and its artefact.
    Paper,
    /// A public thread or page of an owner of the board.
    Thread,
}

impl Source {
    const ALL: [(&'static str, Self); 6] = [
        ("kernel", Self::Kernel),
        ("vendor", Self::Vendor),
        ("measured", Self::Measured),
        ("arithmetic", Self::Arithmetic),
        ("paper", Self::Paper),
        ("thread", Self::Thread),
    ];
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Self::ALL.iter().find(|(_, s)| s == self).map_or("", |(name, _)| name);
        f.write_str(name)
    }
}

/// A source and where to find it; `kernel: rk3588-base.dtsi` in the file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Provenance {
    /// Kind of source.
    pub source: Source,
    /// Where to look.
    pub place: String,
}

impl TryFrom<String> for Provenance {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let known = text.split_once(':').and_then(|(kind, place)| {
            let (_, source) = Source::ALL.iter().find(|(name, _)| *name == kind.trim())?;
            Some((*source, place.trim()))
        });
        match known {
            Some((source, place)) if !place.is_empty() => Ok(Self { source, place: place.to_owned() }),
            _ => {
                let kinds = Source::ALL.map(|(name, _)| name).join(", ");
                Err(format!("provenance `{text}` is not `KIND: where to look`; kinds: {kinds}"))
            }
        }
    }
}

impl fmt::Display for Provenance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.source, self.place)
    }
}
