//! `analyze [--board B] [SOURCE]`: from a stream to the views.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use profinfer_boards::Board;

use crate::analyse::analyse;
use crate::capture::link::Address;
use crate::capture::live::Captured;
use crate::capture::observer::CaptureObserver;
use crate::capture::rotate::{self, Source};
use crate::ceilings::Measured;
use crate::cli::Record;
use crate::progress::Progress;
use crate::{
    Diagnostic, Result, accelerator, capture::interrupts, capture::live, ceilings, command::boards, scratch,
    write,
};
use profinfer_trace::decode::Decoder;
use profinfer_trace::ingest::Ingest;
use profinfer_trace::model::Model;
use profinfer_views::{self as views, terminal::WIDTH};

/// Address of a serving agent if the command line names no source.
const DEFAULT_SOURCE: &str = "tcp:127.0.0.1:7817";
/// Exit status where no call was traced. 1 is an error, 2 a wrong command line.
const NOTHING_TRACED: u8 = 3;

pub(crate) fn record(options: &Record) -> Result<ExitCode> {
    let board = board(options)?;
    if let Some(folder) = &options.scratch {
        scratch::begin(folder)?;
    }
    // Before a capture, so that a file that cannot be read does not cost one.
    let measured = measured(options)?;
    let source = source(options);
    let model = match Address::parse(source, options.key.as_deref())? {
        Some(address) if options.sources.len() < 2 => {
            interrupts::count()?;
            let mut progress = Progress::new("connecting");
            let captured = live::capture(&address, board.as_ref(), options, &mut progress, None);
            progress.done();
            received(captured?, options)?
        }
        _ if options.metrics.is_some() => {
            let help = "name an agent that runs `serve`, or leave --metrics out";
            return Err(Diagnostic::new(format!("serving metrics of {source}"), "a recording is over", help));
        }
        None if source == "-" && options.sources.len() < 2 => {
            read("standard input", &mut io::stdin().lock())?
        }
        _ => recording(&options.sources.iter().map(PathBuf::from).collect::<Vec<_>>())?,
    };
    write_views(model, measured, options)
}

/// The board that is named. Profiles are read only if one is, so that a mistake in one does not prevent reading a recording.
pub(crate) fn board(options: &Record) -> Result<Option<Board>> {
    let Some(name) = options.board.as_deref() else { return Ok(None) };
    boards::find(&boards::catalog(options.boards.as_deref())?, name).cloned().map(Some)
}

/// The first source that is named, or the usual one.
pub(crate) fn source(options: &Record) -> &str {
    options.sources.first().map_or(DEFAULT_SOURCE, String::as_str)
}

/// The ceilings of a file, if one is named.
pub(crate) fn measured(options: &Record) -> Result<Option<Measured>> {
    options.ceilings.as_deref().map(|file| ceilings::read(file, &read)).transpose()
}

/// The tables of what a capture left, and what there is to say of it.
pub(crate) fn received(captured: Captured, options: &Record) -> Result<Model> {
    for line in captured.said {
        let _ = writeln!(io::stderr(), "{line}");
    }
    captured.model.map_or_else(|| pieces(&options.out), Ok)
}

/// Writes the views into the folder, and the summary on the terminal. Returns the exit status: not 0 where nothing was traced.
pub(crate) fn write_views(
    mut model: Model,
    measured: Option<Measured>,
    options: &Record,
) -> Result<ExitCode> {
    if let Some(reason) = &model.health.refused {
        let (tried, rest) = reason.split_once(": ").unwrap_or(("capturing", reason));
        let (answer, help) =
            rest.split_once("\n  help: ").unwrap_or((rest, "read the agent's messages on the board"));
        let [tried, answer, help] = [tried, answer, help].map(views::words::one_line);
        return Err(Diagnostic::new(format!("on the board, {tried}"), answer, help));
    }
    for line in ceilings::settle(&mut model, measured, options) {
        let _ = writeln!(io::stderr(), "{line}");
    }
    accelerator::settle(&mut model, &options.accelerator_profile)?;
    let engines = model.engines();
    let mut out = anstream::stdout().lock();
    let status = match options.pid {
        Some(pid) => report(&engine(&model, pid, &engines)?, options, &options.out, &mut out),
        None if engines.len() > 1 => each(&model, &engines, options, &mut out),
        None => report(&model, options, &options.out, &mut out),
    };
    status.map(ExitCode::from)
}

/// The engine that is named.
fn engine(model: &Model, pid: u32, engines: &[u32]) -> Result<Model> {
    if !engines.contains(&pid) && !model.session.processes.iter().any(|p| p.pid == pid) {
        let tried = format!("looking for process {pid} in the recording");
        let answer = format!("it has {}", named(model, engines));
        return Err(Diagnostic::new(tried, answer, "give one of them with --pid"));
    }
    Ok(model.only(pid))
}

/// Engines for a message: `12345 (llama-cli), 12346 (llama-server)`.
fn named(model: &Model, engines: &[u32]) -> String {
    let one = |pid: &u32| {
        let name = model.session.processes.iter().find(|p| p.pid == *pid).map_or("", |p| &p.name);
        format!("{pid} ({})", views::words::one_line(name))
    };
    if engines.is_empty() {
        "no engine".to_owned()
    } else {
        engines.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

/// Reads a recording for a command that takes one engine.
///
/// # Errors
/// Those of [`recording`]; also where several engines computed: figures of them together would be of none.
pub(crate) fn one_engine(paths: &[PathBuf]) -> Result<Model> {
    let model = recording(paths)?;
    let engines = model.engines();
    if engines.len() < 2 {
        return Ok(model);
    }
    let names: Vec<_> = paths.iter().map(|p| p.display().to_string()).collect();
    Err(Diagnostic::new(
        format!("reading {}", names.join(", ")),
        format!("it has several engines: {}", named(&model, &engines)),
        "record one alone (profinfer-agent record --pid PID); `analyze RECORDING --pid PID` reports one of these",
    ))
}

/// One complete result for each engine, in a separate folder.
fn each(model: &Model, engines: &[u32], options: &Record, out: &mut dyn Write) -> Result<u8> {
    if !options.only.is_empty() {
        let answer = format!("the recording has several engines: {}", named(model, engines));
        return Err(Diagnostic::new("writing single files", answer, "name one of them with --pid"));
    }
    write::remove_views(&options.out)?;
    let mut status = 0;
    let _ = writeln!(out, "{} engines ran; each has a separate result", engines.len());
    for pid in engines {
        let one = model.only(*pid);
        let process = one.session.processes.last();
        let (name, command) = process.map_or(("engine", ""), |p| (p.name.as_str(), p.command.as_str()));
        let heading = views::words::one_line(&format!("process {pid} · {name} · {command}"));
        let _ = writeln!(out, "\n{}\n", views::terminal::heading(&heading, columns()));
        status = status.max(report(&one, options, &options.out.join(write::folder_name(*pid, name)), out)?);
    }
    Ok(status)
}

/// Writes the views of one engine, and its summary on the terminal. Returns the exit status.
fn report(model: &Model, options: &Record, folder: &Path, out: &mut dyn Write) -> Result<u8> {
    let analysis = analyse(model);
    let extra = write::Extra {
        only: &options.only,
        csv: options.csv,
        chrome: options.timeline_json,
        part: options.timeline_slices,
    };
    write::views(model, &analysis, folder, extra)?;
    let _ = views::terminal::within(model, &analysis, columns(), out);
    let written =
        if options.only.is_empty() { "open report.html".to_owned() } else { options.only.join(", ") };
    let _ = writeln!(out, "\nwritten to {}: {written}", folder.display());
    Ok(if analysis.ending.nothing_traced() { NOTHING_TRACED } else { 0 })
}

/// A larger recording in pieces is not joined behind its capture, because its tables take some twenty times its size in memory.
const JOINED_AT_MOST: u64 = 64 << 20;

/// What was captured in pieces: all of it, or the last piece of a large one.
fn pieces(folder: &Path) -> Result<Model> {
    let mut source = rotate::of(&[folder.to_owned()]).map_err(unopened)?;
    let bytes = size(&source.paths);
    if bytes > JOINED_AT_MOST && !profinfer_scratch::has_begun() {
        source.paths.sort();
        let n = source.paths.len();
        source.paths.drain(..n - 1);
        let folder = folder.display();
        let _ = writeln!(
            io::stderr(),
            "{n} pieces, {:.0} MB: the report is of the last one; `analyze {folder}` reads all, `analyze PIECE...` some",
            bytes as f64 / 1e6
        );
    }
    files(&source)
}

/// The tables of a recording, or of pieces of one, on disk.
pub(crate) fn recording(paths: &[PathBuf]) -> Result<Model> {
    files(&rotate::of(paths).map_err(unopened)?)
}

fn files(source: &Source) -> Result<Model> {
    scratch::begin_if_too_large(size(&source.paths));
    let name: Vec<_> = source.paths.iter().map(|p| p.display().to_string()).collect();
    read(&name.join(", "), &mut *source.open().map_err(unopened)?)
}

/// Bytes of files together.
fn size(paths: &[PathBuf]) -> u64 {
    paths.iter().map(|path| path.metadata().map_or(0, |m| m.len())).sum()
}

fn unopened((path, e): (PathBuf, io::Error)) -> Diagnostic {
    let help = "give a recording, the pieces of one or their folder, or tcp:HOST:PORT, unix:PATH or serial:DEVICE@BAUD of an agent that \
                runs `serve`";
    Diagnostic::new(format!("opening {}", path.display()), e, help)
}

/// Columns of the terminal; those of the summary where there is none.
pub(crate) fn columns() -> usize {
    comfy_table::Table::new().width().map_or(WIDTH, |width| WIDTH.min(width.into()))
}

/// The tables of a recording that is read to its end; `name` is for messages.
pub(crate) fn read(name: &str, input: &mut dyn Read) -> Result<Model> {
    let mut progress = Progress::new("reading");
    let (mut decoder, mut ingest) = (Decoder::new(), Ingest::new());
    let mut bytes = vec![0; 1 << 20];
    loop {
        let n = match input.read(&mut bytes) {
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => {
                return Err(Diagnostic::new(
                    format!("reading {name}"),
                    e,
                    "check that the file is complete and that its disk has no errors",
                ));
            }
        };
        let fed = match n {
            0 => decoder.finish(&mut |found| ingest.found(&found)),
            n => decoder.feed(&bytes[..n], &mut |found| ingest.found(&found)),
        };
        fed.map_err(|e| Diagnostic::not_readable(name, e))?;
        if n == 0 {
            break;
        }
        progress.live(&ingest.live());
    }
    progress.done();
    Ok(ingest.finish())
}
