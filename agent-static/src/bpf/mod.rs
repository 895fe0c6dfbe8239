//! The BPF programs: loading, settings and counters.
//!
//! The only folder that uses libbpf-rs. Layouts come from the generated skeleton, see `layout.rs`.

pub mod backend_function;
pub mod cpu_use;
mod engines;
pub mod jit;
pub(crate) mod layout;
pub mod page_read;
mod pid_layout;
mod programs;
mod refused;
pub mod ring;
mod sched;
mod skel;
pub mod stack;
mod totals;
pub mod tracepoint;
#[cfg(test)]
mod verified;

use std::collections::BTreeSet;
use std::mem::{MaybeUninit, offset_of};
use std::sync::atomic::Ordering::Relaxed;

use libbpf_rs::skel::{OpenSkel, Skel, SkelBuilder};
use libbpf_rs::{
    MapCore, MapFlags, MapHandle, Object, OpenObject, OpenProgramMut, Program, ProgramAttachType,
};

use crate::error::{Diagnostic, Result};
use crate::sys::maps::Shared;
use crate::sys::multi::uprobe_multi;
use crate::sys::private_stack::private_stacks;
use backend_function::FUNCTIONS;
use layout::types::{limit, sched_format};
use layout::{bytes_of, types};
use refused::refused;
use skel::{ProfinferSkel, ProfinferSkelBuilder};

pub use engines::{EngineConfig, Window};
pub use programs::AttachPoint;
pub use totals::{CpuUseTotals, NestedTotals, SchedTotals, Totals};

/// Memory for the loaded object. It must outlive [`Bpf`].
#[derive(Debug)]
pub struct Storage(MaybeUninit<OpenObject>);

impl Default for Storage {
    fn default() -> Self {
        Self(MaybeUninit::uninit())
    }
}

/// Filters of the programs, set before loading. See `bpf/include/capture.h`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Programs<'a> {
    /// Operators produce a record at their start only.
    pub starts_only: bool,
    /// Some nodes are filtered out.
    pub nodes: bool,
    /// Only the first N threads of a graph are kept, by index; 0 keeps all.
    pub most_threads: u32,
    /// Only these threads are kept; empty keeps all.
    pub tids: &'a [u32],
}

/// The counters that the programs read at operators.
#[derive(Debug, Clone, Copy, Default)]
pub struct CounterSlots {
    pub all: usize,
    /// Number of hardware counters; they use the first slots.
    pub hardware: usize,
}

/// The loaded programs.
pub struct Bpf<'s> {
    skel: ProfinferSkel<'s>,
    /// The programs of the scheduler level are loaded.
    sched: bool,
    /// Operators have no end probes.
    starts_only: bool,
    /// One link attaches a program to all its places (uprobe_multi).
    multi: bool,
    shared: Shared<'s>,
    /// Slots of the traced processes in `shared`.
    slots: engines::Slots,
}

impl std::fmt::Debug for Bpf<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bpf")
    }
}

impl<'s> Bpf<'s> {
    /// Loads the programs into the kernel. Those of the scheduler level are loaded if `sched` gives
    /// the field offsets of its tracepoints.
    ///
    /// # Errors
    /// If the privilege is missing, or the kernel lacks BPF or uprobes. The diagnostic contains the
    /// remedy.
    pub(crate) fn load(
        storage: &'s mut Storage,
        ring_bytes: u32,
        counters: CounterSlots,
        sched: Option<sched_format>,
        capture: &Programs<'_>,
    ) -> Result<Self> {
        refused::keep_log();
        let mut open = ProfinferSkelBuilder::default().open(&mut storage.0).map_err(|e| refused(&e))?;
        open.maps.events.set_max_entries(ring_bytes).map_err(|e| refused(&e))?;
        if let Some(rodata) = open.maps.rodata_data.as_deref_mut() {
            rodata.wakeup_bytes = u64::from(ring_bytes / 4);
            rodata.counter_slots = u32::try_from(counters.all).unwrap_or(0);
            rodata.counter_hardware = u32::try_from(counters.hardware).unwrap_or(0);
            rodata.starts_only = capture.starts_only.into();
            rodata.filter_nodes = capture.nodes.into();
            rodata.filter_threads = capture.most_threads;
            rodata.filter_tids = (!capture.tids.is_empty()).into();
            let slots = rodata.backend_tensor.iter_mut().zip(&mut rodata.backend_whole);
            for ((tensor, whole), function) in slots.zip(FUNCTIONS) {
                *tensor = function.tensor.unwrap_or(NO_TENSOR);
                *whole = function.whole.into();
            }
        }
        match (sched, open.maps.rodata_data.as_deref_mut()) {
            (Some(format), Some(rodata)) => (rodata.sched_on, rodata.sched_format) = (1, format),
            _ => sched::leave_out(&mut open).map_err(|e| refused(&e))?,
        }
        if let Some((dev, ino)) = own_pid_namespace()
            && let Some(rodata) = open.maps.rodata_data.as_deref_mut()
        {
            rodata.pidns_dev = dev;
            rodata.pidns_ino = ino;
            rodata.pid_layout = pid_layout::find().unwrap_or_default();
        }
        let multi = uprobe_multi();
        if multi {
            // Must be set before loading. Afterwards the programs cannot be attached in any other
            // way.
            let probed = |p: &OpenProgramMut<'_>| p.section() == "uprobe" || p.section() == "uretprobe";
            for mut program in open.open_object_mut().progs_mut().filter(probed) {
                program.set_attach_type(ProgramAttachType::TraceUprobeMulti);
            }
        }
        let mut skel = open.load().map_err(|e| refused(&e))?;
        if private_stacks() {
            stacks_fit(skel.object())?;
        }
        let variables = skel.maps.bss_data.take().ok_or_else(unmapped)?;
        for tid in capture.tids {
            let map = &skel.maps.kept_threads;
            map.update(&tid.to_ne_bytes(), &1u32.to_ne_bytes(), MapFlags::ANY).map_err(|e| refused(&e))?;
        }
        let starts_only = capture.starts_only;
        Ok(Self {
            skel,
            sched: sched.is_some(),
            starts_only,
            multi,
            shared: Shared::of(variables),
            slots: engines::Slots::default(),
        })
    }

    /// Names of the loaded programs.
    #[must_use]
    pub fn names(&self) -> BTreeSet<String> {
        self.skel.object().progs().map(|p| p.name().to_string_lossy().into_owned()).collect()
    }

    /// The number of functions in the loaded programs, and the most stack that one of them uses, in
    /// bytes.
    #[must_use]
    pub fn stacks(&self) -> (usize, u32) {
        let of_programs = self.skel.object().progs().map(|p| depths(&p));
        let all: Vec<u32> = of_programs.flatten().collect();
        (all.len(), all.into_iter().max().unwrap_or(0))
    }

    #[must_use]
    pub fn events(&self) -> &libbpf_rs::Map<'_> {
        &self.skel.maps.events
    }

    /// The ring buffer for exec events, to be read on another thread.
    ///
    /// # Errors
    /// What the kernel answered.
    pub fn executions(&self) -> libbpf_rs::Result<MapHandle> {
        MapHandle::try_from(&self.skel.maps.executions)
    }

    #[must_use]
    pub fn starts_only(&self) -> bool {
        self.starts_only
    }

    /// One link attaches a program to all its places (uprobe_multi), instead of one perf event per
    /// place.
    #[must_use]
    pub fn multi(&self) -> bool {
        self.multi
    }

    /// Filters out a node of a topology from now on.
    pub fn leave_out(&self, topology: u64, node: u64) {
        let key = bytes_of!(node_key { topology: topology, node: node });
        // If the update fails, the agent filters the node itself.
        let _ = self.skel.maps.left_out.update(&key, &1u32.to_ne_bytes(), MapFlags::ANY);
    }

    /// Stops all capturing at once, before the probes are removed one by one.
    pub fn stop(&self) {
        let stopped = self.shared.words(offset_of!(types::bss, stopped), 1);
        stopped.iter().for_each(|s| s.store(1, Relaxed));
    }
}

/// Rejects loaded programs if this kernel may have put the stack of one of their functions where
/// other tasks write.
fn stacks_fit(object: &Object) -> Result<()> {
    refuse_deep(object.progs().map(|p| (p.name().to_string_lossy().into_owned(), depths(&p))))
}

/// Fails if a function is too deep. Takes the programs' names with the stack depths of their
/// functions, in bytes.
fn refuse_deep(programs: impl Iterator<Item = (String, Vec<u32>)>) -> Result<()> {
    let deepest = programs.filter_map(|(name, depths)| Some((name, depths.into_iter().max()?)));
    let deep: Vec<String> = deepest
        .filter(|(_, bytes)| *bytes > stack::STACK_MAX)
        .map(|(name, bytes)| format!("{name} uses {bytes}"))
        .collect();
    if deep.is_empty() {
        return Ok(());
    }
    Err(Diagnostic::new(
        "loading the BPF programs",
        format!(
            "this kernel moves BPF stacks of more than {} bytes to per-CPU memory, where another task may write into \
             them: {}",
            stack::STACK_MAX,
            deep.join(", ")
        ),
        "nothing was attached. Report this bug: this build of the agent does not support kernels 6.13 and later",
    ))
}

/// Stack depth of each function of a program, in bytes.
fn depths(program: &Program<'_>) -> Vec<u32> {
    let insn = |i: &libbpf_sys::bpf_insn| stack::Insn {
        code: i.code,
        dst: i.dst_reg(),
        src: i.src_reg(),
        off: i.off,
        imm: i.imm,
    };
    let code: Vec<stack::Insn> = program.insns().iter().map(insn).collect();
    stack::functions(&code).into_iter().map(stack::depth).collect()
}

fn unmapped() -> Diagnostic {
    let help = "kernels older than 5.5 cannot share a map's memory: use a newer kernel";
    Diagnostic::new("mapping the variables of the BPF programs", "libbpf mapped none", help)
}

/// Device and inode of the agent's PID namespace; `None` in the initial namespace.
#[must_use]
pub fn own_pid_namespace() -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    /// PROC_PID_INIT_INO of include/linux/proc_ns.h.
    const FIRST: u64 = 0xefff_fffc;
    let meta = std::fs::metadata("/proc/self/ns/pid").ok()?;
    (meta.ino() != FIRST).then(|| (meta.dev(), meta.ino()))
}

/// Stands for a backend's function without a tensor argument.
const NO_TENSOR: u8 = {
    assert!(limit::NO_TENSOR.0 <= u8::MAX as u32, "one byte holds it");
    limit::NO_TENSOR.0 as u8
};

#[cfg(test)]
mod tests {
    use super::{refuse_deep, stack::STACK_MAX};

    #[test]
    fn programs_with_a_deep_function_are_refused_by_name() {
        let programs =
            |deepest| [("op_start".to_owned(), vec![8]), ("op_end".to_owned(), vec![8, deepest, 16])];
        assert!(refuse_deep(programs(STACK_MAX).into_iter()).is_ok());
        let refused = refuse_deep(programs(STACK_MAX + 8).into_iter()).map_err(|e| e.answer);
        assert!(
            refused.as_ref().is_err_and(|why| why.contains("op_end") && !why.contains("op_start")),
            "{refused:?}"
        );
    }
}
