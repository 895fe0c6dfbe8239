//! `--stop`: ends what earlier pushes to a board made, and nothing else.

use super::agent::Files;
use super::board::Board;
use super::connector::Connector;
use super::options::Options;
use super::run::Host;
use super::serve;
use super::state::{Ports, Pushed, Store};
use crate::{Diagnostic, Result};

/// The board to stop on: the named one, else the only one of earlier pushes. `None`: the connector
/// chooses the only connected board.
///
/// # Errors
/// If earlier pushes went to several boards. Nothing was touched then.
pub(super) fn target(options: &Options, store: &Store) -> Result<Option<String>> {
    if options.target.is_some() {
        return Ok(options.target.clone());
    }
    let mut boards: Vec<String> = store.of(options.way, None).into_iter().map(|p| p.target).collect();
    boards.sort();
    boards.dedup();
    match boards.as_slice() {
        [] => Ok(None),
        [one] => Ok(Some(one.clone())),
        several => Err(Diagnostic::new(
            "choosing the board to stop on",
            format!("there are pushes to {}", several.join(", ")),
            format!("name one: analyze push {} {} --stop", options.way.name(), several[0]),
        )),
    }
}

pub(super) fn stop(
    host: &Host,
    connector: &mut dyn Connector,
    options: &Options,
    store: &Store,
) -> Result<()> {
    // What the state knows of the board, before it is reached: its rules are ours even if it is gone.
    let known: Vec<Pushed> = match connector.reach(host, false) {
        Ok(()) => chosen(store.of(options.way, Some(connector.target())), options),
        Err(e) => {
            for pushed in chosen(store.of(options.way, Some(connector.target())), options) {
                if let Some(ports) = pushed.ports() {
                    let _ = connector.unforward(host, ports);
                }
            }
            let _ = connector.close(host);
            return Err(e);
        }
    };
    host.step("ending the forwarding");
    let named =
        options.port.map(|here| Ports { here, there: options.board_port.unwrap_or(super::options::PORT) });
    let rules: Vec<Ports> = known.iter().filter_map(Pushed::ports).chain(named).collect();
    if rules.is_empty() {
        host.note("no forwarding of an earlier push is known; --port N ends that of port N");
    }
    for ports in rules {
        connector.unforward(host, ports)?;
    }
    host.step("ending the agent, removing its files");
    let mut dirs: Vec<String> = known.iter().map(|p| p.dir.clone()).collect();
    if dirs.is_empty() {
        dirs.push(options.dir.clone().unwrap_or_else(|| connector.default_dir().to_owned()));
    }
    let board = Board::reached(host, connector)?;
    for dir in dirs {
        let files = Files { dir };
        if known.is_empty() && !options.replace && !host.dry && serve::is_there(&board, &files)? {
            return Err(foreign(options, &board, &files));
        }
        serve::stop(&board, &files, "TERM")?;
        serve::remove(&board, &files)?;
    }
    if !host.dry {
        for pushed in &known {
            store.remove(pushed)?;
        }
    }
    if store.of(options.way, Some(connector.target())).is_empty() || host.dry {
        connector.close(host)?;
    }
    Ok(())
}

/// The error for an agent that no push of this computer is known to have made.
fn foreign(options: &Options, board: &Board<'_>, files: &Files) -> Diagnostic {
    let (way, target) = (options.way.name(), board.connector.target());
    Diagnostic::new(
        format!("looking at the agent in {} on the board", files.dir),
        "no push of this user and computer made it",
        format!(
            "stop it where it was pushed from. `analyze push {way} {target} --stop --replace` ends it, a capture in progress too, and removes              its files, a recording that was not fetched too"
        ),
    )
}

/// Those of the named folder and port, if they are named.
fn chosen(mut all: Vec<Pushed>, options: &Options) -> Vec<Pushed> {
    all.retain(|p| options.dir.as_ref().is_none_or(|dir| *dir == p.dir));
    all.retain(|p| options.port.is_none_or(|port| p.port.is_none_or(|own| own == port)));
    all
}
