//! Programs of several recordings, by name: a process has another number in each.

use std::collections::BTreeMap;

use super::StepKind;
use crate::replay::{Cause, Culprit, CulpritId};
use crate::shared::program::program;

/// Names of programs. Programs of one name are one, in whichever recording or process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Programs {
    names: Vec<String>,
    ids: BTreeMap<String, CulpritId>,
}

impl Programs {
    /// The program of this name.
    pub fn id(&mut self, name: &str) -> CulpritId {
        self.id_within(name, usize::MAX).unwrap_or(CulpritId(u32::MAX))
    }

    /// The same; `None` for another program than the first `most`.
    pub(super) fn id_within(&mut self, name: &str, most: usize) -> Option<CulpritId> {
        if let Some(id) = self.ids.get(name) {
            return Some(*id);
        }
        let id = CulpritId(u32::try_from(self.names.len()).ok().filter(|_| self.names.len() < most)?);
        self.names.push(name.to_owned());
        self.ids.insert(name.to_owned(), id);
        Some(id)
    }

    #[must_use]
    pub fn name(&self, id: CulpritId) -> &str {
        self.names.get(id.0 as usize).map_or("", String::as_str)
    }

    /// By position in `names`, such as the culprits of a recording: their programs here.
    pub fn ids<'a>(&mut self, names: impl Iterator<Item = &'a str>) -> Vec<CulpritId> {
        names.map(|name| self.id(name)).collect()
    }

    /// All names, by [`CulpritId`].
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }
}

impl Culprit {
    /// Its name.
    #[must_use]
    pub fn program(&self) -> &str {
        program(self.pid, &self.name, &self.command)
    }
}

impl StepKind {
    /// The step with another number of its program.
    #[must_use]
    pub fn renumbered(self, ids: &[CulpritId]) -> Self {
        let number = |CulpritId(id)| ids.get(id as usize).copied().unwrap_or(CulpritId(u32::MAX));
        self.program().map_or(self, |id| self.of_program(number(id)))
    }

    /// The same step of another program, if it is one of a program.
    pub(super) const fn of_program(self, id: CulpritId) -> Self {
        match self {
            Self::Caused(Cause::Program(_)) => Self::Caused(Cause::Program(id)),
            Self::Caused(Cause::SharedMemory(_)) => Self::Caused(Cause::SharedMemory(id)),
            other => other,
        }
    }

    /// The program that is to blame.
    #[must_use]
    pub const fn program(self) -> Option<CulpritId> {
        match self {
            Self::Caused(Cause::Program(id) | Cause::SharedMemory(id)) => Some(id),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_named_by_its_file() {
        let culprit = |pid, name: &str, command: &str| Culprit {
            pid,
            name: name.to_owned(),
            command: command.to_owned(),
            ..Culprit::default()
        };
        assert_eq!(culprit(7, "MainThread", "/usr/bin/python3 x.py /a/b").program(), "python3");
        assert_eq!(culprit(0, "cc1", "/usr/lib/cc1 x.c").program(), "cc1");
        assert_eq!(culprit(0, "kworker/0:1", "").program(), "kworker/0:1");
    }

    #[test]
    fn programs_of_one_name_are_one() {
        let mut programs = Programs::default();
        let a = programs.ids(["make", "cc1"].into_iter());
        let b = programs.ids(["cc1", "ld", "cc1"].into_iter());
        assert_eq!((b[0], b[2], programs.names().count()), (a[1], a[1], 3));
        assert_eq!(programs.name(b[1]), "ld");
    }
}
