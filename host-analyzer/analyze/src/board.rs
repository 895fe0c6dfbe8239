//! The board profile of a capture or a recording: named, recorded, or found by the machine.

use std::io::Write;
use std::path::Path;

use profinfer_boards::{Board, Catalog};

use crate::ceilings::machine::Machine;
use crate::command::boards;
use crate::{Diagnostic, Result, cli::Record};
use profinfer_trace::model::Model;

/// The profiles that stand for every machine of a type.
const GENERIC: [&str; 3] = ["", "generic-aarch64", "host"];

/// The named board. Reads profiles only if a board is named, so that an error in a profile does not
/// prevent reading a recording.
pub(crate) fn named(options: &Record) -> Result<Option<Board>> {
    let Some(name) = options.board.as_deref() else { return Ok(None) };
    boards::find(&boards::catalog(options.boards.as_deref())?, name).cloned().map(Some)
}

/// Checks the named board against the type of the machine, which may be unknown yet.
pub(crate) fn check(board: &Board, machine: &str, options: &Record) -> Result<()> {
    if options.force_board || !board.contradicts(machine) {
        return Ok(());
    }
    Err(Diagnostic::new(
        format!("using the board profile `{}`", board.name),
        format!("it is for {}, and the recorded machine is {machine}", board.machine),
        "leave --board out: the machine is recognised by itself; or use the profile nevertheless with --force-board",
    ))
}

/// Gives the model its board: the named one; else the recorded one, unless that is generic or
/// contradicts the machine; else the one that the machine's model or cores identify.
pub(crate) fn settle(model: &mut Model, board: Option<&Board>, options: &Record) -> Result<()> {
    let session = &mut model.session;
    if let Some(board) = board {
        check(board, &session.machine, options)?;
        session.board.clone_from(&board.name);
        return Ok(());
    }
    recognise(model, options.boards.as_deref(), options.force_board);
    Ok(())
}

/// Gives the model its board where none is named.
pub(crate) fn recognise(model: &mut Model, folder: Option<&Path>, force: bool) {
    let session = &model.session;
    // A profile that cannot be read is no error here.
    let Ok(catalog) = boards::catalog(folder) else { return };
    let contradicts = catalog.find(&session.board).is_ok_and(|b| b.contradicts(&session.machine)) && !force;
    if contradicts {
        let _ = writeln!(
            anstream::stderr(),
            "note: the recording names the board `{}`, but its machine is {}: the profile is not used",
            session.board,
            session.machine
        );
    }
    if contradicts || GENERIC.contains(&&*session.board) {
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
