//! The identity of a machine, from what a recording holds.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use profinfer_trace::model::{FactScope, FactValue, Model};

/// Memory sizes are compared in this unit: a kernel that reserves a little more is the same machine.
const MEMORY: u64 = 1 << 30;

/// What makes ceilings comparable. The name of the board's profile is not part of it, because a
/// user may name one or none for the same board; `model` is the device tree's name of the board.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// Model of the board, or of the CPU where there is no device tree.
    model: String,
    /// For example `aarch64`.
    architecture: String,
    kernel: String,
    /// Types of the CPUs and how many there are of each.
    cores: BTreeMap<String, u32>,
    /// Highest clocks in Hz, and how many CPUs have each; empty where the kernel does not tell.
    clocks: BTreeMap<u64, u32>,
    memory_gib: u64,
}

impl Machine {
    /// `None` if the recording does not identify its machine: older agents send no facts.
    pub(crate) fn of(model: &Model) -> Option<Self> {
        let session = &model.session;
        let memory = number(model, FactScope::System, "memory.total")?;
        let mut cores = BTreeMap::new();
        let mut clocks = BTreeMap::new();
        for cpu in cpus(model) {
            let scope = FactScope::Cpu(cpu);
            let core = match value(model, scope, "cpu.core") {
                Some(FactValue::Text(text)) => model.texts.get(text).to_owned(),
                _ => String::new(),
            };
            *cores.entry(core).or_insert(0) += 1;
            if let Some(hz) = number(model, scope, "cpu.frequency.max") {
                *clocks.entry(hz).or_insert(0) += 1;
            }
        }
        let known = !session.kernel.is_empty() && !cores.is_empty();
        known.then(|| Self {
            model: session.cpu_model.clone(),
            architecture: session.machine.clone(),
            kernel: session.kernel.clone(),
            cores,
            clocks,
            memory_gib: memory.saturating_add(MEMORY / 2) / MEMORY,
        })
    }

    /// Main ID registers of its CPUs, for the board profiles; empty if unknown.
    pub(crate) fn midrs(model: &Model) -> Vec<u32> {
        let midr = |cpu| match value(model, FactScope::Cpu(cpu), "cpu.core")? {
            FactValue::Text(text) => {
                let hex = model.texts.get(text).strip_prefix("0x")?;
                u32::from_str_radix(hex, 16).ok().map(|midr| midr & 0xff00_fff0)
            }
            _ => None,
        };
        cpus(model).into_iter().map(midr).collect::<Option<_>>().unwrap_or_default()
    }

    /// The file of its ceilings.
    pub(super) fn file_name(&self) -> String {
        // FNV-1a: a name, no protection. The file holds the identity itself.
        let text = serde_json::to_vec(self).unwrap_or_default();
        let hash = text.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3)
        });
        format!("{hash:016x}.json")
    }
}

/// CPUs that have facts.
fn cpus(model: &Model) -> BTreeSet<u16> {
    let Some(name) = model.texts.find("cpu.core") else { return BTreeSet::new() };
    let of_cpu = model.facts.rows.iter().filter(|f| f.name == name);
    of_cpu.filter_map(|f| if let FactScope::Cpu(cpu) = f.scope { Some(cpu) } else { None }).collect()
}

fn value(model: &Model, scope: FactScope, name: &str) -> Option<FactValue> {
    model.facts.latest(scope, model.texts.find(name)?)
}

fn number(model: &Model, scope: FactScope, name: &str) -> Option<u64> {
    match value(model, scope, name)? {
        FactValue::Number(n) => Some(n),
        _ => None,
    }
}
