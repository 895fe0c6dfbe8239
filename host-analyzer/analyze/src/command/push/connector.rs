//! The three ways to a board, as `push` uses them.

use std::path::Path;

use super::run::{Answer, Call, Host};
use super::state::{Ports, Pushed};
use crate::shell::{Quoting, shown};
use crate::{Diagnostic, Result};

/// Who uses a port of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Forwarding {
    /// No rule of the connector.
    None,
    /// It is forwarded as requested already.
    Ours,
    /// The connector forwards it to another board or port, in words.
    Taken(String),
}

pub(super) trait Connector {
    /// The folder for the agent if none is named.
    fn default_dir(&self) -> &'static str;

    /// Connects to the board, and checks that it answers. With `again`, replaces a connection that
    /// seems to exist and does not answer.
    fn reach(&mut self, host: &Host, again: bool) -> Result<()>;

    /// Name of the board, once it is reached.
    fn target(&self) -> &str;

    /// Its network address, if the connection is by network.
    fn address(&self) -> Option<String>;

    fn quoting(&self) -> Quoting {
        Quoting::Intact
    }

    /// The words that run a line in a shell of the board.
    fn shell(&self, line: &str) -> Vec<String>;

    /// Makes commands run as root. Returns the words that this needs before each.
    fn become_root(&mut self, host: &Host) -> Result<Vec<&'static str>>;

    /// Copies a file to the board. The answer's status is not 0 if that failed.
    fn put(&self, host: &Host, from: &Path, to: &str, limit: std::time::Duration) -> Result<Answer>;

    /// Copies a file from the board.
    fn get(&self, host: &Host, from: &str, to: &Path, limit: std::time::Duration) -> Result<Answer>;

    fn forwarding(&self, host: &Host, ports: Ports) -> Result<Forwarding>;

    fn forward(&mut self, host: &Host, ports: Ports) -> Result<Answer>;

    /// Removes a rule that [`Self::forward`] made.
    fn unforward(&mut self, host: &Host, ports: Ports) -> Result<()>;

    /// Adds to the record of a push what the connection needs next time.
    fn remember(&self, _pushed: &mut Pushed) {}

    /// Ends the connection, if it is only for this program.
    fn close(&mut self, host: &Host) -> Result<()>;
}

/// hdc and old versions of adb do not return the exit status, so the board prints it.
const MARK: &str = "profinfer-status:";

/// A line in a shell of the board, and how it runs.
pub(super) struct Line<'a> {
    text: &'a str,
    quiet: bool,
    apart: bool,
}

impl<'a> Line<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, quiet: false, apart: false }
    }

    /// Repeated, so it is not shown.
    pub(super) fn repeated(self) -> Self {
        Self { quiet: true, apart: true, ..self }
    }

    /// Runs it. Its exit status is that of the answer.
    ///
    /// # Errors
    /// If the connection ends before the answer does.
    pub(super) fn run(self, host: &Host, connector: &dyn Connector) -> Result<Answer> {
        if !self.quiet {
            host.show(&shown(connector.shell(self.text)));
        }
        let marked = connector.shell(&format!("({}); echo {MARK}$?", self.text));
        let call = Call::new(marked).quiet();
        let answer = host.run(&if self.apart { call.apart() } else { call })?;
        if host.dry { Ok(answer) } else { status(answer) }
    }
}

/// Takes the board's status out of the answer. The board's standard error may come after it.
fn status(answer: Answer) -> Result<Answer> {
    let found = answer.text.rfind(MARK).and_then(|at| {
        let (before, after) = (&answer.text[..at], &answer.text[at + MARK.len()..]);
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        let status = after[..end].parse().ok()?;
        Some((format!("{before}{}", after[end..].trim_start_matches('\n')), status))
    });
    match found {
        Some((text, status)) => Ok(Answer::new(text.as_bytes(), status)),
        None => Err(broken(&answer)),
    }
}

fn broken(answer: &Answer) -> Diagnostic {
    answer.error(
        "waiting for the board's answer to a command",
        "the connection ended: check that the board is up, and run this again; it does only what is missing",
    )
}

/// Runs a line in a shell of the board.
pub(super) fn there(host: &Host, connector: &dyn Connector, line: &str) -> Result<Answer> {
    Line::new(line).run(host, connector)
}

#[cfg(test)]
mod tests {
    use super::{Answer, status};

    #[test]
    fn the_status_of_the_board() {
        let of = |text: &str| status(Answer::new(text.as_bytes(), 0)).map(|a| (a.text, a.status)).ok();
        assert_eq!(of("profinfer-status:0"), Some((String::new(), 0)));
        assert_eq!(of("out\nprofinfer-status:127\n"), Some(("out".to_owned(), 127)));
        // Without a newline before it, and with an error after it.
        assert_eq!(of("0profinfer-status:1\nsh: id: not found"), Some(("0sh: id: not found".to_owned(), 1)));
        assert_eq!(of("out"), None);
        assert_eq!(of("profinfer-status:"), None);
        assert_eq!(of(""), None);
    }
}
