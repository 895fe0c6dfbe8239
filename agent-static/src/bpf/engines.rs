//! The traced processes, each in one slot of the programs' variables. The agent and the programs
//! write to separate arrays, so that neither overwrites the other.

use std::cell::Cell;
use std::mem::{offset_of, size_of};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};

use libbpf_rs::{MapCore, MapFlags};
use profinfer_engine::Layout;

use super::Bpf;
use super::layout::{bytes_of, length, types};
use crate::error::{Diagnostic, Result};

/// Settings of the programs for one process.
#[derive(Debug, Clone, Copy, Default)]
pub struct EngineConfig {
    /// `None` until the offsets are known.
    pub layout: Option<Layout>,
    /// Read the topology of graphs.
    pub read_topology: bool,
    /// Stop the process at its first `llama_decode` call or graph.
    pub hold: bool,
    /// Number of the operator `MUL_MAT_ID`; `None` if experts are not read.
    pub expert_op: Option<u32>,
    /// Number of the operator `ROPE`; `None` if positions are not read.
    pub rope_op: Option<u32>,
    /// Number of the tensor type of ids and positions. Without it neither is read.
    pub index_type: Option<u32>,
    /// Operators are captured in calls that begin in this window.
    pub captured: Window,
}

/// A half-open time window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// First nanosecond inside the window.
    pub from_ns: u64,
    /// First nanosecond after the window.
    pub until_ns: u64,
}

impl Default for Window {
    /// All of time.
    fn default() -> Self {
        Self { from_ns: 0, until_ns: u64::MAX }
    }
}

impl EngineConfig {
    fn bytes(&self, pid: u32) -> [u8; CONFIG] {
        let l = self.layout.as_ref();
        let at = |field: fn(&Layout) -> u32| l.map_or(0, field);
        let op = |op: Option<u32>| op.filter(|_| self.index_type.is_some()).unwrap_or(0);
        bytes_of!(engine_config {
            tgid: pid,
            pad: 0,
            ops_from: self.captured.from_ns,
            ops_until: self.captured.until_ns,
            hold: self.hold.into(),
            read_topology: self.read_topology.into(),
            layout: l.is_some().into(),
            tensor_size: at(|l| l.tensor_size),
            ne: at(|l| l.tensor_ne),
            nb: at(|l| l.tensor_nb),
            op: at(|l| l.tensor_op),
            src: at(|l| l.tensor_src),
            r#type: at(|l| l.tensor_type),
            data: at(|l| l.tensor_data),
            n_nodes: at(|l| l.graph_n_nodes),
            nodes: at(|l| l.graph_nodes),
            // 0: graphs of this engine have no uid.
            uid: at(|l| l.graph_uid.unwrap_or(0)),
            has_phase: at(|l| l.params_phase.into()),
            expert_op: op(self.expert_op),
            rope_op: op(self.rope_op),
            index_type: self.index_type.unwrap_or(0),
            ith: at(|l| l.params_ith),
        })
    }
}

const CONFIG: usize = size_of::<types::engine_config>();
const STATE: usize = size_of::<types::engine_state>();
const _: () = assert!(CONFIG.is_multiple_of(8) && STATE.is_multiple_of(8), "both are written word by word");
/// Most processes traced at the same time.
pub(super) const ENGINES: usize = length(|bss| &bss.engine_configs);

/// Index of the word that marks the words after it as valid.
const LAYOUT: usize = offset_of!(types::engine_config, layout) / 8;

/// Assignment of processes to slots.
#[derive(Debug)]
pub(super) struct Slots([Cell<Slot>; ENGINES]);

/// The process in a slot; pid 0 means that the slot is free.
#[derive(Debug, Clone, Copy)]
struct Slot {
    pid: u32,
    hold: bool,
}

impl Slot {
    const FREE: Self = Self { pid: 0, hold: false };
}

impl Default for Slots {
    fn default() -> Self {
        Self([const { Cell::new(Slot::FREE) }; ENGINES])
    }
}

impl Slots {
    fn of(&self, pid: u32) -> Option<usize> {
        self.0.iter().position(|p| p.get().pid == pid)
    }

    fn used(&self) -> usize {
        self.0.iter().filter(|p| p.get().pid != 0).count()
    }
}

impl Bpf<'_> {
    /// Starts to trace a process and clears the state of an earlier process with the same pid.
    ///
    /// # Errors
    /// If 64 processes are traced already.
    pub fn begin_engine(&self, pid: u32, config: EngineConfig) -> Result<()> {
        self.begin(pid, config, 0).map_err(|e| no_room(pid, &e))
    }

    /// Updates the settings of a traced process. The state that the programs collected stays: a
    /// graph in which the engine was held continues once the engine runs again, and its threads'
    /// operators belong to that graph.
    pub fn set_engine(&self, pid: u32, config: EngineConfig) {
        let Some(slot) = self.slots.of(pid) else { return };
        self.slots.0[slot].set(Slot { pid, hold: config.hold });
        let bytes = config.bytes(pid);
        let new = bytes.as_chunks().0.iter().map(|b| u64::from_ne_bytes(*b));
        let words = || self.config(slot).iter().zip(new.clone());
        // Programs read these words at any time. `layout` marks the offsets after it as valid:
        // clear it before the first offset changes, and set it after the last.
        let layout = || words().skip(LAYOUT).take(1);
        if words().skip(LAYOUT).any(|(word, new)| word.load(Relaxed) != new) {
            layout().for_each(|(word, _)| word.store(0, Release));
        }
        words()
            .take(LAYOUT)
            .chain(words().skip(LAYOUT + 1))
            .chain(layout())
            .for_each(|(word, new)| word.store(new, Release));
    }

    /// Registers the agent itself as a process whose operators are reported, as if a graph were
    /// running.
    ///
    /// # Errors
    /// Same as [`Self::begin_engine`].
    pub fn set_own(&self, pid: u32) -> Result<()> {
        self.begin(pid, EngineConfig::default(), 1)
            .map_err(|e| Diagnostic::new("measuring the cost of a probe", e, "it is not measured"))
    }

    fn begin(&self, pid: u32, config: EngineConfig, cpu_graph: u64) -> std::result::Result<(), String> {
        // A process that execs another program keeps its slot, and with it the state of its thread.
        let slot = self.slots.of(pid).or_else(|| self.slots.of(0));
        let slot = slot.ok_or_else(|| format!("{ENGINES} processes are traced already"))?;
        self.slots.0[slot].set(Slot { pid, hold: config.hold });
        for (at, word) in self.state(slot).iter().enumerate() {
            let graph = at == offset_of!(types::engine_state, cpu_graph) / 8;
            word.store(if graph { cpu_graph } else { 0 }, Release);
        }
        self.set_engine(pid, config);
        // Last, because a program traces the process as soon as it finds this entry.
        let number = u32::try_from(slot).unwrap_or(u32::MAX).to_ne_bytes();
        let slots = &self.skel.maps.engine_slots;
        slots.update(&pid.to_ne_bytes(), &number, MapFlags::ANY).map_err(|e| e.to_string())?;
        self.cpu_use_engines(self.slots.used());
        Ok(())
    }

    /// Whether a process that is to be held has reached its first `llama_decode` call or graph.
    #[must_use]
    pub fn held(&self, pid: u32) -> bool {
        let at = offset_of!(types::engine_state, held) / 8;
        let slot = self.slots.of(pid).filter(|slot| self.slots.0[*slot].get().hold);
        slot.and_then(|slot| self.state(slot).get(at)).is_some_and(|held| held.load(Relaxed) != 0)
    }

    fn config(&self, slot: usize) -> &[AtomicU64] {
        self.shared.words(offset_of!(types::bss, engine_configs) + slot * CONFIG, CONFIG / 8)
    }

    fn state(&self, slot: usize) -> &[AtomicU64] {
        self.shared.words(offset_of!(types::bss, engine_states) + slot * STATE, STATE / 8)
    }

    pub fn remove_engine(&self, pid: u32) {
        let _ = self.skel.maps.engine_slots.delete(&pid.to_ne_bytes());
        if let Some(slot) = self.slots.of(pid) {
            self.slots.0[slot].set(Slot::FREE);
        }
        self.cpu_use_engines(self.slots.used());
    }

    /// Removes a topology, so that the programs read it again the next time they see it.
    pub fn forget_topology(&self, key: u64) {
        let _ = self.skel.maps.topologies.delete(&key.to_ne_bytes());
        let _ = self.skel.maps.walks.delete(&key.to_ne_bytes());
    }
}

fn no_room(pid: u32, answer: &str) -> Diagnostic {
    Diagnostic::new(format!("tracing process {pid}"), answer, "trace fewer processes at once")
}
