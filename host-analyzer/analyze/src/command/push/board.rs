//! The board at the other end: commands there, with the rights of root, and what it is.

use profinfer_boards::Catalog;

use super::connector::{Connector, Line, there};
use super::run::{Answer, Host};
use crate::Result;
use crate::shell::Quoting;

pub(super) struct Board<'a> {
    pub(super) host: &'a Host,
    pub(super) connector: &'a mut dyn Connector,
    /// The words before a command that make it root's; none if it is already.
    root: Vec<&'static str>,
}

/// Machine type, and the name of the profile.
pub(super) struct Machine {
    pub(super) kind: &'static str,
    pub(super) profile: String,
}

impl<'a> Board<'a> {
    /// Reaches the board and becomes root there. With `again`, a broken connection is replaced.
    pub(super) fn reach(host: &'a Host, connector: &'a mut dyn Connector, again: bool) -> Result<Self> {
        connector.reach(host, again)?;
        Self::reached(host, connector)
    }

    /// Becomes root on a board that was reached.
    pub(super) fn reached(host: &'a Host, connector: &'a mut dyn Connector) -> Result<Self> {
        let root = connector.become_root(host)?;
        Ok(Self { host, connector, root })
    }

    /// Replaces a broken connection.
    pub(super) fn reach_again(&mut self) -> Result<()> {
        self.connector.reach(self.host, true)
    }

    pub(super) fn quoting(&self) -> Quoting {
        self.connector.quoting()
    }

    pub(super) fn there(&self, line: &str) -> Result<Answer> {
        there(self.host, self.connector, line)
    }

    pub(super) fn as_root(&self, line: &str) -> Result<Answer> {
        there(self.host, self.connector, &self.root_line(line))
    }

    /// Without showing it.
    pub(super) fn as_root_repeated(&self, line: &str) -> Result<Answer> {
        Line::new(&self.root_line(line)).repeated().run(self.host, self.connector)
    }

    fn root_line(&self, line: &str) -> String {
        if self.root.is_empty() {
            return line.to_owned();
        }
        format!("{} {}", self.root.join(" "), self.quoting().word(line))
    }

    /// The machine of the board, and the profile that its device tree names.
    pub(super) fn look(&self, catalog: &Catalog) -> Result<Machine> {
        let answer = self.there("uname -m")?;
        let tried = "choosing the agent for the board's machine type (uname -m)";
        let (kind, generic) = match answer.word() {
            _ if self.host.dry => ("aarch64", "generic-aarch64"),
            "aarch64" => ("aarch64", "generic-aarch64"),
            "x86_64" => ("x86_64", "host"),
            "armv8l" => {
                let help = "the processor is a 64-bit one, but its system runs 32-bit programs only: install a 64-bit system";
                return Err(answer.error(tried, help));
            }
            _ => return Err(answer.error(tried, "there are agents for 64-bit Arm (aarch64) and x86_64")),
        };
        let files = "/proc/device-tree/model /proc/device-tree/compatible";
        let model = self.there(&format!("cat {files} 2>/dev/null | tr '\\000' ' '"))?;
        let found = catalog.by_machine(&model.text, &[]).filter(|board| !board.contradicts(kind));
        let profile = found.map_or(generic, |board| &board.name).to_owned();
        let of = if self.host.dry { "assumed, since a dry run asks no board: " } else { "" };
        self.host.note(&format!("{of}{kind}, profile {profile}"));
        Ok(Machine { kind, profile })
    }
}
