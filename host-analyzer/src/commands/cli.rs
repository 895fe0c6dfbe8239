//! Commands and options.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use profinfer_options::{CaptureArgs, ProbesArgs};

use super::rotate::Limit;

/// Shows where the time of a large language model goes on an embedded board.
#[derive(Debug, Parser)]
#[command(name = "analyze", version, args_conflicts_with_subcommands = true)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) command: Option<Command>,
    #[command(flatten)]
    pub(super) record: Record,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Show the raw frames and records of a recording with their offsets; works on damaged files
    Inspect {
        /// The recording
        file: PathBuf,
    },
    /// Show where the probes would go in an engine, level by level, and why a level is missing; the exit status is 1 if
    /// one is
    Engine {
        /// Libraries and executables that one process maps, or folders of them
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Print only the sizes of the tables of operators and types, or all names
        #[arg(long, value_name = "HOW", default_value = "counts", value_parser = ["counts", "all"])]
        tables: String,
        /// Folder of your own profiles; the functions of their backends are searched too
        #[arg(long, value_name = "DIR")]
        boards: Option<PathBuf>,
    },
    /// Explain what is looked for in a session, or one rule: when it is found, what it promises, what to do
    Findings {
        /// Code of a rule, as in summary.json
        code: Option<String>,
    },
    /// List the board profiles, or show one with the meaning of each counter
    Boards {
        /// Name of a profile
        name: Option<String>,
        /// Folder of your own profiles, over those in ~/.config/profinfer/boards
        #[arg(long, value_name = "DIR")]
        boards: Option<PathBuf>,
    },
}

/// Capture or read a stream, and write the views.
#[derive(Debug, Args)]
pub(super) struct Record {
    /// Board profile for a capture; a recording names its own
    #[arg(long)]
    pub(super) board: Option<String>,
    /// Folder of your own board profiles, over those in ~/.config/profinfer/boards
    #[arg(long, value_name = "DIR")]
    pub(super) boards: Option<PathBuf>,
    /// The key file of an agent that runs `serve --key`: the stream is encrypted, and both sides prove that they have the key
    #[arg(long, value_name = "FILE")]
    pub(super) key: Option<PathBuf>,
    /// A recording, tcp:HOST:PORT, unix:PATH or serial:DEVICE@BAUD of an agent that runs `serve` (default: tcp:127.0.0.1:7817), or -
    /// for standard input. Several are the pieces of one recording (--rotate), a folder holds them
    #[arg(value_name = "SOURCE")]
    pub(super) sources: Vec<String>,
    /// Folder to write to
    #[arg(long, short, default_value = "profile")]
    pub(super) out: PathBuf,
    /// Keep the recording of a capture in pieces (recording-0001.pfi and so on), each readable alone: a new one begins behind the
    /// first token call after so many bytes (64M) or so much time (10min). Both may be given
    #[arg(long, value_name = "SIZE|TIME", value_delimiter = ',')]
    pub(super) rotate: Vec<Limit>,
    /// Levels to capture: token, graph, op, expert, sched, all
    #[arg(long, value_delimiter = ',')]
    pub(super) levels: Vec<String>,
    /// Counters to read at the start and the end of every operator, instead of the board's default set: another of
    /// its sets (`analyze boards NAME` lists them), event names as in Arm's manuals (CPU_CYCLES, L3D_CACHE_REFILL),
    /// minor-faults, major-faults, or none
    #[arg(long, value_delimiter = ',')]
    pub(super) counters: Vec<String>,
    /// How operators are probed
    #[command(flatten)]
    pub(super) probes: ProbesArgs,
    /// How often per second the board's sensors are read (frequencies, temperatures, loads, memory traffic), at most
    /// 100; 0 for never
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(super) sample_hz: u32,
    /// First let the agent measure the ceilings of the board: memory, arithmetic, barriers. Takes some 10 s; start the engine
    /// afterwards
    #[arg(long)]
    pub(super) bench: bool,
    /// Take the ceilings of the board from this file, which `profinfer-agent bench --out` wrote or which is a recording with some
    #[arg(long, value_name = "FILE")]
    pub(super) ceilings: Option<PathBuf>,
    /// Name of the process to trace, `llama*` for all names that begin with llama. The agent's own --pid, --name or command
    /// takes precedence
    #[arg(long)]
    pub(super) target: Option<String>,
    /// Write the tables as CSV as well
    #[arg(long)]
    pub(super) csv: bool,
    /// Seconds to wait for the agent's port, or for its answer on a serial line
    #[arg(long, default_value_t = 10)]
    pub(super) wait: u64,
    /// Seconds to try to connect again when the link breaks; the agent keeps the session for a minute
    #[arg(long, default_value_t = 10)]
    pub(super) reconnect: u64,
    /// What to capture of the operators
    #[command(flatten)]
    pub(super) capture: CaptureArgs,
}
