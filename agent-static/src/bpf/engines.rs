//! The traced processes, as the programs are told of them. What the agent writes and what the programs write are two
//! maps: neither overwrites the other's.

use std::mem::offset_of;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use libbpf_rs::{MapCore, MapFlags};
use profinfer_engine::Layout;

use super::Bpf;
use super::layout::{bytes_of, length, types};
use crate::error::{Diagnostic, Result};

/// What the programs are told of one process.
#[derive(Debug, Clone, Copy, Default)]
pub struct EngineConfig {
    /// Offsets, `None` until they are known.
    pub layout: Option<Layout>,
    /// Read the topology of graphs.
    pub read_topology: bool,
    /// Stop the process at its first token or graph.
    pub hold: bool,
    /// Number of the operator `MUL_MAT_ID`, `None` when experts are not read.
    pub expert_op: Option<u32>,
    /// Number of the operator `ROPE`, `None` when positions are not read.
    pub rope_op: Option<u32>,
    /// Number of the type of ids and positions; without it neither is read.
    pub index_type: Option<u32>,
    /// Operators are captured in calls that begin in this window.
    pub captured: Window,
}

/// A window of time, ns: from, and until before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// From here on.
    pub from_ns: u64,
    /// Not from here on.
    pub until_ns: u64,
}

impl Default for Window {
    /// All of time.
    fn default() -> Self {
        Self { from_ns: 0, until_ns: u64::MAX }
    }
}

impl EngineConfig {
    fn bytes(&self) -> [u8; size_of::<types::engine_config>()] {
        let l = self.layout.as_ref();
        let at = |field: fn(&Layout) -> u32| l.map_or(0, field);
        let op = |op: Option<u32>| op.filter(|_| self.index_type.is_some()).unwrap_or(0);
        bytes_of!(engine_config {
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
            // 0: this engine's graphs have none.
            uid: at(|l| l.graph_uid.unwrap_or(0)),
            has_phase: at(|l| l.params_phase.into()),
            expert_op: op(self.expert_op),
            rope_op: op(self.rope_op),
            index_type: self.index_type.unwrap_or(0),
            ith: at(|l| l.params_ith),
        })
    }
}

/// What the programs begin with.
const fn no_state(cpu_graph: u64) -> types::engine_state {
    types::engine_state { cpu_graph, split: 0, held: 0, cpu_skip: 0, cpu_topology: 0 }
}

fn state_bytes(s: types::engine_state) -> [u8; size_of::<types::engine_state>()] {
    let types::engine_state { cpu_graph, split, held, cpu_skip, cpu_topology } = s;
    bytes_of!(engine_state {
        cpu_graph: cpu_graph,
        split: split,
        held: held,
        cpu_skip: cpu_skip,
        cpu_topology: cpu_topology,
    })
}

impl Bpf<'_> {
    /// Begins to trace a process: whatever was known of an earlier one of that number is forgotten.
    ///
    /// # Errors
    /// When 64 processes are traced already.
    pub fn begin_engine(&self, pid: u32, config: EngineConfig) -> Result<()> {
        let state = state_bytes(no_state(0));
        self.held_no_more(pid);
        // The state first: a process is traced from when it has a configuration.
        let states = &self.skel.maps.engine_states;
        states.update(&pid.to_ne_bytes(), &state, MapFlags::ANY).map_err(|e| no_room(pid, &e))?;
        self.set_engine(pid, config)
    }

    /// Tells the programs anew of a process that is traced. What they found out meanwhile stays: a graph in which the
    /// engine was held goes on when it is let run, and its threads' operators belong to it.
    ///
    /// # Errors
    /// As [`Self::begin_engine`].
    pub fn set_engine(&self, pid: u32, config: EngineConfig) -> Result<()> {
        if !config.hold {
            self.held_no_more(pid);
        }
        let configs = &self.skel.maps.engine_configs;
        configs.update(&pid.to_ne_bytes(), &config.bytes(), MapFlags::ANY).map_err(|e| no_room(pid, &e))
    }

    /// Makes the agent itself a process whose operators are reported, as if a graph were running.
    ///
    /// # Errors
    /// As [`Self::begin_engine`].
    pub fn set_own(&self, pid: u32) -> Result<()> {
        let failed =
            |e: libbpf_rs::Error| Diagnostic::new("measuring the cost of a probe", e, "it is left out");
        let state = state_bytes(no_state(1));
        self.skel.maps.engine_states.update(&pid.to_ne_bytes(), &state, MapFlags::ANY).map_err(failed)?;
        let config = EngineConfig::default().bytes();
        self.skel.maps.engine_configs.update(&pid.to_ne_bytes(), &config, MapFlags::ANY).map_err(failed)
    }

    /// Whether a process to be held has reached its first token or graph.
    #[must_use]
    pub fn held(&self, pid: u32) -> bool {
        self.held_engine(pid).is_some_and(|held| held.load(Relaxed) == u64::from(pid))
    }

    /// Where the programs tell of a process of this number. Another process of the same place may have been told of since then: it is
    /// asked for at once.
    fn held_engine(&self, pid: u32) -> Option<&AtomicU64> {
        const PLACES: usize = length(|bss| &bss.held_engines);
        self.shared.words(offset_of!(types::bss, held_engines), PLACES).get(pid as usize % PLACES)
    }

    fn held_no_more(&self, pid: u32) {
        if let Some(held) = self.held_engine(pid) {
            let _ = held.compare_exchange(u64::from(pid), 0, Relaxed, Relaxed);
        }
    }

    /// Forgets a process.
    pub fn remove_engine(&self, pid: u32) {
        let _ = self.skel.maps.engine_configs.delete(&pid.to_ne_bytes());
        let _ = self.skel.maps.engine_states.delete(&pid.to_ne_bytes());
    }

    /// Forgets a topology, so that it is read again when it is met again.
    pub fn forget_topology(&self, key: u64) {
        let _ = self.skel.maps.topologies.delete(&key.to_ne_bytes());
    }
}

fn no_room(pid: u32, e: &libbpf_rs::Error) -> Diagnostic {
    Diagnostic::new(format!("tracing process {pid}"), e, "64 processes can be traced at once: trace fewer")
}
