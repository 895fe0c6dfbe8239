//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use profinfer_cli::{CaptureArgs, ProbesArgs};

use crate::sys::user::User;
use crate::target::process::Target;

/// Profile LLM inference in an unmodified, running llama.cpp
#[derive(Debug, Parser)]
#[command(name = "profinfer-agent", version, arg_required_else_help = true)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Wait for a host (`analyze`), capture what its plan requests, and stream to it
    Serve(Serve),
    /// Make a key for `serve --key` and `analyze --key`
    Keygen(Keygen),
    /// Record to a file, without a host
    Record(Box<Record>),
    /// Measure the ceilings of this board: memory bandwidth, arithmetic, barriers, wake-ups
    ///
    /// How fast the board reads and copies memory, multiplies and adds, passes a barrier and wakes
    /// a thread.
    #[cfg(feature = "bench")]
    Bench(Bench),
    /// Remove the direct probes that a killed agent left in an engine
    #[cfg(feature = "direct")]
    Repair(Repair),
    /// Show what works on this machine, what does not, and why
    ///
    /// Covers the kernel, the permissions, the counters and the engine.
    Doctor(Doctor),
    /// Show what the agent would probe in an engine, level by level
    ///
    /// Lists what it did not find, and why. The exit status is 1 if a level is missing.
    #[command(alias = "plan")]
    Engine {
        /// Libraries and executables of one process, folders that contain them, or a process ID
        #[arg(required = true, value_name = "PATH|PID")]
        targets: Vec<String>,
        /// Print the number of entries of the operator and type tables, or all names
        #[arg(long, value_name = "HOW", default_value = "counts", value_parser = ["counts", "all"])]
        tables: String,
        #[command(flatten)]
        format: FormatArgs,
    },
}

#[derive(Debug, Clone, Copy, Default, Args)]
pub struct FormatArgs {
    /// Output format
    ///
    /// `text` is for people. `json` writes one object to standard output, and nothing else there.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub format: Format,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    #[default]
    Text,
    Json,
}

impl Command {
    /// The output format of the command.
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

#[cfg(feature = "bench")]
#[derive(Debug, Args)]
pub struct Bench {
    /// Thread counts to measure, for example 1,2,4
    ///
    /// Default: 1 to 4, then powers of two and all CPUs, for each core type.
    #[arg(long, value_name = "LIST")]
    pub threads: Option<String>,
    /// CPUs to measure on, for example 4-7
    ///
    /// Default: all CPUs that the agent may run on.
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<String>,
    /// Time limit for all measurements, in seconds
    ///
    /// Filling memory and reading it once can add up to half of that time.
    ///
    /// Reading is measured as a curve. The working set doubles from 256 KiB up to a limit: 2 GiB,
    /// half of the available memory (control groups included) or four times the last-level caches,
    /// whichever is least. The curve takes 0.5 s for each thread count, and ends after 1 s.
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0)]
    pub budget: f64,
    /// Also write the ceilings to this file, for `analyze --ceilings`
    #[arg(long, short)]
    pub out: Option<PathBuf>,
    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(Debug, Args)]
pub struct Doctor {
    /// Examine the running process with this process ID
    #[arg(long, conflicts_with = "name")]
    pub pid: Option<u32>,
    /// Examine the processes with this name (default: `llama*`)
    #[arg(long)]
    pub name: Option<String>,
    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(Debug, Args)]
pub struct Keygen {
    /// Key file to write
    ///
    /// Only its owner can read it. An existing file is never overwritten.
    #[arg(default_value = "profinfer.key")]
    pub file: PathBuf,
    /// Name of the board (default: the name of this machine)
    ///
    /// The agent and the host must use the same name: it is part of the key.
    #[arg(long)]
    pub board: Option<String>,
}

#[cfg(feature = "direct")]
#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct Repair {
    /// Repair the process with this process ID
    #[arg(long)]
    pub pid: Option<u32>,
    /// Repair the processes with this name (default: `llama*`)
    #[arg(long)]
    pub name: Option<String>,
    #[command(flatten)]
    pub format: FormatArgs,
}

#[derive(Debug, Args)]
#[group(multiple = false)]
pub struct TargetArgs {
    /// Trace the running process with this process ID
    #[arg(long)]
    pub pid: Option<u32>,
    /// Trace the processes with this name, running or started later
    ///
    /// `llama*` matches all names that begin with llama.
    #[arg(long)]
    pub name: Option<String>,
    /// Start this program and trace it from its first instruction
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

impl TargetArgs {
    /// The target. `None` if the command line names none.
    #[must_use]
    pub fn target(
        &self,
        stdout_to_stderr: bool,
        awaited: &AwaitedArgs,
        user: &Option<User>,
    ) -> Option<Target> {
        match (self.pid, &self.name) {
            (Some(pid), _) => Some(Target::Pid { pid, follow: awaited.follow }),
            (None, Some(name)) => Some(Target::Name { name: name.clone(), restarts: awaited.restarts }),
            (None, None) if self.command.is_empty() => None,
            (None, None) => {
                let (command, user) = (self.command.clone(), user.clone());
                Some(Target::Command { command, stdout_to_stderr, user })
            }
        }
    }
}

/// Which processes the agent waits for during the session.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct AwaitedArgs {
    /// With --name: when the engine exits, wait in the same session for the next one
    ///
    /// Ctrl-C ends the session, and so does the host of `serve`.
    #[arg(long, conflicts_with_all = ["pid", "command"])]
    pub restarts: bool,
    /// With --pid: also trace the processes below it, running or started later
    ///
    /// For servers that start an engine per model. The session ends when that process and the
    /// engines below it have ended.
    #[arg(long, requires = "pid")]
    pub follow: bool,
}

#[derive(Debug, Args)]
pub struct Serve {
    /// Address: tcp:HOST:PORT, unix:PATH, unix:@NAME or serial:DEVICE@BAUD
    ///
    /// Without --key, a TCP address must be a loopback address. Forward it with `adb forward`, `hdc
    /// fport` or `ssh -L`.
    #[arg(long, default_value = "tcp:127.0.0.1:7817")]
    pub listen: String,
    /// Accept only hosts that hold this key, and encrypt the stream
    ///
    /// `keygen` makes the key file. An address that the network can reach requires a key.
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
    /// Exit after the first session
    #[arg(long)]
    pub once: bool,
    /// Write the port that the agent listens on to this file
    ///
    /// The file appears when a host can connect, and the agent removes it at exit. Use it with
    /// `--listen tcp:127.0.0.1:0`, where the kernel chooses the port.
    #[arg(long, value_name = "FILE")]
    pub port_file: Option<PathBuf>,
    #[command(flatten)]
    pub awaited: AwaitedArgs,
    /// Ring buffer size, for example 4M if spans are dropped
    ///
    /// Counts twice toward the memory (RSS) of the agent. Default: 2M, or 256K if only
    /// `llama_decode` calls are captured.
    #[arg(long, value_name = "SIZE", value_parser = crate::bpf::ring::size::asked)]
    pub ring: Option<u32>,
    /// With a command: run it as this user, by name or number
    ///
    /// A group number may follow: `1000:44`. Default: the user that the agent runs as.
    #[arg(long, value_name = "NAME|UID[:GID]", requires = "command", value_parser = User::asked)]
    pub user: Option<User>,
    #[command(flatten)]
    pub target: TargetArgs,
}

#[derive(Debug, Args)]
pub struct Record {
    /// File to write, or `-` for standard output
    #[arg(long, short, default_value = "recording.pfi")]
    pub out: PathBuf,
    /// Board profile that gives the levels and the default counter set
    ///
    /// Default: no profile, all levels, no counters.
    #[arg(long, value_name = "NAME")]
    pub board: Option<String>,
    /// Use the board profile although it is for another type of machine
    #[arg(long)]
    pub force_board: bool,
    /// Levels to capture: token, graph, op, expert, sched, all
    #[arg(long, value_parser = crate::request::plan::levels)]
    pub levels: Option<u32>,
    /// Counters to read at the start and end of each operator
    ///
    /// A counter set of the board, or event names as in Arm's manuals (CPU_CYCLES,
    /// L3D_CACHE_REFILL), minor-faults and major-faults, or `none`.
    #[arg(long, value_delimiter = ',')]
    pub counters: Vec<String>,
    #[command(flatten)]
    pub probes: ProbesArgs,
    /// Ring buffer size, for example 4M if spans are dropped
    ///
    /// Counts twice toward the memory (RSS) of the agent. Default: 2M, or 256K if only
    /// `llama_decode` calls are captured.
    #[arg(long, value_name = "SIZE", value_parser = crate::bpf::ring::size::asked)]
    pub ring: Option<u32>,
    /// Sensor samples per second, 0 to 100; 0 reads no sensors
    ///
    /// Without --board, the agent reads frequencies and temperatures.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub sample_hz: u32,
    /// Measure the ceilings of this board first, and record them (about 10 s)
    ///
    /// The same measurement as the command `bench`.
    #[cfg(feature = "bench")]
    #[arg(long)]
    pub bench: bool,
    #[command(flatten)]
    pub awaited: AwaitedArgs,
    /// With a command: run it as this user, by name or number
    ///
    /// A group number may follow: `1000:44`. Default: the user that the agent runs as.
    #[arg(long, value_name = "NAME|UID[:GID]", requires = "command", value_parser = User::asked)]
    pub user: Option<User>,
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub capture: CaptureArgs,
    #[command(flatten)]
    pub format: FormatArgs,
}
