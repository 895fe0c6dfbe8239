//! `--file`: records on the board, without a port, and fetches the recording.
//!
//! The agent runs detached from the connection, so that neither an engine that keeps the
//! connection's pipe nor a broken connection holds or ends anything. Its log and its exit status are
//! read once per second.

use std::io::{self, Write};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::agent::{self, Files};
use super::board::Board;
use super::run::Answer;
use super::{serve, wait};
use crate::capture::interrupts;
use crate::{Diagnostic, Result};

/// Between two looks at the log.
const STEP: Duration = Duration::from_secs(1);
/// How long a broken connection is tried again.
const ABSENCE: Duration = Duration::from_secs(60);
/// Looks until an agent that is gone without an exit status counts as killed.
const LOOKS: u32 = 3;
/// The exit status of a killed agent.
const KILLED: i32 = 137;

/// Begins a recording.
pub(super) fn start(board: &Board<'_>, files: &Files, profile: &str, arguments: &[String]) -> Result<()> {
    let (dir, log) = (&files.dir, serve::log_name());
    let quoting = board.quoting();
    let inner = format!(
        "./profinfer-agent record --board {profile} --out profinfer-agent.pfi {} & p=$!; echo $p >profinfer-agent.pid; \
         wait $p; echo $? >profinfer-agent.status",
        quoting.line(arguments)
    );
    let answer = board.as_root(&format!(
        "cd {dir} && rm -f profinfer-agent.status profinfer-agent.pid profinfer-agent.pfi && {{ {} sh -c {} </dev/null >{log} 2>&1 & \
         i=0; until [ -s profinfer-agent.pid ]; do [ $((i+=1)) -lt 30 ] || exit 1; sleep 0.2; done; }}",
        serve::DETACHED,
        quoting.word(&inner)
    ))?;
    if answer.ok() {
        Ok(())
    } else {
        Err(answer.error("starting the agent", format!("read its log on the board: {dir}/{log}")))
    }
}

/// One look at the recording.
#[derive(Debug, PartialEq, Eq)]
struct Look {
    /// New text of the log.
    text: String,
    /// Bytes of the log so far.
    read: u64,
    alive: bool,
    status: Option<i32>,
}

const MARK: &str = "profinfer-record:";

/// The shell line for a look. The exit status is read before the log, so that no line is missed.
fn look_line(files: &Files, read: u64) -> String {
    format!(
        "cd {}; s=$(cat profinfer-agent.status 2>/dev/null); p=$(cat profinfer-agent.pid 2>/dev/null); \
         a=0; [ ! -d /proc/$p/fd ] || a=1; f=$(ls -r profinfer-agent.*.log 2>/dev/null | head -n 1); \
         n=$(cat $f </dev/null 2>/dev/null | wc -c); head -c $n $f </dev/null | tail -c +{}; echo; echo {MARK}$n:$a:$s",
        files.dir,
        read + 1
    )
}

fn look(answer: &Answer) -> Option<Look> {
    let (text, rest) = answer.text.rsplit_once(MARK)?;
    let mut fields = rest.lines().next()?.split(':').map(str::trim);
    let read = fields.next()?.parse().ok()?;
    let alive = fields.next()? == "1";
    let status = fields.next().and_then(|s| s.parse().ok());
    Some(Look { text: text.strip_suffix('\n').unwrap_or(text).to_owned(), read, alive, status })
}

/// Shows the agent's output until it ends. The first Ctrl-C ends it and the program that it started;
/// the second leaves it running. Returns its exit status.
pub(super) fn follow(board: &mut Board<'_>, files: &Files) -> Result<i32> {
    let (mut read, mut gone, mut stopped) = (0, 0, false);
    let mut broken: Option<Instant> = None;
    board.host.note("showing the agent's output; Ctrl-C ends the recording");
    loop {
        match interrupts::asked() {
            0 => {}
            1 if stopped => {}
            1 => {
                board.host.note("stopping; press Ctrl-C again to leave it running on the board");
                serve::stop(board, files, "INT")?;
                stopped = true;
            }
            _ => {
                return Err(Diagnostic::new(
                    "recording on the board",
                    "interrupted twice; the recording may go on",
                    "fetch it later with --resume --file, or end it with --stop",
                ));
            }
        }
        match board.as_root_repeated(&look_line(files, read)).map(|answer| look(&answer)) {
            Ok(Some(look)) => {
                broken = None;
                read = look.read;
                print(&look.text);
                if let Some(status) = look.status {
                    return Ok(status);
                }
                gone = if look.alive { 0 } else { gone + 1 };
            }
            Ok(None) => gone += 1,
            Err(e) => {
                let since = *broken.get_or_insert_with(Instant::now);
                if since.elapsed() >= ABSENCE {
                    let help = "the recording goes on on the board: fetch it with --resume --file when the board can be reached";
                    return Err(Diagnostic::new(e.tried, e.answer, help));
                }
                board.host.note("the connection broke; the recording goes on on the board. Connecting again");
                let _ = board.reach_again();
            }
        }
        if gone >= LOOKS {
            return Ok(KILLED);
        }
        sleep(STEP);
    }
}

/// Text of the agent and its engine: shown as it is, without sequences that a terminal would obey.
fn print(text: &str) {
    for line in text.lines() {
        let line: String = line.chars().filter(|c| !c.is_control() || *c == '\t').collect();
        let _ = writeln!(io::stderr(), "    {line}");
    }
}

/// Fetches the recording, checks it, and removes it from the board.
pub(super) fn fetch(board: &Board<'_>, files: &Files, out: &Path, status: i32) -> Result<()> {
    let there = files.recording();
    let bytes = board.there(&format!("wc -c <{there}"))?;
    let limit = wait::for_bytes(board.host.limit(), bytes.word().parse().unwrap_or(0));
    let fetched = if bytes.ok() { board.connector.get(board.host, &there, out, limit)? } else { bytes };
    if !fetched.ok() {
        let tried = format!("fetching the recording (the agent's exit status: {status})");
        return Err(fetched.error(tried, "read the agent's messages above"));
    }
    if !board.host.dry && !agent::is_same(board, out, &there, true)? {
        return Err(Diagnostic::new(
            format!("checking the copy {}", out.display()),
            "it differs from the recording on the board",
            "the original is still there: fetch it again with --resume --file",
        ));
    }
    let pid = format!("{}.pid", files.agent());
    board.as_root(&format!("rm -f {there} {pid} {}.status", files.agent()))?;
    if status != 0 {
        board.host.note(&format!("the exit status on the board was {status}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{Answer, Files, look, look_line};

    /// The line in a real shell, on a folder as the agent leaves it.
    #[test]
    fn looks_at_a_recording() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = Files { dir: folder.path().display().to_string() };
        let at = |read| {
            let output =
                Command::new("sh").args(["-c", &look_line(&files, read)]).output().expect("there is a sh");
            look(&Answer::new(&output.stdout, 0)).expect("a look")
        };
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("written");
        let empty = at(0);
        assert_eq!((empty.read, empty.alive, empty.status), (0, false, None));
        write("profinfer-agent.100.log", "of an earlier agent\n");
        write("profinfer-agent.200.log", "first\nsecond\n");
        write("profinfer-agent.pid", &std::process::id().to_string());
        let first = at(0);
        assert_eq!(
            (first.text.trim_end(), first.read, first.alive, first.status),
            ("first\nsecond", 13, true, None)
        );
        write("profinfer-agent.200.log", "first\nsecond\nthird\n");
        write("profinfer-agent.status", "3\n");
        let last = at(13);
        assert_eq!((last.text.trim_end(), last.read, last.status), ("third", 19, Some(3)));
        assert_eq!(look(&Answer::default()), None);
    }
}
