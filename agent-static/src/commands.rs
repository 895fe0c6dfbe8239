//! What each command does.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsFd;
use std::path::Path;

use crate::cli::{Command, Record, Serve};
use crate::counter::Counters;
use crate::error::{Diagnostic, Result};
use crate::host::read_plan;
use crate::inspect;
use crate::link::{Output, tcp};
use crate::plan::Plan;
use crate::session::{self, Summary};
use crate::signals::Signals;
use crate::target::process::Target;

/// Process name that is waited for when neither the host nor the command line names a target.
const DEFAULT_NAME: &str = "llama*";

/// Runs a command; the number is the exit status.
///
/// # Errors
/// The diagnostic to show.
pub fn run(command: &Command) -> Result<i32> {
    match command {
        Command::Serve(options) => serve(options),
        Command::Record(options) => record(options),
        Command::Engine { targets, tables } => inspect::engine(targets, tables == "all"),
    }
}

fn record(options: &Record) -> Result<i32> {
    let to_stdout = options.out == Path::new("-");
    let target = options.target.target(to_stdout).ok_or_else(|| {
        Diagnostic::new(
            "recording",
            "no process is named",
            "add --pid NUMBER, --name NAME, or `-- COMMAND` to start one",
        )
    })?;
    let tried = || format!("writing {}", options.out.display());
    let file = if to_stdout {
        std::io::stdout().as_fd().try_clone_to_owned().map(File::from)
    } else {
        File::create(&options.out)
    };
    let file = file.map_err(|e| Diagnostic::new(tried(), e, "choose another place with --out"))?;
    let plan = Plan {
        board: options.board.clone(),
        levels: options.levels,
        target: String::new(),
        counters: Counters::by_name(&options.counters),
    };
    let signals = Signals::new()?;
    let output = Output::file(file, options.out.display().to_string());
    let summary = session::run(&plan, &target, output, &signals);
    if summary.is_err() && !to_stdout {
        // A session that never began leaves no file behind that looks like a recording.
        remove_if_empty(&options.out);
    }
    let summary = summary?;
    tell(&format!("{}: {}", options.out.display(), summary.line()));
    Ok(status(&summary))
}

fn remove_if_empty(path: &Path) {
    const HELLO_AND_REFUSAL: u64 = 8192;
    if std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.len() < HELLO_AND_REFUSAL) {
        let _ = std::fs::remove_file(path);
    }
}

fn serve(options: &Serve) -> Result<i32> {
    let listener = tcp::listen(&options.listen)?;
    let signals = Signals::new()?;
    listener.set_nonblocking(true).map_err(|e| {
        Diagnostic::new(format!("listening at {}", options.listen), e, "choose another port with --listen")
    })?;
    let address = listener.local_addr().map_or_else(|_| options.listen.clone(), |a| format!("tcp:{a}"));
    tell(&format!("waiting for a host at {address}"));
    let own = options.target.target(false);
    let starts_program = matches!(own, Some(Target::Command { .. }));
    loop {
        signals.wait(listener.as_fd(), None);
        if signals.asked_to_end() {
            return Ok(0);
        }
        let Ok((mut socket, peer)) = listener.accept() else { continue };
        let plan =
            match socket.set_nonblocking(false).map_err(no_socket).and_then(|()| read_plan(&mut socket)) {
                Ok(plan) => plan,
                Err(e) => {
                    tell(&e.to_string());
                    continue;
                }
            };
        let target = own.clone().unwrap_or_else(|| {
            Target::Name(if plan.target.is_empty() { DEFAULT_NAME.to_owned() } else { plan.target.clone() })
        });
        tell(&format!("host {peer}: capturing"));
        let output = Output::tcp(socket, format!("the host at {peer}")).map_err(no_socket)?;
        let result = session::run(&plan, &target, output, &signals);
        match &result {
            Ok(summary) => tell(&format!("host {peer}: {}", summary.line())),
            Err(e) => tell(&format!("host {peer}: {e}")),
        }
        if options.once || starts_program || signals.asked_to_end() {
            return result.map(|s| status(&s));
        }
    }
}

fn no_socket(e: std::io::Error) -> Diagnostic {
    Diagnostic::new("speaking with the host", e, "connect again")
}

/// The agent ends like the program that it started.
fn status(summary: &Summary) -> i32 {
    summary.status.unwrap_or(0)
}

/// One line on standard error; standard output may carry the stream.
fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "profinfer-agent: {line}");
}
