//! `analyze push`: puts the agent on a board, starts it there, and forwards its port.
//!
//! ```text
//! options ─▶ connector (ssh, adb, hdc) ─▶ board ─▶ agent ─▶ serve ─▶ forward
//!                                                        └▶ record ─▶ FILE
//! state: what each push made, for --stop and --resume
//! ```
//! Every command is shown before it runs, every call has a time limit (`wait`), and a second push
//! does only what is missing. What differs between systems of the host is in `crate::system`.

mod adb;
mod agent;
mod board;
mod connector;
mod forward;
mod hdc;
mod key;
mod options;
mod record;
mod run;
mod serve;
mod ssh;
mod state;
mod stop;
mod wait;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

pub(crate) use agent::here as agent_here;
pub(crate) use options::Options;

use crate::capture::interrupts;
use crate::command::boards;
use crate::shell::shown;
use crate::{Diagnostic, Result};
use agent::Files;
use board::Board;
use connector::Connector;
use options::Way;
use run::Host;
use serve::Doing;
use state::{Pushed, Store};

pub(crate) fn push(options: &Options) -> Result<ExitCode> {
    let host = Host::new(options.dry_run, Duration::from_secs(options.timeout));
    let store = Store::of_user();
    check(options)?;
    let target =
        if options.stop || options.resume { stop::target(options, &store)? } else { options.target.clone() };
    let mut connector: Box<dyn Connector> = match options.way {
        Way::Ssh => Box::new(ssh::Ssh::new(target.as_deref(), options.ssh_words(), &store)?),
        Way::Adb => Box::new(adb::Adb::new(target.as_deref())),
        Way::Hdc => Box::new(hdc::Hdc::new(target.as_deref(), store.clone())),
    };
    let connector = connector.as_mut();
    if options.stop {
        return stop::stop(&host, connector, options, &store).map(|()| ExitCode::SUCCESS);
    }
    let result = put(&host, connector, options, &store);
    // A connection that forwards nothing is of no use after this program.
    if store.of(options.way, Some(connector.target())).iter().all(|p| p.port.is_none()) && !host.dry {
        connector.close(&host)?;
    }
    result
}

/// What the command line alone decides, before anything is touched.
fn check(options: &Options) -> Result<()> {
    if !options.file {
        return Ok(());
    }
    if options.what.is_empty() && !options.resume {
        return Err(Diagnostic::new(
            "recording to a file",
            "there is nothing to record",
            format!("analyze push {} … --file -- COMMAND, or -- --name 'llama*'", options.way.name()),
        ));
    }
    let parent = options.out.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let usable = parent.metadata().is_ok_and(|m| m.is_dir() && !m.permissions().readonly());
    if usable {
        return Ok(());
    }
    Err(Diagnostic::new(
        format!("writing {}", options.out.display()),
        format!("there is no folder {} that can be written to", parent.display()),
        "choose another place for the recording: --out FILE",
    ))
}

fn put(host: &Host, connector: &mut dyn Connector, options: &Options, store: &Store) -> Result<ExitCode> {
    host.step("checking the board");
    let dir = options.dir.clone().unwrap_or_else(|| connector.default_dir().to_owned());
    let mut board = Board::reach(host, connector, options.resume)?;
    let files = Files { dir };
    let mut earlier = store.of(options.way, Some(board.connector.target()));
    earlier.retain(|p| p.dir == files.dir);
    let earlier = earlier.pop();
    let machine = board.look(&boards::catalog(None)?)?;
    let doing = serve::doing(&board, &files)?;
    if options.resume {
        return resume(&mut board, &files, &machine.profile, doing, earlier, options, store);
    }
    if doing == Doing::Capturing && !options.replace && !host.dry {
        return Err(serve::in_progress(options.way.name(), board.connector.target()));
    }
    let ports = state::ports(options, earlier.as_ref());
    let forwards = !options.file && options.key.is_none();
    let forwarded = forwards && forward::check(&board, ports)?;
    let address = options.key.as_ref().map(|_| address(&board, options)).transpose()?;
    host.step("copying the agent");
    let agent = agent::find(options.agent.as_ref(), machine.kind, host.dry)?;
    agent::copy(&board, &agent, &files)?;
    agent::try_it(&board, &files)?;
    serve::stop(&board, &files, "TERM")?;
    let arguments = options.agent_arguments();
    let mut pushed = Pushed {
        way: options.way.name().to_owned(),
        target: board.connector.target().to_owned(),
        dir: files.dir.clone(),
        port: earlier.as_ref().and_then(|p| p.port),
        board_port: earlier.as_ref().map_or(ports.there, |p| p.board_port),
        tunnel: None,
        ssh_options: Vec::new(),
    };
    board.connector.remember(&mut pushed);
    keep(&pushed, host, store)?;
    if options.file {
        interrupts::count()?;
        host.step("recording");
        record::start(&board, &files, &machine.profile, &arguments)?;
        return recorded(&mut board, &files, options);
    }
    if let (Some(key), Some(address)) = (&options.key, address) {
        host.step("sharing the key");
        key::make(host, key, &address)?;
        key::copy(&board, key, &files)?;
        host.step("starting the agent");
        let listen = format!("tcp:0.0.0.0:{} --key {}", ports.there, files.key());
        serve::start(&board, &files, &listen, ports.there, &arguments)?;
        forward::answers(&board, &address, ports.there)?;
        let key = shown([key.display().to_string()]);
        return Ok(next(
            host,
            &format!("--board {} --key {key} tcp:{address}:{}", machine.profile, ports.there),
        ));
    }
    host.step("starting the agent");
    serve::start(&board, &files, &format!("tcp:127.0.0.1:{}", ports.there), ports.there, &arguments)?;
    host.step("forwarding the port");
    if let Some(old) = earlier.and_then(|p| p.ports()).filter(|old| *old != ports) {
        board.connector.unforward(host, old)?;
    }
    // Kept before the rule is made: a rule without a record would stay.
    (pushed.port, pushed.board_port) = (Some(ports.here), ports.there);
    keep(&pushed, host, store)?;
    let made = forward::forward(&mut board, ports, forwarded);
    board.connector.remember(&mut pushed);
    if made.is_err() {
        pushed.port = None;
    }
    keep(&pushed, host, store)?;
    made?;
    Ok(next(host, &format!("--board {} tcp:127.0.0.1:{}", machine.profile, ports.here)))
}

fn keep(pushed: &Pushed, host: &Host, store: &Store) -> Result<()> {
    if host.dry { Ok(()) } else { store.put(pushed) }
}

/// Makes connection and forwarding again. The agent runs on, and its session with it.
fn resume(
    board: &mut Board<'_>,
    files: &Files,
    profile: &str,
    doing: Doing,
    earlier: Option<Pushed>,
    options: &Options,
    store: &Store,
) -> Result<ExitCode> {
    let host = board.host;
    if options.file {
        interrupts::count()?;
        host.step("recording");
        return recorded(board, files, options);
    }
    if doing == Doing::Nothing && !host.dry {
        return Err(Diagnostic::new(
            format!("looking for the agent in {} on the board", files.dir),
            "it does not run",
            "start it: the same command without --resume",
        ));
    }
    if earlier.as_ref().is_some_and(|p| p.port.is_none()) && options.port.is_none() {
        return Err(Diagnostic::new(
            format!("connecting again to the agent in {}", files.dir),
            "the last push forwarded no port",
            "with --key, analyze connects again by itself; a recording is fetched with --resume --file",
        ));
    }
    host.step("forwarding the port");
    let ports = state::ports(options, earlier.as_ref());
    let forwarded = forward::check(board, ports)?;
    forward::forward(board, ports, forwarded)?;
    let target = board.connector.target().to_owned();
    let mut pushed = Pushed {
        way: options.way.name().to_owned(),
        target,
        dir: files.dir.clone(),
        port: Some(ports.here),
        board_port: ports.there,
        tunnel: None,
        ssh_options: Vec::new(),
    };
    board.connector.remember(&mut pushed);
    keep(&pushed, host, store)?;
    if doing == Doing::Capturing {
        host.note("a capture is in progress: the analyze that waits for it goes on");
    }
    Ok(next(host, &format!("--board {profile} tcp:127.0.0.1:{}", ports.here)))
}

/// Waits for the end of a recording on the board, and fetches it.
fn recorded(board: &mut Board<'_>, files: &Files, options: &Options) -> Result<ExitCode> {
    let status = if board.host.dry { 0 } else { record::follow(board, files)? };
    record::fetch(board, files, &options.out, status)?;
    if !board.host.dry {
        let _ = writeln!(io::stdout(), "analyze {}", shown([options.out.display().to_string()]));
    }
    Ok(ExitCode::from(u8::try_from(status).unwrap_or(1)))
}

/// The network address for --key.
fn address(board: &Board<'_>, options: &Options) -> Result<String> {
    options.address.clone().or_else(|| board.connector.address()).ok_or_else(|| {
        Diagnostic::new(
            "choosing the board's address in the network",
            "the connection is not by network",
            "name it: --address HOST",
        )
    })
}

/// Prints the command that captures.
fn next(host: &Host, arguments: &str) -> ExitCode {
    if !host.dry {
        host.step("ready; next:");
    }
    let _ = writeln!(io::stdout(), "analyze {arguments}");
    ExitCode::SUCCESS
}
