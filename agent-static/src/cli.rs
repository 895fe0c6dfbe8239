//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use profinfer_cli::{CaptureArgs, ProbesArgs};

use crate::sys::user::User;
use crate::target::process::Target;

/// Shows where the time of a large language model goes, from an unmodified, running llama.cpp.
#[derive(Debug, Parser)]
#[command(name = "profinfer-agent", version, arg_required_else_help = true)]
pub struct Cli {
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// Commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Wait for a host (`analyze`), capture what its plan names, and stream to it
    Serve(Serve),
    /// Make a key for `serve --key` and `analyze --key`
    Keygen(Keygen),
    /// Capture into a file, without a host
    Record(Box<Record>),
    /// Measure the ceilings of this board: how fast it reads and copies memory, multiplies and adds, passes a barrier and
    /// wakes a thread
    #[cfg(feature = "bench")]
    Bench(Bench),
    /// Put back what an agent that was killed left of its direct probes
    #[cfg(feature = "direct")]
    Repair(Repair),
    /// Show what works here, what does not, and why: kernel, permissions, counters, engine
    Doctor(Doctor),
    /// Show what would be probed in an engine, level by level, and what was not found and why; the exit status is 1 if a
    /// level is missing
    #[command(alias = "plan")]
    Engine {
        /// Libraries and executables of one process, folders of them, or a process id
        #[arg(required = true, value_name = "PATH|PID")]
        targets: Vec<String>,
        /// For the tables of operators and types, print the number of entries or all names
        #[arg(long, value_name = "HOW", default_value = "counts", value_parser = ["counts", "all"])]
        tables: String,
        /// Format of the result
        #[command(flatten)]
        format: FormatArgs,
    },
}

/// `--format`.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct FormatArgs {
    /// How the result is printed: `text` for people, or `json`: one object on standard output, and nothing else there
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: Format,
}

/// How a command prints its result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    #[default]
    Text,
    /// For programs.
    Json,
}

impl Command {
    /// How the command prints its result.
    #[must_use]
    pub fn format(&self) -> Format {
        match self {
            Self::Record(options) => options.format.format,
            #[cfg(feature = "bench")]
            Self::Bench(options) => options.format.format,
            Self::Doctor(options) => options.format.format,
            Self::Engine { format, .. } => format.format,
            Self::Serve(_) | Self::Keygen(_) => Format::Text,
            #[cfg(feature = "direct")]
            Self::Repair(options) => options.format.format,
        }
    }
}

/// Options of `bench`.
#[cfg(feature = "bench")]
#[derive(Debug, Args)]
pub struct Bench {
    /// Numbers of threads to measure with, for example 1,2,4 (default: 1 to 4, then 1, 2, 4, … and all, for each core type)
    #[arg(long, value_name = "LIST")]
    pub threads: Option<String>,
    /// CPUs to measure on, for example 4-7 (default: all that the agent may run on)
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,
    /// Seconds that all measurements together may take; filling memory and reading it once brings that to half as long again at most
    ///
    /// Reading is measured as a curve: the working set doubles from 256 KiB on, up to four times the last-level caches, half of the memory that is
    /// available (also in control groups), or 2 GiB, whichever is least. It takes 0.5 s for each number of threads, and ends after 1 s.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub budget: f64,
    /// Write the ceilings into this file too, for `analyze --ceilings`
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    /// Format of the result
    #[command(flatten)]
    pub format: FormatArgs,
}

/// Options of `doctor`.
#[derive(Debug, Args)]
pub struct Doctor {
    /// Examine the running process with this process id
    #[arg(long, conflicts_with = "name")]
    pub pid: Option<u32>,
    /// Examine the processes of this name (default: `llama*`)
    #[arg(long)]
    pub name: Option<String>,
    /// Format of the result
    #[command(flatten)]
    pub format: FormatArgs,
}

/// Options of `keygen`.
#[derive(Debug, Args)]
pub struct Keygen {
    /// File to write, for its owner alone; an existing one is never overwritten
    #[arg(default_value = "profinfer.key")]
    pub file: PathBuf,
    /// Name of the board, which agent and host must agree on too (default: the name of this machine)
    #[arg(long)]
    pub board: Option<String>,
}

/// Options of `repair`.
#[cfg(feature = "direct")]
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct Repair {
    /// In the process with this process id
    #[arg(long)]
    pub pid: Option<u32>,
    /// In the processes of this name (default: `llama*`)
    #[arg(long)]
    pub name: Option<String>,
    #[command(flatten)]
    pub format: FormatArgs,
}

/// Which process to trace.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct TargetArgs {
    /// Trace the running process with this process id
    #[arg(long)]
    pub pid: Option<u32>,
    /// Trace the processes of this name, running or started later; `llama*` for all names that begin with llama
    #[arg(long)]
    pub name: Option<String>,
    /// Start this program and trace it from its first instruction
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

impl TargetArgs {
    /// The target; `None` if the command line names none.
    #[must_use]
    pub fn target(&self, stdout_to_stderr: bool, restarts: bool, user: &Option<User>) -> Option<Target> {
        match (self.pid, &self.name) {
            (Some(pid), _) => Some(Target::Pid(pid)),
            (None, Some(name)) => Some(Target::Name { name: name.clone(), restarts }),
            (None, None) if self.command.is_empty() => None,
            (None, None) => {
                let (command, user) = (self.command.clone(), user.clone());
                Some(Target::Command { command, stdout_to_stderr, user })
            }
        }
    }
}

/// Options of `serve`.
#[derive(Debug, Args)]
pub struct Serve {
    /// Where to listen: tcp:HOST:PORT, unix:PATH, unix:@NAME or serial:DEVICE@BAUD. Without --key only a loopback address: `adb
    /// forward`, `hdc fport` or `ssh -L` forward it from the board
    #[arg(long, default_value = "tcp:127.0.0.1:7817")]
    pub listen: String,
    /// Let in only who has this key file, and encrypt the stream; `keygen` makes one. Addresses that can be reached from
    /// the network demand it
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// End after the first session
    #[arg(long)]
    pub once: bool,
    /// Write the port that the agent listens on to this file
    ///
    /// The file appears when a host can connect, and the agent removes it at exit. Use it with
    /// `--listen tcp:127.0.0.1:0`, where the kernel chooses the port.
    #[arg(long, value_name = "FILE")]
    pub port_file: Option<PathBuf>,
    /// With --name: when the engine ends, wait in the same session for the next one of that name. Ctrl-C or the host ends
    /// the session
    #[arg(long, conflicts_with_all = ["pid", "command"])]
    pub restarts: bool,
    /// Size of the kernel's ring buffer, for example 4M, where more operators are lost than may be; it counts twice in the agent's memory
    /// (default: 2M, 256K for token calls alone)
    #[arg(long, value_name = "SIZE", value_parser = crate::bpf::ring::size::asked)]
    pub ring: Option<u32>,
    /// With a command: start it as this user, by name or number (a group's number may follow: `1000:44`); default: as the user
    /// that the agent runs as
    #[arg(long, value_name = "NAME|UID[:GID]", requires = "command", value_parser = User::asked)]
    pub user: Option<User>,
    /// What to trace
    #[command(flatten)]
    pub target: TargetArgs,
}

/// Options of `record`.
#[derive(Debug, Args)]
pub struct Record {
    /// File to write, `-` for standard output
    #[arg(long, short, default_value = "recording.pfi")]
    pub out: PathBuf,
    /// Board profile: its levels and its default counter set are captured (default: none, all levels, no counters)
    #[arg(long)]
    pub board: Option<String>,
    /// Levels to capture: token, graph, op, expert, sched, all
    #[arg(long, value_parser = crate::request::plan::levels)]
    pub levels: Option<u32>,
    /// Counters to read at the start and the end of every operator: a counter set of the board, event names as in Arm's
    /// manuals (CPU_CYCLES, L3D_CACHE_REFILL) with minor-faults and major-faults, or `none`
    #[arg(long, value_delimiter = ',')]
    pub counters: Vec<String>,
    /// How operators are probed
    #[command(flatten)]
    pub probes: ProbesArgs,
    /// Size of the kernel's ring buffer, for example 4M, where more operators are lost than may be; it counts twice in the agent's memory
    /// (default: 2M, 256K for token calls alone)
    #[arg(long, value_name = "SIZE", value_parser = crate::bpf::ring::size::asked)]
    pub ring: Option<u32>,
    /// How often per second the board's sensors are read (without a board: frequencies and temperatures); at most 100,
    /// 0 for never
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub sample_hz: u32,
    /// First measure the ceilings of this board, as `bench` does, and put them into the recording; takes some 10 s
    #[cfg(feature = "bench")]
    #[arg(long)]
    pub bench: bool,
    /// With --name: when the engine ends, wait in the same session for the next one of that name. Ctrl-C ends the session
    #[arg(long, conflicts_with_all = ["pid", "command"])]
    pub restarts: bool,
    /// With a command: start it as this user, by name or number (a group's number may follow: `1000:44`); default: as the user
    /// that the agent runs as
    #[arg(long, value_name = "NAME|UID[:GID]", requires = "command", value_parser = User::asked)]
    pub user: Option<User>,
    /// What to trace
    #[command(flatten)]
    pub target: TargetArgs,
    /// What to capture of the operators
    #[command(flatten)]
    pub capture: CaptureArgs,
    /// Format of the result
    #[command(flatten)]
    pub format: FormatArgs,
}
