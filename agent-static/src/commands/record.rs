//! The command `record`: a session that writes to a file, without a host.

use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::time::{Duration, Instant};

use profinfer_wire::record::control::level;
use profinfer_wire::record::direct::Probes;
use profinfer_wire::record::loss::{EndReason, Loss};
use serde::Serialize;

use super::{check_rights, json, status};
use crate::cli::{Format, Record};
use crate::confine;
use crate::error::{Diagnostic, Result, log};
use crate::link::Output;
use crate::link::output::Kind;
use crate::observe::counter::Counters;
use crate::request::boards::Board;
use crate::request::capture::Wanted;
use crate::request::plan::{self, GaugeRequest, Plan};
use crate::session::ending::{Cause, Untraced};
use crate::session::host::Host;
use crate::session::{self, Summary};
use crate::signals::Signals;

pub(super) fn record(options: &Record) -> Result<i32> {
    let to_stdout = options.out == Path::new("-");
    let json = options.format.format == Format::Json;
    if json && to_stdout {
        return Err(Diagnostic::new(
            "starting the recording",
            "the recording and its JSON summary cannot both go to standard output",
            "write the recording to a file with --out FILE, or omit --format json",
        ));
    }
    // The output of the program would mix with the output of the agent.
    let target =
        options.target.target(to_stdout || json, &options.awaited, &options.user).ok_or_else(|| {
            Diagnostic::new(
                "starting the recording",
                "the command line names no process",
                "add --pid PID, --name NAME, or `-- COMMAND` to start one",
            )
        })?;
    check_rights()?;
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
    let begun = Instant::now();
    let summary = session::run(&plan, &target, output, &signals, &mut Host::nobody());
    let wall = begun.elapsed();
    if summary.is_err() && !to_stdout {
        // A session that never began must not leave a file that looks like a recording.
        remove_if_empty(&options.out);
    }
    let summary = summary?;
    let status = status(&summary);
    log(&format!("{}: {}", options.out.display(), summary.line()));
    if let Some(error) = &summary.error {
        log(&error.to_string());
    }
    if json {
        json::print(&Recorded::new(&options.out, &summary, wall, status))?;
    }
    Ok(status)
}

/// The capture plan from the board profile and the options.
fn plan_of(options: &Record) -> Result<Plan> {
    let board = options.board.as_deref().map(Board::find).transpose()?;
    if let Some(board) = board.filter(|_| !options.force_board) {
        board.check()?;
    }
    let counters = match (board, &*options.counters) {
        (None, []) => Vec::new(),
        (Some(board), []) => board.counters(None).unwrap_or_default(),
        (_, [none]) if none == "none" => Vec::new(),
        (Some(board), [set]) if board.counters(Some(set)).is_some() => {
            board.counters(Some(set)).unwrap_or_default()
        }
        (_, names) => Counters::by_name(names),
    };
    // The expert level needs uprobes at the operators. With direct probes it is off by default.
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

/// The sensors of the board, or those that most kernels have if it has none.
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

/// The summary of a recording as JSON.
#[derive(Debug, Serialize)]
struct Recorded<'a> {
    schema: u32,
    recording: String,
    /// Why the session ended: `engine_ended`, `host_stopped`, `interrupted` or `error`.
    reason: &'static str,
    exit_status: i32,
    /// The exit status of the program that the agent started, if it ended.
    program_status: Option<i32>,
    spans_sent: u64,
    /// Operators that ended and were not sent: the sum of three fields of `loss`.
    spans_lost: u64,
    /// Named as `health.loss` in the output schema.
    loss: &'a Loss,
    frames: u32,
    /// Includes loading the programs and removing the probes.
    wall_ns: u64,
    /// Peak RSS of the agent.
    rss_bytes: u64,
    cpu_ns: u64,
    /// Run time and run count of the BPF programs while the kernel measured them.
    bpf_run_ns: u64,
    bpf_runs: u64,
    /// `null` if something was traced.
    nothing_traced: Option<Nothing<'a>>,
    /// Set if the agent could not trace, with what to do.
    error: Option<&'a Diagnostic>,
}

#[derive(Debug, Serialize)]
struct Nothing<'a> {
    /// A value of `session.ending.code` in the output schema.
    code: &'static str,
    /// The process that the code is about, if any.
    pid: Option<u32>,
    text: String,
    /// With `children_compute`: the children that are not traced.
    children: &'a [Untraced],
}

impl<'a> Recorded<'a> {
    fn new(out: &Path, summary: &'a Summary, wall: Duration, exit_status: i32) -> Self {
        let end = &summary.end;
        Self {
            schema: json::SCHEMA,
            recording: out.display().to_string(),
            reason: match summary.reason {
                EndReason::EngineEnded => "engine_ended",
                EndReason::HostStopped => "host_stopped",
                EndReason::Interrupted => "interrupted",
                EndReason::Error => "error",
            },
            exit_status,
            program_status: summary.status,
            spans_sent: end.loss.spans_sent,
            spans_lost: summary.lost(),
            loss: &end.loss,
            frames: end.frames,
            wall_ns: u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX),
            rss_bytes: end.agent_rss_bytes,
            cpu_ns: end.agent_cpu_ns,
            bpf_run_ns: end.bpf_run_ns,
            bpf_runs: end.bpf_runs,
            nothing_traced: summary.nothing.as_ref().map(Nothing::new),
            error: summary.error.as_ref(),
        }
    }
}

impl<'a> Nothing<'a> {
    fn new(cause: &'a Cause) -> Self {
        Self { code: cause.code(), pid: cause.pid(), text: cause.words(), children: cause.children() }
    }
}
