//! `analyze [--board B] [SOURCE]`: from a stream to the views.

use std::fs::File;
use std::io::{self, Read, Write};

use super::cli::Record;
use super::link::Address;
use super::progress::Progress;
use super::{Diagnostic, Result, boards, live, write};
use crate::analyses::Analysis;
use crate::decode::Decoder;
use crate::ingest::Ingest;
use crate::model::Model;
use crate::views;

/// Where a serving agent is reached when nothing else is said.
const DEFAULT_SOURCE: &str = "tcp:127.0.0.1:7817";

pub(super) fn record(options: &Record) -> Result<()> {
    // Only when a board is named: a mistake in some profile is no reason not to read a recording.
    let catalog = options.board.as_ref().map(|_| boards::catalog(options.boards.as_deref())).transpose()?;
    let named = catalog.as_ref().zip(options.board.as_deref());
    let board = named.map(|(catalog, name)| boards::find(catalog, name)).transpose()?;
    let source = options.source.as_deref().unwrap_or(DEFAULT_SOURCE);
    let model = match Address::of(source)? {
        Some(address) => live::capture(&address, board, options)?,
        None if source == "-" => read("standard input", &mut io::stdin().lock())?,
        None => {
            let mut file = File::open(source).map_err(|e| {
                let help = "give a recording, or tcp:HOST:PORT or serial:DEVICE@BAUD of a serving agent";
                Diagnostic::new(format!("opening {source}"), e, help)
            })?;
            read(source, &mut file)?
        }
    };
    if let Some(reason) = &model.health.refused {
        let (tried, rest) = reason.split_once(": ").unwrap_or(("capturing", reason));
        let (answer, help) =
            rest.split_once("\n  help: ").unwrap_or((rest, "see what the agent said where it runs"));
        return Err(Diagnostic::new(format!("the agent, {tried}"), answer, help));
    }
    let analysis = Analysis::of(&model);
    write::views(&model, &analysis, &options.out, options.csv)?;
    let mut out = anstream::stdout().lock();
    let _ = views::terminal::terminal(&model, &analysis, &mut out);
    let _ = writeln!(out, "\nwritten to {}: open report.html", options.out.display());
    Ok(())
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
                return Err(Diagnostic::new(format!("reading {name}"), e, "check the file and its disk"));
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
