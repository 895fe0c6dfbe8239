//! Runs programs of this machine, and shows each as a person would type it.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{self, Child, Command, Stdio};
use std::time::Duration;

use super::wait;
use crate::shell::shown;
use crate::{Diagnostic, Result, system};

/// Lines of an answer that an error shows: the last ones.
const LINES: usize = 5;

pub(super) struct Host {
    pub(super) dry: bool,
    /// Time limit of one call.
    limit: Duration,
    /// Number of the next answer's file.
    next: Cell<u32>,
}

/// What a program printed, and its exit status.
#[derive(Debug, Clone, Default)]
pub(super) struct Answer {
    pub(super) text: String,
    pub(super) status: i32,
}

/// A program to run.
pub(super) struct Call<'a> {
    words: Vec<String>,
    input: Option<&'a Path>,
    output: Option<&'a Path>,
    limit: Option<Duration>,
    shown: bool,
    apart: bool,
}

impl<'a> Call<'a> {
    pub(super) fn new<W: Into<String>>(words: impl IntoIterator<Item = W>) -> Self {
        let words = words.into_iter().map(Into::into).collect();
        Self { words, input: None, output: None, limit: None, shown: true, apart: false }
    }

    /// Standard input comes from this file.
    pub(super) fn input(self, path: &'a Path) -> Self {
        Self { input: Some(path), ..self }
    }

    /// Standard output goes to this file, and only standard error to the answer.
    pub(super) fn output(self, path: &'a Path) -> Self {
        Self { output: Some(path), ..self }
    }

    pub(super) fn limit(self, limit: Duration) -> Self {
        Self { limit: Some(limit), ..self }
    }

    /// Does not show the command: it asks only, or it is repeated.
    pub(super) fn quiet(self) -> Self {
        Self { shown: false, ..self }
    }

    /// Keeps Ctrl-C from the program.
    pub(super) fn apart(self) -> Self {
        Self { apart: true, ..self }
    }

    fn text(&self) -> String {
        let mut text = shown(&self.words);
        for (sign, path) in [('<', self.input), ('>', self.output)] {
            if let Some(path) = path {
                text.push_str(&format!(" {sign}{}", shown([path.to_string_lossy()])));
            }
        }
        text
    }
}

impl Host {
    pub(super) fn new(dry: bool, limit: Duration) -> Self {
        Self { dry, limit, next: Cell::new(0) }
    }

    pub(super) fn limit(&self) -> Duration {
        self.limit
    }

    /// Prints a step.
    pub(super) fn step(&self, text: &str) {
        let _ = writeln!(io::stderr(), "==> {text}");
    }

    pub(super) fn note(&self, text: &str) {
        let _ = writeln!(io::stderr(), "    {text}");
    }

    pub(super) fn show(&self, command: &str) {
        let _ = writeln!(io::stderr(), "  $ {command}");
    }

    /// Runs a program to its end. Its exit status is part of the answer.
    ///
    /// # Errors
    /// If it cannot be started, or does not end in time.
    pub(super) fn run(&self, call: &Call<'_>) -> Result<Answer> {
        if call.shown {
            self.show(&call.text());
        }
        if self.dry {
            return Ok(Answer::default());
        }
        let kept = Kept::new(self.next.replace(self.next.get() + 1));
        let mut child = start(call, &kept).map_err(|e| not_started(call, &e))?;
        let limit = call.limit.unwrap_or(self.limit);
        let name = call.words.first().map_or("", String::as_str);
        let status = wait::within(&mut child, limit, |elapsed| {
            let (elapsed, limit) = (elapsed.as_secs(), limit.as_secs());
            self.note(&format!("waiting for {name} ({elapsed} s; at most {limit} s)"));
        });
        match status.map_err(|e| not_started(call, &e))? {
            Some(status) => Ok(Answer::new(&kept.read(), status.code().unwrap_or(-1))),
            None => Err(Diagnostic::new(
                format!("running `{}`", call.text()),
                format!("no answer within {} s", limit.as_secs()),
                "check that the board is on and connected, and run this again; a slow connection needs --timeout SECONDS",
            )),
        }
    }

    /// Starts a program that outlives this one, and returns its process.
    pub(super) fn leave(&self, call: &Call<'_>) -> Result<u32> {
        self.show(&call.text());
        if self.dry {
            return Ok(0);
        }
        let mut command = Command::new(&call.words[0]);
        command.args(&call.words[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        system::apart(&mut command);
        command.spawn().map(|child| child.id()).map_err(|e| not_started(call, &e))
    }
}

fn start(call: &Call<'_>, kept: &Kept) -> io::Result<Child> {
    let answer = File::create_new(&kept.0)?;
    let mut command = Command::new(&call.words[0]);
    command.args(&call.words[1..]).stderr(answer.try_clone()?);
    match call.output {
        Some(path) => command.stdout(File::create(path)?),
        None => command.stdout(answer),
    };
    match call.input {
        Some(path) => command.stdin(File::open(path)?),
        None => command.stdin(Stdio::null()),
    };
    if call.apart {
        system::apart(&mut command);
    }
    command.spawn()
}

fn not_started(call: &Call<'_>, e: &io::Error) -> Diagnostic {
    let help = match (call.words[0].as_str(), e.kind()) {
        ("ssh", io::ErrorKind::NotFound) => "install the OpenSSH client",
        ("adb", io::ErrorKind::NotFound) => {
            "install adb (Debian: apt-get install adb; others: the platform tools of Android's SDK) and put it into PATH"
        }
        ("hdc", io::ErrorKind::NotFound) => {
            "put the folder `toolchains` of the OpenHarmony SDK's command line tools into PATH; no package of a system has hdc"
        }
        _ => "check that it is in PATH, and that the files in the command can be read and written",
    };
    Diagnostic::new(format!("running `{}`", call.text()), e, help)
}

/// The file of an answer. A pipe would do, but hdc loses what it writes to one in large pieces.
struct Kept(PathBuf);

impl Kept {
    fn new(number: u32) -> Self {
        Self(std::env::temp_dir().join(format!("profinfer-push.{}.{number}", process::id())))
    }

    fn read(&self) -> Vec<u8> {
        fs::read(&self.0).unwrap_or_default()
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Answer {
    pub(super) fn new(bytes: &[u8], status: i32) -> Self {
        // Terminals and hdc for Windows end lines with CR LF.
        let text = String::from_utf8_lossy(bytes).replace(['\r', '\0'], "");
        Self { text: text.trim_end_matches('\n').to_owned(), status }
    }

    pub(super) fn ok(&self) -> bool {
        self.status == 0
    }

    pub(super) fn says(&self, part: &str) -> bool {
        self.text.contains(part)
    }

    /// The first word.
    pub(super) fn word(&self) -> &str {
        self.text.split_whitespace().next().unwrap_or_default()
    }

    /// The error with this answer.
    pub(super) fn error(&self, tried: impl Into<String>, help: impl Into<String>) -> Diagnostic {
        let lines: Vec<&str> = self.text.lines().map(str::trim).filter(|l| !l.is_empty()).collect();
        let last = lines[lines.len().saturating_sub(LINES)..].join("; ");
        let answer = if last.is_empty() { format!("nothing (exit status {})", self.status) } else { last };
        Diagnostic::new(tried, answer, help)
    }
}

#[cfg(test)]
mod tests {
    use super::{Answer, Call, Host};
    use std::time::Duration;

    #[test]
    fn answers() {
        let host = Host::new(false, Duration::from_secs(20));
        let answer = host.run(&Call::new(["sh", "-c", "echo out; echo err >&2; exit 3"])).expect("it runs");
        assert_eq!((answer.text.as_str(), answer.status, answer.ok()), ("out\nerr", 3, false));
        let e = answer.error("trying", "do this").to_string();
        assert_eq!(e, "trying: out; err\n  help: do this");
        assert_eq!(Answer::default().error("a", "b").answer, "nothing (exit status 0)");
        assert_eq!(Answer::new(b"a\r\nb\0\r\n", 0).text, "a\nb");
    }

    #[test]
    fn time_limits_and_missing_programs() {
        let host = Host::new(false, Duration::from_millis(50));
        let e = host.run(&Call::new(["sleep", "60"])).expect_err("it takes too long");
        assert!(e.tried.contains("sleep 60") && e.answer.contains("no answer within"), "{e}");
        let e = host.run(&Call::new(["no-such-program"])).expect_err("there is none");
        assert!(e.tried.contains("no-such-program"), "{e}");
    }

    #[test]
    fn nothing_runs_dry() {
        let host = Host::new(true, Duration::from_secs(1));
        assert!(host.run(&Call::new(["no-such-program"])).expect("it does not run").ok());
    }
}
