//! Finds the board's profile from the machine's model name or its cores.

use crate::board::Board;
use crate::catalog::Catalog;

impl Catalog {
    /// The board whose `models` match `model` (from the device tree or /proc/cpuinfo). If none
    /// does, the only board with these cores: one main ID register for each CPU from 0, as
    /// `MIDR_EL1 & 0xff00fff0`. `None` if no board matches, or more than one.
    #[must_use]
    pub fn by_machine(&self, model: &str, midrs: &[u32]) -> Option<&Board> {
        let model = model.to_lowercase();
        let likeness = |b: &Board| {
            let parts = b.models.iter().filter(|m| model.contains(&m.to_lowercase()));
            parts.map(String::len).max()
        };
        let named = self.boards().filter_map(|b| Some((likeness(b)?, b))).max_by_key(|(n, _)| *n);
        if let Some((_, board)) = named {
            return Some(board);
        }
        let mut same = self.boards().filter(|b| !midrs.is_empty() && cores_of(b) == midrs);
        same.next().filter(|_| same.next().is_none())
    }
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
