//! Finds the board's profile from the machine's model name or its cores, and whether a profile can be that of a machine.

use crate::board::Board;
use crate::catalog::Catalog;

/// Why a profile cannot be that of a machine.
#[derive(Debug, Clone, Copy)]
pub enum Contradiction<'a> {
    /// It is for machines of another type.
    Machine,
    /// The machine's model is one of this board's, and none of the profile's.
    Board(&'a Board),
    /// The machine has a core of a type that the profile lacks, by its main ID register.
    Core(u32),
}

/// What is known of a machine. Unknown is empty, and contradicts nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Seen<'a> {
    /// `uname -m`.
    pub machine: &'a str,
    /// From the device tree or /proc/cpuinfo.
    pub model: &'a str,
    /// Main ID register of each CPU, as `MIDR_EL1 & 0xff00fff0`.
    pub midrs: &'a [u32],
}

impl Catalog {
    /// Why `board` cannot be the profile of a machine; `None` if it can. A profile without `models` is
    /// for any board with its cores.
    #[must_use]
    pub fn contradiction(&self, board: &Board, seen: Seen<'_>) -> Option<Contradiction<'_>> {
        if board.contradicts(seen.machine) {
            return Some(Contradiction::Machine);
        }
        let model = seen.model.to_lowercase();
        if !board.models.is_empty() && likeness(board, &model).is_none() {
            let other = self.by_model(&model).map(Contradiction::Board);
            if other.is_some() {
                return other;
            }
        }
        let cores: Option<Vec<u32>> = board.clusters().iter().map(|cluster| cluster.core.midr).collect();
        let cores = cores.filter(|cores| !cores.is_empty())?;
        seen.midrs.iter().find(|midr| !cores.contains(midr)).map(|midr| Contradiction::Core(*midr))
    }

    /// The board with the longest name in a model, which is in lower case.
    fn by_model(&self, model: &str) -> Option<&Board> {
        let named = self.boards().filter_map(|b| Some((likeness(b, model)?, b)));
        named.max_by_key(|(n, _)| *n).map(|(_, board)| board)
    }

    /// The board whose `models` match `model` (from the device tree or /proc/cpuinfo). If none
    /// does, the only board with these cores: one main ID register for each CPU from 0, as
    /// `MIDR_EL1 & 0xff00fff0`. `None` if no board matches, or more than one.
    #[must_use]
    pub fn by_machine(&self, model: &str, midrs: &[u32]) -> Option<&Board> {
        if let Some(board) = self.by_model(&model.to_lowercase()) {
            return Some(board);
        }
        let mut same = self.boards().filter(|b| !midrs.is_empty() && cores_of(b) == midrs);
        same.next().filter(|_| same.next().is_none())
    }
}

/// Length of the longest of the board's names that a model has, which is in lower case.
fn likeness(board: &Board, model: &str) -> Option<usize> {
    board.models.iter().filter(|m| model.contains(&m.to_lowercase())).map(String::len).max()
}

/// Main ID registers by CPU; empty if unknown.
fn cores_of(board: &Board) -> Vec<u32> {
    let mut cpus: Vec<(u32, u32)> = Vec::new();
    for cluster in board.clusters() {
        let midr = cluster.core.midr.unwrap_or(0);
        cpus.extend(cluster.cpus.numbers().iter().map(|cpu| (*cpu, midr)));
    }
    cpus.sort_unstable();
    let gapless = cpus.iter().zip(0..).all(|((cpu, _), i)| *cpu == i);
    if gapless { cpus.into_iter().map(|(_, midr)| midr).collect() } else { Vec::new() }
}
