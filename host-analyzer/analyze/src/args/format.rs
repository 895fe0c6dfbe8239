//! `--format`.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

/// The option `--format`.
#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct FormatArgs {
    /// Output format
    ///
    /// `text` is for people. `json` prints one JSON object on standard output, described in
    /// docs/analyze-json.md. If the command fails, the last line on standard error is a JSON object
    /// with the error.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub(crate) format: Format,
}

/// How a command prints its result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    #[default]
    Text,
    Json,
}

impl Format {
    pub(crate) fn is_json(self) -> bool {
        self == Self::Json
    }

    /// The format in the arguments of `analyze-fleet`, which parses them itself.
    pub(crate) fn of_fleet(arguments: &[OsString]) -> Self {
        let pair = arguments.windows(2).any(|pair| pair[0] == "--format" && pair[1] == "json");
        let is_json = pair || arguments.iter().any(|a| a == "--format=json");
        if is_json { Self::Json } else { Self::Text }
    }
}
