//! `analyze [--board B] [SOURCE]`: from a stream to the views.

use std::fs::File;
use std::io::{self, Read, Write};

use super::cli::Record;
use super::link::Address;
use super::progress::Progress;
use super::{Diagnostic, Result, boards, ceilings, live, write};
use crate::analyses::Analysis;
use crate::decode::Decoder;
use crate::ingest::Ingest;
use crate::model::Model;
use crate::views::{self, terminal::WIDTH};

/// Address of a serving agent if the command line names no source.
const DEFAULT_SOURCE: &str = "tcp:127.0.0.1:7817";

pub(super) fn record(options: &Record) -> Result<()> {
    // Profiles are read only if a board is named, so that a mistake in one does not prevent reading a recording.
    let catalog = options.board.as_ref().map(|_| boards::catalog(options.boards.as_deref())).transpose()?;
    let named = catalog.as_ref().zip(options.board.as_deref());
    let board = named.map(|(catalog, name)| boards::find(catalog, name)).transpose()?;
    let source = options.source.as_deref().unwrap_or(DEFAULT_SOURCE);
    // Before a capture, so that a file that cannot be read does not cost one.
    let measured = options.ceilings.as_deref().map(|file| ceilings::read(file, &read)).transpose()?;
    let mut model = match Address::of(source)? {
        Some(address) => live::capture(&address, board, options)?,
        None if source == "-" => read("standard input", &mut io::stdin().lock())?,
        None => {
            let mut file = File::open(source).map_err(|e| {
                let help =
                    "give a recording, or tcp:HOST:PORT or serial:DEVICE@BAUD of an agent that runs `serve`";
                Diagnostic::new(format!("opening {source}"), e, help)
            })?;
            read(source, &mut file)?
        }
    };
    if let Some(reason) = &model.health.refused {
        let (tried, rest) = reason.split_once(": ").unwrap_or(("capturing", reason));
        let (answer, help) =
            rest.split_once("\n  help: ").unwrap_or((rest, "read the agent's messages on the board"));
        return Err(Diagnostic::new(format!("on the board, {tried}"), answer, help));
    }
    for line in ceilings::settle(&mut model, measured, options) {
        let _ = writeln!(io::stderr(), "{line}");
    }
    let analysis = Analysis::of(&model);
    write::views(&model, &analysis, &options.out, options.csv)?;
    let mut out = anstream::stdout().lock();
    let _ = views::terminal::within(&model, &analysis, columns(), &mut out);
    let _ = writeln!(out, "\nwritten to {}: open report.html", options.out.display());
    Ok(())
}

/// Columns of the terminal; those of the summary where there is none.
fn columns() -> usize {
    comfy_table::Table::new().width().map_or(WIDTH, |width| WIDTH.min(width.into()))
}

fn read(name: &str, input: &mut dyn Read) -> Result<Model> {
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
