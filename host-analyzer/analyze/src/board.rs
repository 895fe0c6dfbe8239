//! The board profile of a capture or a recording: named, recorded, or found by the machine.

use std::io::Write;
use std::path::Path;

use profinfer_boards::{Board, Catalog, Contradiction, Seen};

use crate::ceilings::machine::Machine;
use crate::command::boards;
use crate::{Diagnostic, Result, cli::Record};
use profinfer_trace::model::Model;
use profinfer_views::words;

/// The profiles that stand for every machine of a type.
const GENERIC: [&str; 3] = ["", "generic-aarch64", "host"];

/// The named board. Reads profiles only if a board is named, so that an error in a profile does not
/// prevent reading a recording.
pub(crate) fn named(options: &Record) -> Result<Option<Board>> {
    let Some(name) = options.board.as_deref() else { return Ok(None) };
    boards::find(&boards::catalog(options.boards.as_deref())?, name).cloned().map(Some)
}

/// Checks the named board against what is known of the machine.
///
/// # Errors
/// If it is the profile of another one, unless it is forced.
pub(crate) fn check(board: &Board, seen: Seen<'_>, options: &Record) -> Result<()> {
    if options.force_board {
        return Ok(());
    }
    let catalog = boards::catalog(options.boards.as_deref())?;
    let Some(why) = catalog.contradiction(board, seen) else { return Ok(()) };
    Err(Diagnostic::new(
        format!("using the board profile `{}`", board.name),
        because(board, why, seen),
        "leave --board out: the machine is recognised by itself; or use the profile nevertheless with --force-board",
    ))
}

fn because(board: &Board, why: Contradiction<'_>, seen: Seen<'_>) -> String {
    match why {
        Contradiction::Machine => {
            format!("it is for {}, and the recorded machine is {}", board.machine, seen.machine)
        }
        Contradiction::Board(other) => {
            let model = words::one_line(seen.model);
            format!(
                "it is for {}, and the recorded machine is `{model}`: the profile `{}`",
                board.soc, other.name
            )
        }
        Contradiction::Core(midr) => {
            format!("it is for {}, and the recorded machine has a core of another type: {midr:#x}", board.soc)
        }
    }
}

/// Gives the model its board: the named one; else the recorded one, unless that is generic or
/// contradicts the machine; else the one that the machine's model or cores identify.
pub(crate) fn settle(model: &mut Model, board: Option<&Board>, options: &Record) -> Result<()> {
    if let Some(board) = board {
        check(board, seen(model, &Machine::midrs(model)), options)?;
        model.session.board.clone_from(&board.name);
        return Ok(());
    }
    recognise(model, options.boards.as_deref(), options.force_board);
    Ok(())
}

fn seen<'a>(model: &'a Model, midrs: &'a [u32]) -> Seen<'a> {
    Seen { machine: &model.session.machine, model: &model.session.cpu_model, midrs }
}

/// Gives the model its board where none is named.
pub(crate) fn recognise(model: &mut Model, folder: Option<&Path>, force: bool) {
    // A profile that cannot be read is no error here.
    let Ok(catalog) = boards::catalog(folder) else { return };
    let midrs = Machine::midrs(model);
    let (recorded, seen) = (&model.session.board, seen(model, &midrs));
    let of = |board| Some((board, catalog.contradiction(board, seen)?));
    let contradicts = catalog.find(recorded).ok().filter(|_| !force).and_then(of);
    if let Some((board, why)) = contradicts {
        let _ = writeln!(
            anstream::stderr(),
            "note: the recording names the board `{recorded}`, but {}: the profile is not used",
            because(board, why, seen)
        );
    }
    let contradicts = contradicts.is_some();
    if contradicts || GENERIC.contains(&&**recorded) {
        let found = by_machine(&catalog, model).map(|b| b.name.clone());
        let session = &mut model.session;
        match found {
            Some(name) => session.board = name,
            None if contradicts => session.board.clear(),
            None => {}
        }
    }
}

/// The board that the recording names if its memory is known, else the one that its machine
/// identifies.
pub(crate) fn with_memory(model: &Model, folder: Option<&Path>) -> Option<Board> {
    let catalog = boards::catalog(folder).ok()?;
    let named = catalog.find(&model.session.board).ok().filter(|board| board.memory.is_some());
    named.or_else(|| by_machine(&catalog, model)).cloned()
}

fn by_machine<'a>(catalog: &'a Catalog, model: &Model) -> Option<&'a Board> {
    let found = catalog.by_machine(&model.session.cpu_model, &Machine::midrs(model))?;
    (!found.contradicts(&model.session.machine)).then_some(found)
}
