//! Backends of ggml that run on an accelerator: their libraries, functions and arguments.

use std::fmt;

use serde::Deserialize;
use toml::Spanned;

use crate::Provenance;

/// A backend, as in one engine or family of forks.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Backend {
    /// Name, as boards use it; the file's name without `.toml`.
    pub name: String,
    /// Name in results; `name` where there is none.
    #[serde(default)]
    pub title: Option<String>,
    /// One line for people.
    pub description: String,
    /// ggml's identifier of the backend, if known.
    #[serde(default)]
    pub guid: Option<Guid>,
    /// File names of the libraries that contain it, with `*`. An engine linked statically contains
    /// it in its executable.
    pub libraries: Vec<String>,
    /// Where its facts come from.
    pub provenance: Provenance,
    /// Functions worth a probe; empty for a backend of which only the GUID is known.
    #[serde(default)]
    pub(crate) probes: Vec<Spanned<Probe>>,
}

/// A function to probe.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Probe {
    /// Symbol as in the file; mangled if the function is C++.
    pub symbol: String,
    /// Level that it serves.
    pub level: Level,
    /// C type of the return value.
    pub returns: String,
    /// Arguments in order, C type and name.
    pub arguments: Vec<String>,
    /// Index of the argument, from 0, that is the destination tensor; `None` if there is none.
    #[serde(default)]
    pub tensor: Option<usize>,
    /// Index of the argument, from 0, that is the graph; `None` if there is none.
    #[serde(default)]
    pub graph: Option<usize>,
    /// Whether a call is one complete operator of a split that was given to the backend. Otherwise
    /// it is work inside an operator of the CPU or of the backend.
    #[serde(default)]
    pub whole: bool,
    /// Whether it is in the table of dynamic symbols, which remains in a stripped file.
    pub dynamic: bool,
    /// Versions and forks that have it, and known traps.
    pub versions: String,
    /// Where its facts come from.
    pub provenance: Provenance,
}

/// Level that a probe serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// A complete split of a backend.
    Graph,
    /// One operator.
    Op,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Graph => "graph",
            Self::Op => "op",
        })
    }
}

/// Sixteen bytes, in memory order; `dee070a2-734e-4dbc-b0c7-4fd46d4e90fe` in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Guid(pub [u8; 16]);

impl TryFrom<String> for Guid {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a GUID: write 32 hexadecimal digits in groups of 8-4-4-4-12");
        if !text.split('-').map(str::len).eq([8, 4, 4, 4, 12]) {
            return Err(wrong());
        }
        let value = u128::from_str_radix(&text.replace('-', ""), 16).map_err(|_| wrong())?;
        Ok(Self(value.to_be_bytes()))
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            let hyphen = if [4, 6, 8, 10].contains(&i) { "-" } else { "" };
            write!(f, "{hyphen}{byte:02x}")?;
        }
        Ok(())
    }
}

impl Backend {
    /// Its name in results.
    #[must_use]
    pub fn title(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// The first `N` bytes of its GUID, at most 16 of them.
    #[must_use]
    pub fn first_guid_bytes<const N: usize>(&self) -> Option<[u8; N]> {
        self.guid?.0.first_chunk().copied()
    }

    /// Functions worth a probe.
    pub fn probes(&self) -> impl Iterator<Item = &Probe> {
        self.probes.iter().map(Spanned::as_ref)
    }
}

impl Probe {
    /// As a C declaration.
    #[must_use]
    pub fn signature(&self) -> String {
        format!("{} {}({})", self.returns, self.symbol, self.arguments.join(", "))
    }
}
