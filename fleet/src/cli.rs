//! Commands and options.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Keeps the results of many recordings in one place, and answers queries about all of them.
#[derive(Debug, Parser)]
#[command(name = "analyze-fleet", bin_name = "analyze fleet", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Add recordings; those that are present are kept. Several processes may add at the same time
    Add(Add),
    /// Query with SQL. Tables: captures, operators, findings (docs/output-schema.md)
    Sql {
        /// One SELECT
        query: String,
        /// Folder or s3://BUCKET/PREFIX with the fleet
        #[arg(long = "in", value_name = "PLACE")]
        place: String,
        /// Output format
        #[arg(long, value_enum, default_value_t = Format::Table)]
        format: Format,
    },
    /// Show the speed by engine build, oldest first
    Trend(Ready),
    /// Show series of captures whose speed changed, and where
    Regressions(Ready),
    /// Rank boards by speed, for each model
    Ranking(Ready),
    /// Show devices that are slower or faster than others of their kind
    Outliers(Ready),
    /// Print the SQL of the prepared queries and of the tables, for other engines
    Queries {
        /// Name of one query
        name: Option<String>,
        /// Only this board
        #[arg(long)]
        board: Option<String>,
        #[command(flatten)]
        format: OutputArgs,
    },
    /// Write one page with trends, regressions, ranking and outliers
    Report {
        /// Folder or s3://BUCKET/PREFIX with the fleet
        #[arg(long = "in", value_name = "PLACE")]
        place: String,
        /// Output file
        #[arg(long, short, default_value = "fleet.html")]
        out: PathBuf,
        #[command(flatten)]
        format: OutputArgs,
    },
}

impl Command {
    /// True if the result and the error are JSON.
    pub(crate) fn is_json(&self) -> bool {
        match self {
            Self::Add(Add { format, .. }) | Self::Queries { format, .. } | Self::Report { format, .. } => {
                format.is_json()
            }
            Self::Sql { format, .. } => *format == Format::Json,
            Self::Trend(ready) | Self::Regressions(ready) | Self::Ranking(ready) | Self::Outliers(ready) => {
                ready.format == Format::Json
            }
        }
    }
}

/// Options of `add`.
#[derive(Debug, Args)]
pub(crate) struct Add {
    /// Recordings, folders with the pieces of one (--rotate), or folders that `analyze` wrote
    #[arg(required = true, value_name = "RECORDING|FOLDER")]
    pub(crate) sources: Vec<PathBuf>,
    /// Folder or s3://BUCKET/PREFIX to add to; AWS_* variables configure the access
    #[arg(long, value_name = "PLACE")]
    pub(crate) to: String,
    /// Name of the device that recorded them, to distinguish several boards of a kind
    #[arg(long, value_name = "NAME")]
    pub(crate) device: Option<String>,
    /// Path of `analyze`, which reads recordings (default: next to this program, else in PATH)
    #[arg(long, value_name = "FILE")]
    pub(crate) analyze: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) format: OutputArgs,
}

/// Options of a prepared query.
#[derive(Debug, Args)]
pub(crate) struct Ready {
    /// Folder or s3://BUCKET/PREFIX with the fleet
    #[arg(long = "in", value_name = "PLACE")]
    pub(crate) place: String,
    /// Only this board
    #[arg(long)]
    pub(crate) board: Option<String>,
    /// Output format
    #[arg(long, value_enum, default_value_t = Format::Table)]
    pub(crate) format: Format,
}

/// `--format` of a command whose result is not a table.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct OutputArgs {
    /// Output format; docs/analyze-json.md describes the objects
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Output::Text)]
    format: Output,
}

impl OutputArgs {
    pub(crate) fn is_json(self) -> bool {
        self.format == Output::Json
    }
}

/// How such a result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Output {
    /// For people
    Text,
    /// For programs
    Json,
}

/// Output format of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Table,
    /// Comma-separated, with a header
    Csv,
    /// A list of objects
    Json,
}
