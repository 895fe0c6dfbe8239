//! The commands.

mod engine;
mod key;
#[cfg(feature = "direct")]
mod repair;
mod serve;

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;

use profinfer_wire::record::control::level;
use profinfer_wire::record::direct::Probes;

#[cfg(feature = "bench")]
use crate::cli::Bench;
use crate::cli::{Command, Doctor, Record};
use crate::confine;
use crate::doctor;
use crate::error::{Diagnostic, Result, log};
use crate::link::Output;
use crate::link::output::Kind;
use crate::observe::counter::Counters;
use crate::request::boards::Board;
use crate::request::capture::Wanted;
use crate::request::plan::{self, GaugeRequest, Plan};
use crate::session::host::Host;
use crate::session::{self, Summary};
use crate::signals::Signals;
use crate::target::process::{self, Target};

/// Process name to wait for if neither the host nor the command line names a target.
const DEFAULT_NAME: &str = "llama*";

/// Runs a command. The returned number is the exit status.
///
/// # Errors
/// The diagnostic to show.
pub fn run(command: &Command) -> Result<i32> {
    match command {
        Command::Serve(options) => serve::serve(options),
        Command::Keygen(options) => key::keygen(options),
        Command::Record(options) => record(options),
        #[cfg(feature = "bench")]
        Command::Bench(options) => bench(options),
        #[cfg(feature = "direct")]
        Command::Repair(options) => repair::repair(options),
        Command::Doctor(options) => examine(options),
        Command::Engine { targets, tables } => engine::engine(targets, tables == "all"),
    }
}

fn record(options: &Record) -> Result<i32> {
    let to_stdout = options.out == Path::new("-");
    let target = options.target.target(to_stdout, options.restarts, &options.user).ok_or_else(|| {
        Diagnostic::new(
            "starting the recording",
            "no process is named on the command line",
            "add --pid PID, --name NAME, or `-- COMMAND` to start one",
        )
    })?;
    let plan = plan_of(options)?;
    let tried = || format!("writing {}", options.out.display());
    let file = if to_stdout {
        std::io::stdout().as_fd().try_clone_to_owned().map(File::from)
    } else {
        File::create(&options.out)
    };
    let file = file.map_err(|e| Diagnostic::new(tried(), e, "choose another place with --out"))?;
    let signals = Signals::new()?;
    let output = Output::new(file, Kind::File, options.out.display().to_string())
        .map_err(|e| Diagnostic::new(tried(), e, "choose another place with --out"))?;
    if !target.starts_program() {
        let _ = confine::begin();
    }
    let summary = session::run(&plan, &target, output, &signals, &mut Host::nobody());
    if summary.is_err() && !to_stdout {
        // A session that never began must not leave a file that looks like a recording.
        remove_if_empty(&options.out);
    }
    let summary = summary?;
    log(&format!("{}: {}", options.out.display(), summary.line()));
    if let Some(error) = &summary.error {
        log(&error.to_string());
    }
    Ok(status(&summary))
}

/// The plan from the board and the options.
fn plan_of(options: &Record) -> Result<Plan> {
    let board = options.board.as_deref().map(Board::find).transpose()?;
    let counters = match (board, &*options.counters) {
        (None, []) => Vec::new(),
        (Some(board), []) => board.counters(None).unwrap_or_default(),
        (_, [none]) if none == "none" => Vec::new(),
        (Some(board), [set]) if board.counters(Some(set)).is_some() => {
            board.counters(Some(set)).unwrap_or_default()
        }
        (_, names) => Counters::by_name(names),
    };
    // Experts are read by uprobes at operators: who wants direct probes and does not name levels does without.
    let experts = if options.probes.kind == Probes::Direct { level::EXPERT } else { 0 };
    let levels = options.levels.unwrap_or_else(|| board.map_or(level::ALL, Board::levels) & !experts);
    let name = board.map_or(plan::UNKNOWN, |b| b.name);
    let gauges = gauges_of(board, options.sample_hz);
    #[cfg(feature = "bench")]
    let bench = options.bench.then(plan::BenchRequest::default);
    #[cfg(not(feature = "bench"))]
    let bench = None;
    let (board, probes) = (name.to_owned(), options.probes.kind);
    let capture = Wanted::from(&options.capture);
    Ok(Plan {
        board,
        levels,
        target: String::new(),
        counters,
        gauges,
        bench,
        probes,
        capture,
        only: true,
        ring_bytes: options.ring,
    })
}

/// Measures the ceilings and prints them.
#[cfg(feature = "bench")]
fn bench(options: &Bench) -> Result<i32> {
    use crate::observe::bench::{self, table};
    use crate::session::ceiling;

    let signals = Signals::new()?;
    let wanted = bench::Options {
        cpus: options.cpus.clone().unwrap_or_default(),
        threads: options.threads.clone().unwrap_or_default(),
        budget: std::time::Duration::try_from_secs_f64(options.budget).map_err(|e| {
            Diagnostic::new(
                format!("reading the budget {}", options.budget),
                e,
                "give seconds, for example 10",
            )
        })?,
        engine: None,
    };
    let tried = |path: &Path| format!("writing {}", path.display());
    let unwritable =
        |path: &Path, e: std::io::Error| Diagnostic::new(tried(path), e, "choose another place with --out");
    // Before, so that ten seconds are not measured in vain.
    let file =
        options.out.as_deref().map(|path| File::create(path).map_err(|e| unwritable(path, e))).transpose()?;
    let mut whole = true;
    let ceilings = ceiling::measure(&wanted, &mut |_| {
        whole = !signals.asked_to_end();
        whole
    })?;
    table::write(&ceilings, &mut std::io::stdout().lock()).map_err(|e| {
        Diagnostic::new("writing the table", e, "redirect standard output to a terminal or a file")
    })?;
    if let (Some(file), Some(path)) = (file, options.out.as_deref()) {
        let name = path.display().to_string();
        let output = Output::new(file, Kind::File, name).map_err(|e| unwritable(path, e))?;
        ceiling::write(&ceilings, output)?;
    }
    Ok(i32::from(!whole))
}

/// The sensors of the board. If it has none, those that many kernels have.
fn gauges_of(board: Option<&Board>, sample_hz: u32) -> Vec<GaugeRequest> {
    let Some(period_ms) = 1000u32.checked_div(sample_hz) else { return Vec::new() };
    match board.map(|b| b.gauges(period_ms)) {
        Some(gauges) if !gauges.is_empty() => gauges,
        _ => Board::generic_gauges(period_ms),
    }
}

fn remove_if_empty(path: &Path) {
    const HELLO_AND_REFUSAL: u64 = 8192;
    if std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() < HELLO_AND_REFUSAL) {
        let _ = std::fs::remove_file(path);
    }
}

/// Exit status if nothing was traced and no program that the agent started failed.
const NOTHING_TRACED: i32 = 3;

/// The agent's exit status is that of the program that it started.
fn status(summary: &Summary) -> i32 {
    let own = if summary.nothing.is_some() { NOTHING_TRACED } else { 0 };
    summary.status.filter(|status| *status != 0).unwrap_or(own)
}

fn examine(options: &Doctor) -> Result<i32> {
    let target = match &options.name {
        Some(name) => Some(Target::Name { name: name.clone(), restarts: false }),
        None => options.pid.map(Target::Pid),
    };
    let works = doctor::doctor(target.as_ref(), &mut std::io::stdout().lock());
    works.map(|w| i32::from(!w)).map_err(|e| {
        Diagnostic::new("writing the table", e, "redirect standard output to a terminal or a file")
    })
}
