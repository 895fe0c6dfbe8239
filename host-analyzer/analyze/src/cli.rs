//! Commands and options.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use profinfer_options::{CaptureArgs, ProbesArgs};

use crate::args::cpu_set::CpuSet;
use crate::args::numbered::Numbered;
use crate::args::share::Share;
use crate::capture::rotate::Limit;
use crate::write::names;
use profinfer_analysis::compare::{PRACTICAL, SPREAD, WARM_UP};
use profinfer_analysis::tune;
use profinfer_views::perfetto;

/// With 30 bytes for each, no file is larger than 1 GB.
const SLICES_MOST: u64 = 33_000_000;

/// Shows where the time of a large language model goes on an embedded board.
#[derive(Debug, Parser)]
#[command(name = "analyze", version, args_conflicts_with_subcommands = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) record: Record,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show a capture while it runs: speed, threads, operators, experts, sensors, findings of the last seconds. Afterwards the recording and
    /// the views are there as without `watch`
    Watch(Box<Watch>),
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
    /// Compare two sides of repeated runs: whether they did the same work, whether B is slower or faster, and which operators, waits and
    /// gaps make the difference. The exit status is 4 for different work
    Compare(Compare),
    /// Put operators of the same types and dimensions side by side for the backends of several recordings, for example of a run on the
    /// processor and one on a GPU: times on host and device, bytes and operations a second
    Backends {
        /// Recordings; pieces of one (--rotate) are named by their folder
        #[arg(required = true, value_name = "RECORDING")]
        recordings: Vec<PathBuf>,
        /// What a backend for an accelerator wrote of its kernels in the run of the N-th recording, as N=FILE; may be given again
        #[arg(long, value_name = "N=FILE")]
        accelerator_profile: Vec<Numbered>,
        /// Folder to write backends.json to
        #[arg(long, short, default_value = "backends")]
        out: PathBuf,
    },
    /// Say which number of threads and which CPUs to take: foreseen from one recording with ceilings, or tried in turn (--run). The fewest
    /// threads that are as fast as the fastest
    Tune(Box<Tune>),
    /// Predict the speed of a model that was not run on a board, from recordings of others there. Reads only the header of its file. The exit
    /// status is 4 where nothing is predicted, with the reason
    Predict(Predict),
    /// Explain what is looked for in a session, or one rule: when it is found, what it promises, what to do
    Findings {
        /// Code of a rule, as in summary.json
        code: Option<String>,
    },
    /// Write files that other programs read
    Export {
        #[command(subcommand)]
        what: Export,
    },
    /// Many recordings in one folder or object store: add them, ask in SQL, trends, regressions, ranking, a page. `analyze fleet --help`
    /// tells more; the program `analyze-fleet` does it
    #[command(disable_help_flag = true)]
    Fleet {
        /// What `analyze-fleet` is told
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
        arguments: Vec<OsString>,
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

#[derive(Debug, Subcommand)]
pub(crate) enum Export {
    /// How often each expert was used, for engines that keep experts in memory: CSV of layer,expert,count
    ExpertPins {
        /// The recording, its pieces or their folder
        #[arg(required = true, value_name = "SOURCE")]
        sources: Vec<PathBuf>,
        /// Only of this context, an address as in summary.json; needed where a recording has several models
        #[arg(long, value_name = "ADDRESS")]
        context: Option<String>,
        /// File to write to (default: standard output)
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
    },
    /// The timeline as text of ftrace, for SmartPerf-Host and other readers of hitrace and systrace
    Ftrace {
        /// The recording, its pieces or their folder
        #[arg(required = true, value_name = "SOURCE")]
        sources: Vec<PathBuf>,
        /// File to write to (default: standard output)
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
    },
}

/// Capture, and show the last seconds.
#[derive(Debug, Clone, Args)]
pub(crate) struct Watch {
    /// Seconds that are shown; more where an engine is so slow that they hold fewer than 40 token calls, less where they are more than
    /// 8 MiB of the stream
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=600))]
    pub(crate) window: u64,
    #[command(flatten)]
    pub(crate) record: Record,
}

/// Compare two sides.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// A recording, or a folder of recordings of repeated runs. The pieces of one recording (--rotate) are one run; a folder in it that
    /// holds a recording is a run, too
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// The same of what is compared with it
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// Folder to write compare.html and compare.json to
    #[arg(long, short, default_value = "comparison")]
    pub(crate) out: PathBuf,
    /// Difference below which nobody cares
    #[arg(long, value_name = "N%", default_value_t = Share(PRACTICAL))]
    pub(crate) practical: Share,
    /// How far two sessions of the same thing may lie apart on this board, for fewer than four runs on a side
    #[arg(long, value_name = "N%", default_value_t = Share(SPREAD))]
    pub(crate) spread: Share,
    /// Decode tokens at the beginning of each run that are left out
    #[arg(long, value_name = "N", default_value_t = WARM_UP)]
    pub(crate) warm_up: usize,
    /// Compare times although the work is not the same, for example of two quantizations
    #[arg(long)]
    pub(crate) different_work: bool,
    /// Exit with status 3 if B is slower by more than this, with 4 if that cannot be told
    #[arg(long, value_name = "N%")]
    pub(crate) fail_if_slower: Option<Share>,
}

/// Which threads and CPUs.
#[derive(Debug, Args)]
pub(crate) struct Tune {
    /// A recording of the engine with ceilings (--bench): other settings are foreseen from it. Or a folder with a folder of runs for each
    /// setting that was tried. `setting.json` in one says what it was made with: {"threads": 4, "cpus": "4-7"}
    #[arg(value_name = "RECORDING|FOLDER", required_unless_present = "run")]
    pub(crate) source: Option<PathBuf>,
    /// Take the ceilings of the board from this file, as `profinfer-agent bench --out` writes it
    #[arg(long, value_name = "FILE")]
    pub(crate) ceilings: Option<PathBuf>,
    /// Try settings of the command behind `--`, each in turn: those that the recording makes plausible, else those of --threads and --cpus
    #[arg(long, requires = "command")]
    pub(crate) run: bool,
    #[command(flatten)]
    pub(crate) trials: Trials,
    /// Folder to write tune.json to, and the recordings of --run; those of an earlier series there are removed
    #[arg(long, short, default_value = "tuning")]
    pub(crate) out: PathBuf,
    /// By how much longer a token may take than with the fastest setting
    #[arg(long, value_name = "N%", default_value_t = Share(tune::PRACTICAL))]
    pub(crate) practical: Share,
    /// How far two sessions of the same thing may lie apart on this board, for fewer than four runs of a setting
    #[arg(long, value_name = "N%", default_value_t = Share(SPREAD))]
    pub(crate) spread: Share,
    /// Decode tokens at the beginning of each run that are left out
    #[arg(long, value_name = "N", default_value_t = WARM_UP)]
    pub(crate) warm_up: usize,
    /// The engine's command, with {threads} where the number belongs; without it, `-t N` is put at its end. A single word is read by a shell
    #[arg(last = true, value_name = "COMMAND", requires = "run")]
    pub(crate) command: Vec<String>,
}

/// What `tune --run` tries.
#[derive(Debug, Args)]
pub(crate) struct Trials {
    /// Numbers of threads to try (default: 1 to the number of CPUs)
    #[arg(long, value_name = "N,N…", value_delimiter = ',', requires = "run", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Vec<u32>,
    /// Sets of CPUs to bind the engine to (taskset), separated by spaces: each is tried with all numbers of threads that it has CPUs for;
    /// `all` is not bound, and takes any number
    #[arg(long, value_name = "'4-7 0-7 all'", value_delimiter = ' ', requires = "run")]
    pub(crate) cpus: Vec<CpuSet>,
    /// Runs of each setting; from four on an exact interval can be given
    #[arg(long, value_name = "N", default_value_t = 4, requires = "run", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) rounds: u32,
    /// The agent (default: profinfer-agent beside analyze, else in the PATH)
    #[arg(long, value_name = "FILE", requires = "run")]
    pub(crate) agent: Option<PathBuf>,
    /// Run agent and engine with this prefix, for example 'ssh root@BOARD': both are files of that machine then, and each recording comes
    /// back on the standard output of the prefix
    #[arg(long, value_name = "PREFIX", requires_all = ["run", "agent"])]
    pub(crate) on: Option<String>,
    /// Levels to capture: these cost next to nothing
    #[arg(long, value_name = "LIST", default_value = "token,graph", requires = "run")]
    pub(crate) levels: String,
    /// Seconds before each run, to let the board cool down
    #[arg(long, value_name = "SECONDS", default_value_t = 0, requires = "run")]
    pub(crate) pause: u64,
}

/// A model that was not run.
#[derive(Debug, Args)]
pub(crate) struct Predict {
    /// The GGUF file of the model
    pub(crate) model: PathBuf,
    /// A recording of a run on the board with operators, or a folder of recordings; each may be of another model. From three on the interval is
    /// that of predicting them from each other
    #[arg(long, value_name = "RECORDING", num_args = 1.., required_unless_present = "ceilings", conflicts_with = "ceilings")]
    pub(crate) from: Vec<PathBuf>,
    /// Instead of recordings: ceilings that `profinfer-agent bench --out` wrote on the board, or a recording with some. They give a wide bracket
    #[arg(long, value_name = "FILE")]
    pub(crate) ceilings: Option<PathBuf>,
    /// The board profile that recordings or ceilings have to be of
    #[arg(long, value_name = "NAME")]
    pub(crate) board: Option<String>,
    /// Cells of the context (default: as many as the recordings had)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    pub(crate) context: Option<u64>,
    /// Tokens of a prompt (default: as many as the recordings had)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    pub(crate) prompt: Option<u64>,
    /// Threads for a bracket from ceilings (default: with which memory is read fastest)
    #[arg(long, value_name = "N", requires = "ceilings")]
    pub(crate) threads: Option<usize>,
    /// Folder to write predict.json to
    #[arg(long, short, default_value = "prediction")]
    pub(crate) out: PathBuf,
}

/// Capture or read a stream, and write the views.
#[derive(Debug, Clone, Args)]
pub(crate) struct Record {
    /// Board profile for a capture; a recording names its own
    #[arg(long)]
    pub(crate) board: Option<String>,
    /// Folder of your own board profiles, over those in ~/.config/profinfer/boards
    #[arg(long, value_name = "DIR")]
    pub(crate) boards: Option<PathBuf>,
    /// The key file of an agent that runs `serve --key`: the stream is encrypted, and both sides prove that they have the key
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// A recording, tcp:HOST:PORT, unix:PATH or serial:DEVICE@BAUD of an agent that runs `serve` (default: tcp:127.0.0.1:7817), or -
    /// for standard input. Several are the pieces of one recording (--rotate), a folder holds them
    #[arg(value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,
    /// Report only this process of a recording with several engines. Without it, each process gets a folder in the output folder
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
    /// Folder to write to
    #[arg(long, short, default_value = "profile")]
    pub(crate) out: PathBuf,
    /// Keep the recording of a capture in pieces (recording-0001.pfi and so on), each readable alone: a new one begins behind the
    /// first token call after so many bytes (64M) or so much time (10min). Both may be given
    #[arg(long, value_name = "SIZE|TIME", value_delimiter = ',')]
    pub(crate) rotate: Vec<Limit>,
    /// Levels to capture: token, graph, op, expert, sched, all
    #[arg(long, value_delimiter = ',')]
    pub(crate) levels: Vec<String>,
    /// Counters to read at the start and the end of every operator, instead of the board's default set: another of
    /// its sets (`analyze boards NAME` lists them), event names as in Arm's manuals (CPU_CYCLES, L3D_CACHE_REFILL),
    /// minor-faults, major-faults, or none
    #[arg(long, value_delimiter = ',')]
    pub(crate) counters: Vec<String>,
    /// How operators are probed
    #[command(flatten)]
    pub(crate) probes: ProbesArgs,
    /// How often per second the board's sensors are read (frequencies, temperatures, loads, memory traffic), at most
    /// 100; 0 for never
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) sample_hz: u32,
    /// First let the agent measure the ceilings of the board: memory, arithmetic, barriers. Takes some 10 s; start the engine
    /// afterwards
    #[arg(long)]
    pub(crate) bench: bool,
    /// Take the ceilings of the board from this file, which `profinfer-agent bench --out` wrote or which is a recording with some
    #[arg(long, value_name = "FILE")]
    pub(crate) ceilings: Option<PathBuf>,
    /// What the engine's backend for an accelerator wrote of its kernels in the same run: cl_profiling.csv and cl_trace.json of OpenCL, the
    /// log of Vulkan's performance logger, Hexagon's profile log. Their times on the device are joined to the operators; may be given again
    #[arg(long, value_name = "FILE")]
    pub(crate) accelerator_profile: Vec<PathBuf>,
    /// Name of the process to trace, `llama*` for all names that begin with llama. The agent's own --pid, --name or command
    /// takes precedence
    #[arg(long)]
    pub(crate) target: Option<String>,
    /// While a capture runs, serve its totals for Prometheus at http://ADDRESS/metrics, for example at 127.0.0.1:9464. Only addresses of
    /// this machine's own are taken
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) metrics: Option<String>,
    /// Write the tables as CSV as well
    #[arg(long)]
    pub(crate) csv: bool,
    /// Write timeline.json.gz where timeline.json is left out, which it is for more than 200,000 operator spans; timeline.pftrace has the
    /// same
    #[arg(long)]
    pub(crate) timeline_json: bool,
    /// Slices in one file of Perfetto's timeline at most. A longer recording gives timeline-1.pftrace, timeline-2.pftrace, ...
    ///
    /// The default is what a viewer with 2 GB of memory opens. A part takes at most 30 bytes for each slice, so that no file is larger
    /// than 1 GB.
    #[arg(long, value_name = "N", default_value_t = perfetto::SLICES, value_parser = clap::value_parser!(u64).range(1..=SLICES_MOST))]
    pub(crate) timeline_slices: u64,
    /// Write only these files of those that are always written, for programs that read no others
    #[arg(long, value_name = "FILE", value_delimiter = ',', value_parser = names())]
    pub(crate) only: Vec<String>,
    /// Keep large tables in files of this folder, which have no names and are gone at the end, instead of in memory. Recordings whose tables would
    /// not fit into memory do so in /var/tmp unasked. Takes some twenty times the size of the recording
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,
    /// Seconds to wait for the agent's port, or for its answer on a serial line
    #[arg(long, default_value_t = 10)]
    pub(crate) wait: u64,
    /// Seconds to try to connect again when the link breaks; the agent keeps the session for a minute
    #[arg(long, default_value_t = 10)]
    pub(crate) reconnect: u64,
    /// What to capture of the operators
    #[command(flatten)]
    pub(crate) capture: CaptureArgs,
}
