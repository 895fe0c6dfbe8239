//! `analyze watch`: a capture with a live view.
//!
//! Three threads: one captures, as `analyze` does; one analyses the last seconds, with pauses; one
//! draws on the terminal and reads keys. A slow terminal or a long analysis never blocks the link.

mod analyst;
mod display;
mod keys;
mod lines;
mod news;
mod speeds;
mod terminal;
#[cfg(test)]
mod tests;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::time::Duration;

use crate::capture::link::Address;
use crate::capture::rotate::{Limit, Window};
use crate::cli;
use crate::{Diagnostic, Result, board, capture::interrupts, capture::live, command::record};
use display::Display;
use lines::Lines;

/// Maximum bytes of the stream per analysis: about 3 million operator spans.
const MOST: usize = 8 << 20;
/// Default size of a piece. The recording is in pieces, so that neither the session nor its report
/// outgrows memory.
const PIECE: Limit = Limit::Bytes(64 << 20);

pub(crate) fn watch(mut options: cli::Watch) -> Result<ExitCode> {
    if options.record.rotate.is_empty() {
        options.record.rotate.push(PIECE);
    }
    let (window, options) = (Duration::from_secs(options.window), &options.record);
    let source = record::source(options);
    let address = Address::parse(source, options.key.as_deref())?.filter(|_| options.sources.len() < 2);
    let Some(address) = address else {
        let help = "name one agent: tcp:HOST:PORT, unix:PATH or serial:DEVICE@BAUD; `analyze RECORDING` reads a recording";
        return Err(Diagnostic::new(format!("watching {source}"), "a recording is not live", help));
    };
    let is_json = options.format.format.is_json();
    if !is_json && !io::stdout().is_terminal() {
        let help = "run it in a terminal of at least 80x24, or use --format json; `analyze` captures without a live view";
        return Err(Diagnostic::new("showing the live view", "standard output is not a terminal", help));
    }
    let (board, measured) = (board::named(options)?, record::measured(options)?);
    interrupts::count()?;
    let buffer = Window::new(window, MOST);
    if is_json {
        let mut lines = Lines::begin(measured.clone());
        let captured = live::capture(&address, board.as_ref(), options, &mut lines, Some(buffer));
        lines.end();
        let input = record::received(captured?, options)?;
        return record::write_views(input, measured, board.as_ref(), options, lines::print_result);
    }
    let mut display = Display::begin(&address.to_string(), &options.out, window, measured.clone())?;
    let captured = live::capture(&address, board.as_ref(), options, &mut display, Some(buffer));
    let shown = display.end();
    let input = record::received(captured?, options)?;
    let status = record::write_views(input, measured, board.as_ref(), options, |_| Ok(()))?;
    let out = options.out.display();
    let _ = writeln!(io::stdout(), "the recording is in {out}; `analyze {out} --out FOLDER` reads it again");
    // If the terminal is gone, the capture ends, but the report is written.
    shown.map(|()| status)
}
