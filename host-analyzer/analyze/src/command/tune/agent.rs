//! One run of an engine under the agent, on this machine or on another one through a prefix such as
//! `ssh root@BOARD`.
//!
//! Over the link, a host cannot name a command to run (ARCHITECTURE.md). So `analyze` reaches a
//! board as a person does: with a shell.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Stdio};

use super::candidate::Candidate;
use super::{Diagnostic, Result};
use crate::shell::Quoting;
use crate::{cli::Trials, diagnostic};
use profinfer_views::words::one_line;

/// Number of lines of a failed run's output that are shown.
const LINES: usize = 5;

pub(super) struct Recorder<'a> {
    trials: &'a Trials,
    agent: PathBuf,
    /// The command of the engine, for a shell.
    command: String,
}

impl<'a> Recorder<'a> {
    /// `words` is the command of the engine as given on the command line.
    pub(super) fn new(trials: &'a Trials, words: &[String]) -> Self {
        let mut command = match words {
            [line] => line.clone(),
            _ => Quoting::Intact.line(words),
        };
        if !command.contains("{threads}") {
            command.push_str(" -t {threads}");
        }
        Self { trials, agent: trials.agent.clone().unwrap_or_else(in_same_folder), command }
    }

    /// Number of CPUs of the machine that runs the engine.
    pub(super) fn cpus(&self) -> Result<u32> {
        let help = "give --threads 1,2,4";
        if self.trials.on.is_none() {
            let here = std::thread::available_parallelism();
            let here = here.map_err(|e| Diagnostic::new("counting the CPUs", e, help))?;
            return Ok(here.get().try_into().unwrap_or(u32::MAX));
        }
        let output = self.there("nproc").output();
        let output = output.map_err(|e| Diagnostic::new(format!("running `{}`", self.prefix()), e, help))?;
        let told = String::from_utf8_lossy(&output.stdout).trim().parse().ok();
        told.ok_or_else(|| {
            let said = one_line(&last_lines(&String::from_utf8_lossy(&output.stderr)));
            Diagnostic::new(format!("counting the CPUs with `{} nproc`", self.prefix()), said, help)
        })
    }

    /// The command for a setting.
    pub(super) fn command(&self, candidate: &Candidate) -> String {
        let bound = candidate.cpus.mask().map_or_else(String::new, |mask| format!("taskset {mask} "));
        bound + &self.command.replace("{threads}", &candidate.threads.to_string())
    }

    /// Records one run of a setting. The output of the agent and of the engine goes to a log next
    /// to the recording.
    pub(super) fn record(&self, candidate: &Candidate, file: &Path) -> Result<()> {
        let command = self.command(candidate);
        let log = file.with_extension("log");
        let create = |path: &Path| File::create(path).map_err(|e| diagnostic::unwritable(path.display(), e));
        let said = create(&log)?;
        let also = said.try_clone().map_err(|e| diagnostic::unwritable(log.display(), e))?;
        let mut run = match &self.trials.on {
            None => {
                let mut run = Command::new(&self.agent);
                run.args(["record", "--levels", &self.trials.levels, "--out"]).arg(file);
                run.args(["--", "sh", "-c", &format!("exec {command}")]).stdout(also);
                run
            }
            Some(_) => {
                let mut run = self.there(&self.script(&command));
                run.stdout(create(file)?);
                run
            }
        };
        let status = run.stdin(Stdio::null()).stderr(said).status().map_err(|e| self.not_started(e))?;
        if status.success() {
            return Ok(());
        }
        let text =
            fs::read(&log).map_or_else(|_| String::new(), |b| String::from_utf8_lossy(&b).into_owned());
        let lines = last_lines(&text);
        let answer = if lines.is_empty() { status.to_string() } else { format!("{status}\n{lines}") };
        let help = format!("run the command without analyze; its complete output is in {}", log.display());
        Err(Diagnostic::new(format!("recording a run of `{}`", one_line(&command)), answer, help))
    }

    /// Records to a file on the other machine first: a slow link must not slow the engine down.
    fn script(&self, command: &str) -> String {
        let word = |text: &str| Quoting::Intact.word(text);
        let (agent, levels) = (word(&self.agent.to_string_lossy()), word(&self.trials.levels));
        let run = word(&format!("exec {command}"));
        let file = format!("/tmp/profinfer-run.{}.pfi", process::id());
        format!(
            "{agent} record --levels {levels} --out {file} -- sh -c {run} >&2 </dev/null && cat {file}; s=$?; rm -f {file}; exit $s"
        )
    }

    fn prefix(&self) -> &str {
        self.trials.on.as_deref().unwrap_or_default()
    }

    /// A shell command on the other machine.
    fn there(&self, script: &str) -> Command {
        let mut words = self.prefix().split_whitespace();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).arg(script).stdin(Stdio::null());
        command
    }

    fn not_started(&self, e: io::Error) -> Diagnostic {
        match &self.trials.on {
            Some(prefix) => Diagnostic::new(
                format!("running `{prefix}`"),
                e,
                "give --on a prefix that runs a command on the other machine, for example 'ssh root@BOARD'",
            ),
            None => Diagnostic::new(
                format!("starting {}", self.agent.display()),
                e,
                "name the agent with --agent; scripts/build-agent.sh builds it",
            ),
        }
    }
}

/// The agent next to this program, else the one in PATH.
fn in_same_folder() -> PathBuf {
    const NAME: &str = "profinfer-agent";
    let own = std::env::current_exe().ok().map(|exe| exe.with_file_name(NAME));
    own.filter(|path| path.exists()).unwrap_or_else(|| NAME.into())
}

/// The last non-empty lines.
fn last_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().filter(|l| !l.trim().is_empty()).map(one_line).collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_shown() {
        assert_eq!(last_lines("a\n\n b\u{1b}[1m\nc\nd\ne\nf\n").lines().count(), LINES);
    }
}
