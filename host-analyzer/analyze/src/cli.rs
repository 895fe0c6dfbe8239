//! Commands and options.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use profinfer_cli::{CaptureArgs, ProbesArgs};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::args::cpu_set::CpuSet;
use crate::args::format::{Format, FormatArgs};
use crate::args::numbered::Numbered;
use crate::args::share::Share;
use crate::capture::rotate::Limit;
use crate::command::push::Options;
use crate::write::names;
use profinfer_analysis::compare::{PRACTICAL, SPREAD, WARM_UP};
use profinfer_analysis::ladder::Question;
use profinfer_analysis::tune;
use profinfer_views::perfetto;

/// With 30 bytes for each, no file is larger than 1 GB.
const SLICES_MOST: u64 = 33_000_000;

/// Where packages have the folder `docs`, which help texts name.
const DOCUMENTS: &str = "Documents (docs/*.md): in an archive's folder; in share/doc/profinfer of a Python environment; of Debian's package \
    in /usr/share/doc/profinfer-analyze";

/// Shows where the time of a large language model goes on an embedded board.
#[derive(Debug, Parser)]
#[command(name = "analyze", version, args_conflicts_with_subcommands = true, after_long_help = DOCUMENTS)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    #[command(flatten)]
    pub(crate) record: Record,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show a live view of a capture
    ///
    /// Speed, ladder, threads, operators, experts, sensors and findings of the last seconds. Writes
    /// the same recording and reports as a capture without `watch`. With --format json, prints one
    /// JSON object per line instead.
    Watch(Box<Watch>),
    /// Show the report of a kept recording, without a board, root or network; or trace a command here
    Demo(Demo),
    /// Put the agent on a board, start it, and forward its port; or remove it
    ///
    /// Prints the command that captures. Shows every command before it runs. Run it again at any time: it
    /// does only what is missing, and ends no capture in progress. docs/deploy.md describes each way.
    ///
    ///   analyze push ssh USER@BOARD                     serve; analyze names the engine
    ///   analyze push adb -- --name 'llama*'             trace the engine of this name
    ///   analyze push hdc -- /data/llama-completion -m M.gguf   start this command when analyze connects
    ///   analyze push ssh USER@BOARD --file -- COMMAND   record there, fetch the file
    ///   analyze push adb --stop                         remove everything
    #[command(verbatim_doc_comment)]
    Push(Box<Options>),
    /// List the frames and records of a recording with their offsets; reads damaged files
    Inspect {
        /// The recording
        file: PathBuf,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Show where probes would be placed in an engine
    ///
    /// Lists each level, and the reason where a level is missing. The exit status is 1 if one is missing.
    Engine {
        /// Libraries and executables that one process maps, or folders of them
        #[arg(required = true, value_name = "PATH")]
        paths: Vec<PathBuf>,
        /// Print the sizes of the operator and type tables, or all names
        #[arg(long, value_name = "HOW", default_value = "counts", value_parser = ["counts", "all"])]
        tables: String,
        /// Folder of additional board profiles; their backend functions are searched too
        #[arg(long, value_name = "DIR")]
        boards: Option<PathBuf>,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Compare two sets of repeated runs
    ///
    /// Checks that both sides did the same work, decides whether B is faster or slower, and shows which
    /// operators, waits and gaps make the difference. The exit status is 4 if the work differs.
    Compare(Compare),
    /// Compare the operators of several recordings across backends
    ///
    /// Groups operators of equal type and dimensions, for example of a run on the CPU and one on a GPU:
    /// times on host and device, bytes and operations per second.
    Backends {
        /// Recordings; name the pieces of one recording (--rotate) by their folder
        #[arg(required = true, value_name = "RECORDING")]
        recordings: Vec<PathBuf>,
        /// Profile written by the accelerator backend of recording N, as N=FILE; repeatable
        #[arg(long, value_name = "N=FILE")]
        accelerator_profile: Vec<Numbered>,
        /// Folder for backends.json
        #[arg(long, short, default_value = "backends")]
        out: PathBuf,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Recommend a thread count and CPU set
    ///
    /// Estimates them from one recording with ceilings, or measures each candidate (--run). Recommends the
    /// smallest number of threads that is as fast as the fastest.
    Tune(Box<Tune>),
    /// Predict the speed of a model that was not run on the board
    ///
    /// Uses recordings of other models on the same board, and reads only the header of the model file. The
    /// exit status is 4, with a reason, if no prediction is possible.
    Predict(Predict),
    /// Explain the findings: condition, expected gain, remedy
    Findings {
        /// Code of one finding, as in summary.json
        code: Option<String>,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Export a recording for other programs
    Export {
        #[command(subcommand)]
        what: Export,
    },
    /// Serve the recordings of a folder to assistants (Model Context Protocol, standard input and output)
    ///
    /// Lists recordings; ladder, findings, comparison and tables of each. Reads only, and nothing outside of
    /// the folder. docs/programs/mcp.md shows how an assistant starts it.
    Mcp(Mcp),
    /// Manage many recordings in one folder or object store
    ///
    /// Add recordings, query them in SQL, show trends, regressions, rankings and a page. Runs the program
    /// `analyze-fleet`; see `analyze fleet --help`.
    #[command(disable_help_flag = true)]
    Fleet {
        /// Arguments of `analyze-fleet`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
        arguments: Vec<OsString>,
    },
    /// Run the agent on this machine: `analyze agent doctor`, `analyze agent record --out FILE -- COMMAND`
    ///
    /// Most of its commands need root. See `analyze agent --help`.
    #[command(disable_help_flag = true)]
    Agent {
        /// Arguments of `profinfer-agent`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
        arguments: Vec<OsString>,
    },
    /// List the board profiles, or show one with the meaning of each counter
    Boards {
        /// Name of a profile
        name: Option<String>,
        /// Folder of additional profiles; they take precedence over ~/.config/profinfer/boards
        #[arg(long, value_name = "DIR")]
        boards: Option<PathBuf>,
        #[command(flatten)]
        format: FormatArgs,
    },
}

/// The command whose name is like this word; `None` if none is.
pub(crate) fn similar_command(word: &str) -> Option<String> {
    let likeness = |name: &str| strsim::jaro_winkler(name, word);
    let command = Cli::command();
    let names = command.get_subcommands().map(|command| command.get_name().to_owned());
    let nearest = names.max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(&nearest) > LIKE).then_some(nearest)
}

/// The share in `slower=N%`.
fn slower(text: &str) -> Result<Share, String> {
    let share = text.strip_prefix("slower=").ok_or("write it as slower=2%")?;
    share.parse().map_err(str::to_owned)
}

/// From this likeness (Jaro and Winkler) on, a word is a mistyped command.
const LIKE: f64 = 0.85;

impl Cli {
    /// How the command prints its result.
    pub(crate) fn format(&self) -> Format {
        let args = match &self.command {
            None => self.record.format,
            Some(Command::Watch(options)) => options.record.format,
            Some(Command::Compare(options)) => options.format,
            Some(Command::Tune(options)) => options.format,
            Some(Command::Predict(options)) => options.format,
            Some(
                Command::Inspect { format, .. }
                | Command::Engine { format, .. }
                | Command::Backends { format, .. }
                | Command::Findings { format, .. }
                | Command::Boards { format, .. },
            ) => *format,
            Some(Command::Export {
                what: Export::ExpertPins { format, .. } | Export::Ftrace { format, .. },
            }) => *format,
            Some(Command::Push(_) | Command::Mcp(_) | Command::Demo(_) | Command::Agent { .. }) => {
                return Format::Text;
            }
            Some(Command::Fleet { arguments }) => return Format::of_fleet(arguments),
        };
        args.format
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Export {
    /// Write how often each expert was used, as CSV (layer,expert,count)
    ///
    /// Engines that keep selected experts in memory read this list.
    ExpertPins {
        /// Recording, its pieces, or their folder
        #[arg(required = true, value_name = "SOURCE")]
        sources: Vec<PathBuf>,
        /// Address of one context, as in summary.json; required if a recording has several models
        #[arg(long, value_name = "ADDRESS")]
        context: Option<String>,
        /// Output file (default: standard output)
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
        #[command(flatten)]
        format: FormatArgs,
    },
    /// Write the timeline as ftrace text, for SmartPerf-Host and other readers of hitrace and systrace
    Ftrace {
        /// Recording, its pieces, or their folder
        #[arg(required = true, value_name = "SOURCE")]
        sources: Vec<PathBuf>,
        /// Output file (default: standard output)
        #[arg(long, short, value_name = "FILE")]
        out: Option<PathBuf>,
        #[command(flatten)]
        format: FormatArgs,
    },
}

/// A kept recording, or one made here.
#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// Folder for the recording and its views
    #[arg(long, short, value_name = "DIR", default_value = "demo")]
    pub(crate) out: PathBuf,
    /// Trace this command of an engine on this machine instead; needs root
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) traced: Vec<OsString>,
}

/// Recordings for assistants.
#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// Folder of the recordings, with its subfolders; nothing outside of it is read
    #[arg(value_name = "FOLDER", default_value = ".")]
    pub(crate) folder: PathBuf,
}

/// Capture, and show the last seconds.
#[derive(Debug, Clone, Args)]
pub(crate) struct Watch {
    /// Length of the view, in seconds
    ///
    /// The view is longer if it holds fewer than 40 `llama_decode` calls, and shorter if it holds more than
    /// 8 MiB of the stream.
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(2..=600))]
    pub(crate) window: u64,
    #[command(flatten)]
    pub(crate) record: Record,
}

/// Compare two sides.
#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// Recording, or folder of recordings of repeated runs
    ///
    /// The pieces of one recording (--rotate) are one run. A folder inside it that holds a recording is
    /// also a run.
    #[arg(value_name = "A")]
    pub(crate) a: PathBuf,
    /// Recording or folder to compare with A
    #[arg(value_name = "B")]
    pub(crate) b: PathBuf,
    /// Folder for compare.html and compare.json
    #[arg(long, short, default_value = "comparison")]
    pub(crate) out: PathBuf,
    /// Smallest difference that matters
    #[arg(long, value_name = "N%", default_value_t = Share(PRACTICAL))]
    pub(crate) practical: Share,
    /// Assumed run-to-run variation on this board; used if a side has fewer than four runs
    #[arg(long, value_name = "N%", default_value_t = Share(SPREAD))]
    pub(crate) spread: Share,
    /// Number of calls to skip at the start of each run
    ///
    /// Prompts and calls of an encoder are all compared if a run has fewer than eight more.
    #[arg(long, value_name = "N", default_value_t = WARM_UP)]
    pub(crate) warm_up: usize,
    /// Question that decides: verdict, exit status
    ///
    /// The others are compared, too. Default: text generation if a recording has any, otherwise prompts,
    /// otherwise an encoder.
    #[arg(long, value_name = "QUESTION")]
    pub(crate) question: Option<ComparedQuestion>,
    /// Compare times even if the work differs, for example between two quantizations
    #[arg(long)]
    pub(crate) different_work: bool,
    /// Exit with 3 if B is slower by more than N %, with 4 if the runs cannot decide it
    #[arg(long, value_name = "slower=N%", value_parser = slower)]
    pub(crate) fail_if: Option<Share>,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// A question of `analyze compare`.
#[derive(Debug, Clone, Copy, ValueEnum, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ComparedQuestion {
    Decode,
    Prompt,
    Encode,
}

impl From<ComparedQuestion> for Question {
    fn from(question: ComparedQuestion) -> Self {
        match question {
            ComparedQuestion::Decode => Self::Decode,
            ComparedQuestion::Prompt => Self::Prompt,
            ComparedQuestion::Encode => Self::Encode,
        }
    }
}

/// Which threads and CPUs.
#[derive(Debug, Args)]
pub(crate) struct Tune {
    /// Recording with ceilings (--bench), or folder with one folder of runs per setting
    ///
    /// Other settings are estimated from a recording. In a folder, `setting.json` states how the runs were
    /// made: {"threads": 4, "cpus": "4-7"}.
    #[arg(value_name = "RECORDING|FOLDER", required_unless_present = "run")]
    pub(crate) source: Option<PathBuf>,
    /// Ceilings of the board from a file of `profinfer-agent bench --out`
    #[arg(long, value_name = "FILE")]
    pub(crate) ceilings: Option<PathBuf>,
    /// Measure settings of the command after `--` in turn
    ///
    /// Measures the settings that the recording makes plausible, or those of --threads and --cpus.
    #[arg(long, requires = "command")]
    pub(crate) run: bool,
    #[command(flatten)]
    pub(crate) trials: Trials,
    /// Folder for tune.json and the recordings of --run; replaces those of an earlier series
    #[arg(long, short, default_value = "tuning")]
    pub(crate) out: PathBuf,
    /// Slowdown per token that is accepted for fewer threads
    #[arg(long, value_name = "N%", default_value_t = Share(tune::PRACTICAL))]
    pub(crate) practical: Share,
    /// Assumed run-to-run variation on this board; used if a setting has fewer than four runs
    #[arg(long, value_name = "N%", default_value_t = Share(SPREAD))]
    pub(crate) spread: Share,
    /// Number of decode tokens to skip at the start of each run
    #[arg(long, value_name = "N", default_value_t = WARM_UP)]
    pub(crate) warm_up: usize,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    /// Command of the engine
    ///
    /// {threads} is replaced by the thread count; without it, `-t N` is appended. A single word is
    /// interpreted by a shell.
    #[arg(last = true, value_name = "COMMAND", requires = "run")]
    pub(crate) command: Vec<String>,
}

/// What `tune --run` tries.
#[derive(Debug, Args)]
pub(crate) struct Trials {
    /// Thread counts to measure (default: 1 to the number of CPUs)
    #[arg(long, value_name = "N,N…", value_delimiter = ',', requires = "run", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) threads: Vec<u32>,
    /// CPU sets to bind the engine to (taskset), separated by spaces
    ///
    /// Each set is measured with every thread count that it has CPUs for. `all` is not bound and takes any
    /// thread count.
    #[arg(long, value_name = "'4-7 0-7 all'", value_delimiter = ' ', requires = "run")]
    pub(crate) cpus: Vec<CpuSet>,
    /// Runs per setting; an exact interval needs at least four
    #[arg(long, value_name = "N", default_value_t = 4, requires = "run", value_parser = clap::value_parser!(u32).range(1..=100))]
    pub(crate) rounds: u32,
    /// Path of the agent (default: profinfer-agent next to analyze, else in PATH)
    #[arg(long, value_name = "FILE", requires = "run")]
    pub(crate) agent: Option<PathBuf>,
    /// Prefix to run agent and engine with, for example 'ssh root@BOARD'
    ///
    /// Both are files of that machine then. Each recording is returned on the standard output of the
    /// prefix.
    #[arg(long, value_name = "PREFIX", requires_all = ["run", "agent"])]
    pub(crate) on: Option<String>,
    /// Levels to capture; the default has almost no overhead
    #[arg(long, value_name = "LIST", default_value = "token,graph", requires = "run")]
    pub(crate) levels: String,
    /// Seconds to wait before each run, so that the board cools down
    #[arg(long, value_name = "SECONDS", default_value_t = 0, requires = "run")]
    pub(crate) pause: u64,
}

/// A model that was not run.
#[derive(Debug, Args)]
pub(crate) struct Predict {
    /// GGUF file of the model
    pub(crate) model: PathBuf,
    /// Recordings of other models on the board, with operators, or folders of recordings
    ///
    /// From three recordings on, the interval is the error of predicting them from each other.
    #[arg(long, value_name = "RECORDING", num_args = 1.., required_unless_present = "ceilings", conflicts_with = "ceilings")]
    pub(crate) from: Vec<PathBuf>,
    /// Ceilings instead of recordings: a file of `profinfer-agent bench --out`, or a recording
    ///
    /// They give only a wide bracket.
    #[arg(long, value_name = "FILE")]
    pub(crate) ceilings: Option<PathBuf>,
    /// Board profile that recordings or ceilings must have
    #[arg(long, value_name = "NAME")]
    pub(crate) board: Option<String>,
    /// Context size in KV cells (default: as in the recordings)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    pub(crate) context: Option<u64>,
    /// Prompt length in tokens (default: as in the recordings)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    pub(crate) prompt: Option<u64>,
    /// Thread count for a bracket from ceilings (default: the one with the highest read bandwidth)
    #[arg(long, value_name = "N", requires = "ceilings")]
    pub(crate) threads: Option<usize>,
    /// Folder for predict.json
    #[arg(long, short, default_value = "prediction")]
    pub(crate) out: PathBuf,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
}

/// Capture or read a stream, and write the views.
#[derive(Debug, Clone, Args)]
pub(crate) struct Record {
    /// The recording is the sample: its ceilings are those of no machine of the user's.
    #[arg(skip)]
    pub(crate) sample: bool,
    /// Board profile, for example rk3588 or "Raspberry Pi 5" (default: recognised in a recording)
    ///
    /// `analyze boards` lists them. A capture also takes its counters and sensors from it.
    #[arg(long, value_name = "NAME")]
    pub(crate) board: Option<String>,
    /// Use the board profile although it is for another type of machine
    #[arg(long)]
    pub(crate) force_board: bool,
    /// Folder of additional board profiles; they take precedence over ~/.config/profinfer/boards
    #[arg(long, value_name = "DIR")]
    pub(crate) boards: Option<PathBuf>,
    /// Key file of an agent that runs `serve --key`
    ///
    /// The stream is encrypted, and both sides prove that they have the key.
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    /// Recording, address of an agent, or - for standard input (default: tcp:127.0.0.1:7817)
    ///
    /// Addresses of an agent that runs `serve`: tcp:HOST:PORT, unix:PATH or serial:DEVICE@BAUD. Several
    /// files are the pieces of one recording (--rotate); a folder holds them.
    #[arg(value_name = "SOURCE")]
    pub(crate) sources: Vec<String>,
    /// Report only this process of a recording with several engines
    ///
    /// Without it, each process gets a folder inside the output folder.
    #[arg(long, value_name = "PID")]
    pub(crate) pid: Option<u32>,
    /// Output folder
    #[arg(long, short, default_value = "profile")]
    pub(crate) out: PathBuf,
    /// Split the recording of a capture by size (64M) or time (10min); both may be given
    ///
    /// The pieces are recording-0001.pfi and so on, each readable alone. A new piece begins after the first
    /// `llama_decode` call beyond the limit.
    #[arg(long, value_name = "SIZE|TIME", value_delimiter = ',')]
    pub(crate) rotate: Vec<Limit>,
    /// Levels to capture: token, graph, op, expert, sched, all
    #[arg(long, value_delimiter = ',')]
    pub(crate) levels: Vec<String>,
    /// Counters to read at the start and end of each operator
    ///
    /// The name of another set of the board (`analyze boards NAME` lists them), event names as in Arm's
    /// manuals (CPU_CYCLES, L3D_CACHE_REFILL), minor-faults, major-faults, or none. The default is the
    /// board's default set.
    #[arg(long, value_delimiter = ',')]
    pub(crate) counters: Vec<String>,
    /// How operators are probed
    #[command(flatten)]
    pub(crate) probes: ProbesArgs,
    /// Sampling rate of the board's sensors, in Hz; 0 disables it
    ///
    /// Sensors are frequencies, temperatures, loads and memory traffic.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(0..=100))]
    pub(crate) sample_hz: u32,
    /// Measure the ceilings of the board first: memory, arithmetic, barriers
    ///
    /// Takes about 10 s. Start the engine afterwards. Later recordings of the machine use the best ceilings
    /// that were measured on it (see docs/capture.md).
    #[arg(long)]
    pub(crate) bench: bool,
    /// Ceilings of the board from a file of `profinfer-agent bench --out`, or from a recording
    #[arg(long, value_name = "FILE")]
    pub(crate) ceilings: Option<PathBuf>,
    /// Profile written by an accelerator backend during the same run; repeatable
    ///
    /// cl_profiling.csv and cl_trace.json of OpenCL, the log of Vulkan's performance logger, or Hexagon's
    /// profile log. Device times are joined to the operators.
    #[arg(long, value_name = "FILE")]
    pub(crate) accelerator_profile: Vec<PathBuf>,
    /// Name of the process to trace; `llama*` matches all names that begin with llama
    ///
    /// --pid, --name or a command of the agent takes precedence.
    #[arg(long)]
    pub(crate) target: Option<String>,
    /// Serve totals of the running capture for Prometheus at http://ADDRESS/metrics
    ///
    /// Only local addresses are accepted, for example 127.0.0.1:9464.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) metrics: Option<String>,
    /// Write the tables as CSV too
    #[arg(long)]
    pub(crate) csv: bool,
    /// Write the timeline as timeline.json too (Chrome Trace Event Format)
    ///
    /// For tools that cannot read timeline.pftrace. Takes about 375 bytes per operator span.
    #[arg(long)]
    pub(crate) timeline_json: bool,
    /// Maximum number of slices per Perfetto file; longer recordings are split into several files
    ///
    /// The files are timeline-1.pftrace, timeline-2.pftrace, and so on. The default is what a viewer with
    /// 2 GB of memory opens. A slice takes at most 30 bytes, so no file is larger than 1 GB.
    #[arg(long, value_name = "N", default_value_t = perfetto::SLICES, value_parser = clap::value_parser!(u64).range(1..=SLICES_MOST))]
    pub(crate) timeline_slices: u64,
    /// Write only these files of the default set
    #[arg(long, value_name = "FILE", value_delimiter = ',', value_parser = names())]
    pub(crate) only: Vec<String>,
    /// Keep large tables in unnamed files of this folder instead of memory
    ///
    /// Recordings whose tables do not fit into memory use /var/tmp without this option. Needs about 20
    /// times the size of the recording. The files disappear when the program ends.
    #[arg(long, value_name = "DIR")]
    pub(crate) scratch: Option<PathBuf>,
    /// Seconds to wait for the port of the agent, or for its answer on a serial line; a port has three times as
    /// long to answer
    #[arg(long, default_value_t = 10)]
    pub(crate) wait: u64,
    /// Seconds to retry a broken connection; the agent keeps the session for a minute
    #[arg(long, default_value_t = 10)]
    pub(crate) reconnect: u64,
    #[command(flatten)]
    pub(crate) format: FormatArgs,
    /// What to capture of the operators
    #[command(flatten)]
    pub(crate) capture: CaptureArgs,
}
