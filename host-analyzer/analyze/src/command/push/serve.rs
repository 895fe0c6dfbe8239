//! The agent's process on the board.

use std::time::{SystemTime, UNIX_EPOCH};

use super::agent::Files;
use super::board::Board;
use crate::{Diagnostic, Result};

/// Sets `p` to the process of the agent that an earlier push started, or ends with status 0.
/// Ends with status 3 where there is none, if `absent` is that.
fn process(files: &Files, absent: u8) -> String {
    let dir = &files.dir;
    format!(
        "cd {dir} 2>/dev/null && p=$(cat profinfer-agent.pid 2>/dev/null) && \
         grep -q profinfer-agent /proc/$p/comm 2>/dev/null || exit {absent}"
    )
}

/// Sets `t` to all descendants of `p`. Lines for boards have no double quotes: hdc removes them.
const DESCENDANTS: &str = "t=; l=$p; while :; do n=; for q in $l; do \
    n=$n\\ $(grep -lE '^PPid:.'$q'$' /proc/[0-9]*/status 2>/dev/null | sed 's|/proc/||;s|/status||'); done; \
    case $n in *[0-9]*) t=$t\\ $n; l=$n ;; *) break ;; esac; done";

/// Ends the agent `p`, which writes its last records first, then what it started.
fn end(signal: &str) -> String {
    let wait = |process: &str, times: u32| {
        format!("while [ -d /proc/{process} ] && [ $((i+=1)) -lt {times} ]; do sleep 0.5; done")
    };
    format!(
        "{DESCENDANTS}; kill -{signal} $p; i=0; {}; [ ! -d /proc/$p ] || kill -KILL $p; \
         for q in $t; do kill -TERM $q 2>/dev/null; done; i=0; \
         for q in $t; do {}; [ ! -d /proc/$q ] || kill -KILL $q 2>/dev/null; done; true",
        wait("$p", 24),
        wait("$q", 10)
    )
}

/// What the agent of an earlier push does now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Doing {
    /// It does not run.
    Nothing,
    /// It waits for a host.
    Waiting,
    /// It traces, or waits for the engine.
    Capturing,
}

/// The agent loads its BPF programs when a capture begins, and drops them at its end.
pub(super) fn doing(board: &Board<'_>, files: &Files) -> Result<Doing> {
    let line =
        format!("{}; ls -l /proc/$p/fd 2>/dev/null | grep -q bpf && exit 4; exit 5", process(files, 3));
    Ok(match board.as_root(&line)?.status {
        4 => Doing::Capturing,
        5 => Doing::Waiting,
        _ => Doing::Nothing,
    })
}

/// Whether the folder has an agent, running or not.
pub(super) fn is_there(board: &Board<'_>, files: &Files) -> Result<bool> {
    Ok(board.as_root(&format!("[ -e {} ]", files.agent()))?.ok())
}

/// Ends the agent of an earlier push with this signal, and the program that it started.
pub(super) fn stop(board: &Board<'_>, files: &Files, signal: &str) -> Result<()> {
    let answer = board.as_root(&format!("{}; {}", process(files, 0), end(signal)))?;
    if answer.ok() {
        return Ok(());
    }
    Err(answer.error("ending the agent that runs on the board", "examine it there: ps | grep profinfer"))
}

/// The name of the log of an agent that starts now. An engine of an earlier agent may still write to
/// the log of that.
pub(super) fn log_name() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    format!("profinfer-agent.{}.log", now.as_secs())
}

/// What outlives the connection: not every board has setsid.
pub(super) const DETACHED: &str = "$(command -v setsid || command -v nohup)";

/// Starts the agent, detached from the connection, and waits until it listens.
pub(super) fn start(
    board: &Board<'_>,
    files: &Files,
    listen: &str,
    port: u16,
    arguments: &[String],
) -> Result<()> {
    let (dir, log) = (&files.dir, log_name());
    let arguments: String = arguments.iter().map(|word| format!(" {}", board.quoting().word(word))).collect();
    let started = board.as_root(&format!(
        "cd {dir}; rm -f profinfer-agent.port; {DETACHED} ./profinfer-agent serve --listen {listen} --port-file profinfer-agent.port{arguments} \
         </dev/null >{log} 2>&1 & echo $! >{dir}/profinfer-agent.pid"
    ))?;
    if !started.ok() {
        return Err(started.error("starting the agent", "read the answer; try it on the board by hand"));
    }
    let answer = board.as_root(&format!(
        "cd {dir}; i=0; until [ -f profinfer-agent.port ]; do \
         [ -d /proc/$(cat profinfer-agent.pid) ] && [ $((i+=1)) -lt 30 ] || {{ cat {log}; exit 1; }}; sleep 0.3; done"
    ))?;
    if answer.ok() {
        return Ok(());
    }
    // strerror of glibc and musl, which the agent passes on
    if answer.says("ddress already in use") || answer.says("ddress in use") {
        return Err(answer.error(
            format!("listening at port {port} of the board"),
            "an agent that was pushed in another way, or to another folder, has it? End it in the same way with --stop. \
             Else choose another port there: --board-port N",
        ));
    }
    Err(answer.error("starting the agent", format!("read its log on the board: {dir}/{log}")))
}

/// Removes everything of the agent from the board, and the folder if `push` made it.
pub(super) fn remove(board: &Board<'_>, files: &Files) -> Result<()> {
    let dir = &files.dir;
    let parts = ["", ".new", ".pid", ".port", ".status", ".pfi", ".key", ".*.log"];
    let paths: Vec<String> = parts.iter().map(|part| format!("{}{part}", files.agent())).collect();
    let removed = board.as_root(&format!("rm -f {}", paths.join(" ")))?;
    if !removed.ok() {
        return Err(
            removed.error("removing the agent's files", format!("by hand: rm {dir}/profinfer-agent*"))
        );
    }
    // Folders of the system stay.
    if dir.ends_with("/profinfer") && !board.as_root(&format!("[ ! -d {dir} ] || rmdir {dir}"))?.ok() {
        board.host.note(&format!("{dir} is not empty, so it stays"));
    }
    Ok(())
}

/// The error for a capture that only --replace may end.
pub(super) fn in_progress(way: &str, target: &str) -> Diagnostic {
    Diagnostic::new(
        "looking at the agent that runs on the board",
        "a capture is in progress",
        format!(
            "wait for its end. If its connection broke: analyze push {way} {target} --resume continues it. --replace ends it, and the engine that the agent started"
        ),
    )
}
