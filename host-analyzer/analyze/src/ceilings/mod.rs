//! Ceilings from elsewhere than the stream.
//!
//! ```text
//! stream ─▶ own ceilings ─┬─▶ model.ceilings ─▶ analysis
//! --ceilings FILE ────────┤
//! kept per machine ───────┘ ◀─ the best of every measurement
//! board profile ─▶ model.board_memory
//! ```
//! No error here ends an analysis, except that of a file that the user named.

mod best;
mod file;
pub(crate) mod machine;
pub(crate) mod store;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Read;
use std::path::Path;

use crate::{Diagnostic, Result, board};
use machine::Machine;
use profinfer_trace::model::{BoardMemory, Ceiling, CeilingSource, Model};
use profinfer_views::words;
use store::Store;

#[derive(Clone)]
pub(crate) struct Measured {
    name: String,
    cpu_model: String,
    ceilings: Vec<Ceiling>,
    machine: Option<Machine>,
    unix_ns: u64,
}

/// Reads the ceilings of a recording. `model` is the function that reads recordings.
pub(crate) fn read(path: &Path, model: &dyn Fn(&str, &mut dyn Read) -> Result<Model>) -> Result<Measured> {
    const HELP: &str = "give a file that `profinfer-agent bench --out FILE` wrote on the board, or a recording made with --bench";
    let name = path.display().to_string();
    let mut file = File::open(path).map_err(|e| Diagnostic::new(format!("opening {name}"), e, HELP))?;
    let model = model(&name, &mut file)?;
    if !model.ceilings.iter().any(Ceiling::measured) {
        return Err(Diagnostic::new(format!("looking for ceilings in {name}"), "it has none", HELP));
    }
    let machine = Machine::of(&model);
    let unix_ns = model.session.start_unix_ns;
    let given = |c| Ceiling { source: CeilingSource::Given, ..c };
    let ceilings = model.ceilings.into_iter().map(given).collect();
    Ok(Measured { name, cpu_model: model.session.cpu_model, ceilings, machine, unix_ns })
}

/// What a command knows about the ceilings of a recording.
pub(crate) struct Sources<'a> {
    /// The file of --ceilings.
    pub(crate) measured: Option<&'a Measured>,
    pub(crate) store: Option<Store>,
    /// Folder of additional board profiles.
    pub(crate) boards: Option<&'a Path>,
    /// The session was asked to measure.
    pub(crate) bench: bool,
}

/// Completes the ceilings of the model, and keeps the better ones. Returns messages for the user.
pub(crate) fn settle(model: &mut Model, sources: &Sources<'_>) -> Vec<String> {
    let mut said = Vec::new();
    let Sources { measured, store, boards, bench } = sources;
    let machine = Machine::of(model);
    if *bench && model.ceilings.is_empty() {
        said.push(
            "ceilings: the agent measured none; it is older than --bench, or it was built without the feature `bench`"
                .to_owned(),
        );
    }
    let mut keep = |machine: Option<&Machine>, ceilings: &[Ceiling], unix_ns| {
        let known = store.as_ref().zip(machine);
        known.map_or_else(Vec::new, |(store, machine)| keep(store, machine, ceilings, unix_ns, &mut said))
    };
    if let Some(m) = measured {
        keep(m.machine.as_ref(), &m.ceilings, m.unix_ns);
    }
    let kept = keep(machine.as_ref(), &model.ceilings, model.session.start_unix_ns);
    if let Some(measured) = measured {
        said.extend(replace(model, measured));
    }
    said.extend(add_kept(model, kept));
    model.board_memory = board_memory(model, *boards);
    said
}

/// Keeps those ceilings that are better than the kept ones, and returns the best. What goes wrong is
/// a message: a file that cannot be read counts as empty, and is replaced once there is something to
/// keep.
fn keep(
    store: &Store,
    machine: &Machine,
    ceilings: &[Ceiling],
    unix_ns: u64,
    said: &mut Vec<String>,
) -> Vec<Ceiling> {
    let mut kept = store.of(machine).unwrap_or_else(|e| {
        said.push(e.to_string());
        Vec::new()
    });
    let changed = ceilings.iter().fold(false, |changed, c| best::add(&mut kept, c, unix_ns) | changed);
    if changed {
        said.extend(store.put(machine, &kept).err().map(|e| e.to_string()));
    }
    kept
}

/// Completes the ceilings of a part of a running session, or of a recording that is only read: keeps none, and
/// prints no message.
pub(crate) fn complete(model: &mut Model, measured: Option<&Measured>, store: Option<&Store>) {
    if let Some(measured) = measured {
        replace(model, measured);
    }
    let kept = store.zip(Machine::of(model)).and_then(|(store, machine)| store.of(&machine).ok());
    add_kept(model, kept.unwrap_or_default());
    model.board_memory = board_memory(model, None);
}

/// Replaces the ceilings of the stream with those of the file. Returns messages for the user.
fn replace(model: &mut Model, measured: &Measured) -> Vec<String> {
    let Measured { name, cpu_model, ceilings, .. } = measured;
    let mut said = Vec::new();
    if !model.ceilings.is_empty() {
        said.push(format!("ceilings: using those of {name} instead of those of the stream"));
    }
    let here = &model.session.cpu_model;
    if !cpu_model.is_empty() && !here.is_empty() && cpu_model != here {
        said.push(format!("ceilings: {name} was measured on `{cpu_model}`, but the session ran on `{here}`"));
    }
    model.ceilings.clone_from(ceilings);
    said
}

/// Adds the kept ceilings that this session lacks, has only with doubts, or measured lower beside a
/// neighbour. Returns a message for the user.
fn add_kept(model: &mut Model, kept: Vec<Ceiling>) -> Option<String> {
    let own = model.ceilings.len();
    for c in kept {
        let same = model.ceilings[..own].iter().find(|o| o.same_as(&c));
        let enough = |o: &Ceiling| {
            let clean = o.usable() && o.points.iter().all(|p| p.doubts.is_empty());
            clean && !(o.polluted() && best::faster(&c, o))
        };
        if !same.is_some_and(enough) {
            model.ceilings.push(c);
        }
    }
    let added = &model.ceilings[own..];
    let when = |c: &Ceiling| if let CeilingSource::Kept { unix_ns } = c.source { unix_ns } else { 0 };
    let latest = words::date(added.iter().map(when).max()?);
    let n = added.len();
    let why = if own == 0 {
        "this recording has none"
    } else {
        "this recording lacks these, or has them with doubts"
    };
    Some(format!("ceilings: using {n} that were measured on this machine before (latest {latest}); {why}"))
}

/// The memory's bandwidth by the profile of the board that the recording names, else that its model
/// or its cores identify. A profile that cannot be read is no error here.
fn board_memory(model: &Model, folder: Option<&Path>) -> Option<BoardMemory> {
    let board = board::with_memory(model, folder)?;
    let memory = board.memory.as_ref()?;
    let measured = || memory.measured.iter().map(|m| m.bytes_per_second);
    let theoretical = memory.theoretical_bytes_per_second;
    let per_s = measured().max().or(theoretical)?;
    Some(BoardMemory { per_s, low: measured().min().unwrap_or(per_s), theoretical })
}
