//! `analyze [--board B] [SOURCE]`: writes the views of a stream.

mod output;
mod pieces;

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use profinfer_boards::Board;

use crate::analyse::analyse;
use crate::capture::link::{Address, address_meant};
use crate::capture::live::{Captured, LinkReport};
use crate::capture::observer::CaptureObserver;
use crate::capture::rotate::{self, Source};
use crate::ceilings::{Measured, store::Store};
use crate::cli::{self, Record};
use crate::json::{self, Object};
use crate::progress::Progress;
use crate::{
    Diagnostic, Result, accelerator, board, capture::interrupts, capture::live, ceilings, diagnostic,
    foreign, scratch, write,
};
use profinfer_analysis::ladder::LadderSums;
use profinfer_trace::decode::Decoder;
use profinfer_trace::ingest::Ingest;
use profinfer_trace::model::{Model, RefusedPlan};
use profinfer_views::{self as views, terminal::WIDTH};

pub(crate) use output::Recorded;
use output::{EngineResult, Output};

/// Address of a serving agent if the command line names no source.
const DEFAULT_SOURCE: &str = "tcp:127.0.0.1:7817";
/// Exit status if no call was traced. 1 is an error, 2 a wrong command line.
const NOTHING_TRACED: u8 = 3;

pub(crate) fn record(options: &Record) -> Result<ExitCode> {
    let board = board::named(options)?;
    if let Some(folder) = &options.scratch {
        scratch::begin(folder)?;
    }
    // Read the file before the capture: an error in it must not cost a capture.
    let measured = measured(options)?;
    let source = source(options);
    let input = match Address::parse(source, options.key.as_deref())? {
        Some(address) if options.sources.len() < 2 => {
            interrupts::count()?;
            let mut progress = Progress::new("connecting");
            let captured = live::capture(&address, board.as_ref(), options, &mut progress, None);
            progress.done();
            received(captured?, options)?
        }
        _ if options.metrics.is_some() => {
            let help = "name an agent that runs `serve`, or leave --metrics out";
            return Err(Diagnostic::new(
                format!("serving metrics of {source}"),
                "a recording has no running capture",
                help,
            ));
        }
        None if source == "-" && options.sources.len() < 2 => {
            Input::new(read("standard input", &mut io::stdin().lock())?, Vec::new())
        }
        _ => {
            let paths: Vec<_> = options.sources.iter().map(PathBuf::from).collect();
            let source = rotate::of(&paths).map_err(unopened)?;
            Input::new(files(&source)?, source.paths)
        }
    };
    write_views(input, measured, board.as_ref(), options, |recorded| json::print(&Object::new(recorded)))
}

/// A complete stream, and its files.
pub(crate) struct Input {
    model: Model,
    /// Files of the recording. Empty for standard input.
    recording: Vec<PathBuf>,
    /// Files that the model covers. Only the last piece of a large capture.
    reported: Vec<PathBuf>,
    /// Ladders of all pieces, if the model covers only the last one.
    ladders: Option<LadderSums>,
    messages: Vec<String>,
    /// `None` if it was not captured now.
    link: Option<LinkReport>,
}

impl Input {
    fn new(model: Model, recording: Vec<PathBuf>) -> Self {
        let reported = recording.clone();
        Self { model, reported, recording, ladders: None, messages: Vec::new(), link: None }
    }
}

/// The first source of the command line, or the default.
pub(crate) fn source(options: &Record) -> &str {
    options.sources.first().map_or(DEFAULT_SOURCE, String::as_str)
}

pub(crate) fn measured(options: &Record) -> Result<Option<Measured>> {
    options.ceilings.as_deref().map(|file| ceilings::read(file, &read)).transpose()
}

/// Where ceilings may come from.
pub(crate) fn sources<'a>(measured: Option<&'a Measured>, options: &'a Record) -> ceilings::Sources<'a> {
    let (boards, bench) = (options.boards.as_deref(), options.bench);
    let store = if options.sample { None } else { Store::of_user() };
    ceilings::Sources { measured, store, boards, bench }
}

/// The result of a capture. Prints the messages about the link.
pub(crate) fn received(captured: Captured, options: &Record) -> Result<Input> {
    print_messages(&captured.said);
    let mut input = match captured.model {
        Some(model) => Input::new(model, vec![options.out.join(rotate::WHOLE)]),
        None => pieces::read(&options.out, pieces::JOINED_AT_MOST)?,
    };
    input.messages.splice(0..0, captured.said);
    input.link = Some(captured.link);
    Ok(input)
}

fn print_messages(messages: &[String]) {
    for line in messages {
        let _ = writeln!(io::stderr(), "{line}");
    }
}

/// Writes the views into the folder, and prints the summary or passes the object to `print`.
/// Returns the exit status: not 0 if nothing was traced.
pub(crate) fn write_views(
    input: Input,
    measured: Option<Measured>,
    board: Option<&Board>,
    options: &Record,
    print: impl FnOnce(Recorded) -> Result<()>,
) -> Result<ExitCode> {
    let Input { mut model, recording, reported, ladders, mut messages, link } = input;
    if let Some(RefusedPlan { tried, answer, help }) = &model.health.refused {
        // An older agent sends one text, which is the answer.
        let tried = if tried.is_empty() { "capturing" } else { tried };
        let help = if help.is_empty() { "read the agent's messages on the board" } else { help };
        let [tried, answer, help] = [tried, answer, help].map(views::words::one_line);
        return Err(Diagnostic::new(format!("on the board, {tried}"), answer, help));
    }
    board::settle(&mut model, board, options)?;
    let said = ceilings::settle(&mut model, &sources(measured.as_ref(), options));
    print_messages(&said);
    messages.extend(said);
    accelerator::settle(&mut model, &options.accelerator_profile)?;
    let engines = model.engines();
    let mut output = Output::new(options.format.format);
    let ladders = ladders.as_ref();
    let status = match options.pid {
        Some(pid) => {
            let model = engine(&model, pid, &engines)?;
            report(&model, Some(pid), ladders, options, &options.out, &mut output)
        }
        None if engines.len() > 1 => each(&model, &engines, ladders, options, &mut output),
        None => report(&model, None, ladders, options, &options.out, &mut output),
    }?;
    if let Output::Json(results) = output {
        print(Recorded {
            exit_status: status,
            recording: names(&recording),
            reported: names(&reported),
            link,
            messages,
            results,
        })?;
    }
    Ok(ExitCode::from(status))
}

fn names(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.display().to_string()).collect()
}

/// The model of one process.
pub(crate) fn engine(model: &Model, pid: u32, engines: &[u32]) -> Result<Model> {
    if !engines.contains(&pid) && !model.session.processes.iter().any(|p| p.pid == pid) {
        let tried = format!("looking for process {pid} in the recording");
        let answer = format!("the recording has {}", named(model, engines));
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
///
/// Those of [`recording`]. Also if several engines computed: figures of several engines together
/// have no meaning.
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
        "record one process (profinfer-agent record --pid PID); `analyze RECORDING --pid PID` reports one of these",
    ))
}

/// Writes one complete result per engine, each in its folder.
fn each(
    model: &Model,
    engines: &[u32],
    ladders: Option<&LadderSums>,
    options: &Record,
    output: &mut Output,
) -> Result<u8> {
    if !options.only.is_empty() {
        let answer = format!("the recording has several engines: {}", named(model, engines));
        return Err(Diagnostic::new("writing the files of --only", answer, "name one of them with --pid"));
    }
    write::remove_views(&options.out)?;
    let mut status = 0;
    output.text(|out| writeln!(out, "{} engines ran; each has a separate result", engines.len()));
    for pid in engines {
        let one = model.only(*pid);
        let process = one.session.processes.last();
        let (name, command) = process.map_or(("engine", ""), |p| (p.name.as_str(), p.command.as_str()));
        let heading = views::words::one_line(&format!("process {pid} · {name} · {command}"));
        output.text(|out| writeln!(out, "\n{}\n", views::terminal::heading(&heading, columns())));
        let folder = options.out.join(write::folder_name(*pid, name));
        status = status.max(report(&one, Some(*pid), ladders, options, &folder, output)?);
    }
    Ok(status)
}

/// Writes the views of one engine, and its summary to the output. Returns the exit status.
fn report(
    model: &Model,
    pid: Option<u32>,
    ladders: Option<&LadderSums>,
    options: &Record,
    folder: &Path,
    output: &mut Output,
) -> Result<u8> {
    let mut analysis = analyse(model);
    if let Some(ladders) = ladders {
        let engine = pid.or_else(|| model.engines().first().copied()).or_else(|| ladders.latest());
        analysis.ladders_of_pieces = engine.map_or_else(Vec::new, |pid| ladders.of(pid));
    }
    let extra = write::Extra {
        only: &options.only,
        csv: options.csv,
        chrome: options.timeline_json,
        part: options.timeline_slices,
    };
    // First of all the answer: the files may take long, or find no space.
    if let Output::Text(out) = output {
        // Of the sample, the answer; the tables are for a recording of one's own.
        let show = if options.sample { views::terminal::first_screen } else { views::terminal::within };
        let _ = show(model, &analysis, columns(), out);
        let _ = out.flush();
    }
    let written = write::views(model, &analysis, folder, extra)?;
    match output {
        Output::Text(out) => {
            let _ = output::files(&options.only, folder, out);
        }
        Output::Json(results) => {
            results.push(EngineResult::new(pid, folder, written, views::summary::document(model, &analysis)));
        }
    }
    Ok(if analysis.ending.nothing_traced() { NOTHING_TRACED } else { 0 })
}

/// Reads a recording or its pieces from disk.
pub(crate) fn recording(paths: &[PathBuf]) -> Result<Model> {
    files(&rotate::of(paths).map_err(unopened)?)
}

fn files(source: &Source) -> Result<Model> {
    scratch::begin_if_too_large(size(&source.paths));
    let name: Vec<_> = source.paths.iter().map(|p| p.display().to_string()).collect();
    read(&name.join(", "), &mut *source.open().map_err(unopened)?)
}

/// Total size of files, bytes.
fn size(paths: &[PathBuf]) -> u64 {
    paths.iter().map(|path| path.metadata().map_or(0, |m| m.len())).sum()
}

fn unopened((path, e): (PathBuf, io::Error)) -> Diagnostic {
    if e.kind() == io::ErrorKind::NotFound {
        let folder = path.parent().filter(|folder| path.ends_with(rotate::WHOLE) && folder.is_dir());
        if let Some(folder) = folder {
            return without_recording(folder);
        }
        if let Some(command) = path.to_str().and_then(cli::similar_command) {
            return Diagnostic::new(
                format!("opening {}", path.display()),
                "there is no such file, and no such command",
                format!("did you mean `analyze {command}`? A file can be named as ./{}", path.display()),
            );
        }
        if let Some(address) = path.to_str().and_then(address_meant) {
            return Diagnostic::new(
                format!("opening {}", path.display()),
                "there is no such file",
                format!("for an agent at this address: analyze {address}"),
            );
        }
    }
    let help = "give a recording, the pieces of one or their folder, or tcp:HOST:PORT, unix:PATH or serial:DEVICE@BAUD of an agent that \
                runs `serve`";
    Diagnostic::new(format!("opening {}", path.display()), e, help)
}

/// The error for a folder without a recording. Names other recordings in it.
fn without_recording(folder: &Path) -> Diagnostic {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut others: Vec<String> = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "pfi"))
        .map(|path| path.display().to_string())
        .collect();
    others.sort();
    others.truncate(5);
    let help = if others.is_empty() {
        "give a recording (.pfi), or the folder that a capture wrote".to_owned()
    } else {
        format!("name one of its recordings: {}", others.join(", "))
    };
    let answer = format!("it has no {}", rotate::WHOLE);
    Diagnostic::new(format!("opening the folder {}", folder.display()), answer, help)
}

/// Columns of the terminal, or the default width without one.
pub(crate) fn columns() -> usize {
    comfy_table::Table::new().width().map_or(WIDTH, |width| WIDTH.min(width.into()))
}

/// Reads a recording to its end. `name` is for messages.
pub(crate) fn read(name: &str, input: &mut dyn Read) -> Result<Model> {
    let mut progress = Progress::new("reading");
    let (mut decoder, mut ingest) = (Decoder::new(), Ingest::new());
    let (mut bytes, mut first) = (vec![0; 1 << 20], Vec::new());
    loop {
        let n = match input.read(&mut bytes) {
            Ok(n) => n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(e) => {
                return Err(Diagnostic::new(
                    format!("reading {name}"),
                    e,
                    "check that the file is complete and that the disk has no errors",
                ));
            }
        };
        let fed = match n {
            0 => decoder.finish(&mut |found| ingest.found(&found)),
            n => decoder.feed(&bytes[..n], &mut |found| ingest.found(&found)),
        };
        if first.len() < foreign::FIRST {
            first.extend(bytes[..n].iter().take(foreign::FIRST - first.len()));
        }
        fed.map_err(|e| diagnostic::not_readable(name, &first, e))?;
        if n == 0 {
            break;
        }
        progress.live(&ingest.live());
    }
    progress.done();
    Ok(ingest.finish())
}
