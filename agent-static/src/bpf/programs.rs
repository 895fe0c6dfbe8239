//! The programs and their attach points.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use libbpf_rs::{Link, MapCore, MapFlags, ProgramMut, UprobeMultiOpts, UprobeOpts};
use profinfer_engine::ProbeKind;

use super::Bpf;
use super::backend_function::FUNCTIONS;
use super::layout::types::limit;
use crate::error::{Diagnostic, Result};

const BACKEND_SLOTS: usize = limit::BACKEND_SLOTS.0 as usize;
const _: () = assert!(FUNCTIONS.len() <= BACKEND_SLOTS, "add slots to backend.bpf.c");

/// The purpose of a probe. Each has its own program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttachPoint {
    /// An instruction of the engine.
    Engine(ProbeKind),
    /// The dynamic linker's hook for debuggers.
    LibraryEvent,
}

impl<'s> Bpf<'s> {
    /// Attaches the programs of `point` at offsets in a file, for one process. Attaches all of them
    /// or none.
    ///
    /// # Errors
    /// What the kernel answered.
    pub fn attach(&self, point: AttachPoint, pid: u32, file: &Path, offsets: &[u64]) -> Result<Vec<Link>> {
        let p = &self.skel.progs;
        let slots = self.backend_slots();
        let (enter, leave) = match point {
            AttachPoint::LibraryEvent => (&p.library_event, None),
            AttachPoint::Engine(ProbeKind::LoadModel) => (&p.load_model_enter, Some(&p.load_model_return)),
            AttachPoint::Engine(ProbeKind::NewContext) => (&p.new_context_enter, Some(&p.new_context_return)),
            AttachPoint::Engine(ProbeKind::LlamaDecode) => {
                (&p.llama_decode_enter, Some(&p.llama_call_return))
            }
            AttachPoint::Engine(ProbeKind::LlamaProcess) => {
                (&p.llama_process_enter, Some(&p.llama_call_return))
            }
            AttachPoint::Engine(ProbeKind::LlamaEncode) => {
                (&p.llama_encode_enter, Some(&p.llama_call_return))
            }
            AttachPoint::Engine(ProbeKind::BatchClear) => (&p.batch_clear, None),
            AttachPoint::Engine(ProbeKind::BatchAdd) => (&p.batch_add, None),
            AttachPoint::Engine(ProbeKind::BatchSequence) => (&p.batch_add_sequence, None),
            AttachPoint::Engine(ProbeKind::BatchPosition) => (&p.batch_set_position, None),
            AttachPoint::Engine(ProbeKind::BatchOutput) => (&p.batch_set_output, None),
            AttachPoint::Engine(ProbeKind::SequenceCut) => (&p.sequence_cut, None),
            AttachPoint::Engine(ProbeKind::SequenceCopy) => (&p.sequence_copy, None),
            AttachPoint::Engine(ProbeKind::MemoryClear) => (&p.memory_clear, None),
            AttachPoint::Engine(ProbeKind::SaveState) => (&p.housekeeping_enter, Some(&p.save_state_return)),
            AttachPoint::Engine(ProbeKind::RestoreState) => {
                (&p.housekeeping_enter, Some(&p.restore_state_return))
            }
            AttachPoint::Engine(ProbeKind::AllocateGraph) => {
                (&p.housekeeping_enter, Some(&p.allocate_graph_return))
            }
            AttachPoint::Engine(ProbeKind::Synchronize) => {
                (&p.synchronize_enter, Some(&p.synchronize_return))
            }
            AttachPoint::Engine(ProbeKind::OutputTaken) => (&p.output_taken, None),
            AttachPoint::Engine(ProbeKind::OutputsTaken) => (&p.outputs_taken, None),
            AttachPoint::Engine(ProbeKind::SchedulerGraph) => {
                (&p.scheduler_graph_enter, Some(&p.scheduler_graph_return))
            }
            AttachPoint::Engine(ProbeKind::CpuGraph) => (&p.cpu_graph_enter, Some(&p.cpu_graph_return)),
            AttachPoint::Engine(ProbeKind::BackendGraph) => (&p.backend_graph_enter, None),
            AttachPoint::Engine(ProbeKind::OpStart) => (&p.op_start, None),
            AttachPoint::Engine(ProbeKind::OpFused) => (&p.op_fused, None),
            AttachPoint::Engine(ProbeKind::OpEnd) => (&p.op_end, None),
            AttachPoint::Engine(ProbeKind::OpFunction) => {
                (&p.op_enter, Some(&p.op_return).filter(|_| !self.starts_only()))
            }
            AttachPoint::Engine(ProbeKind::BackendOp(slot) | ProbeKind::NestedCall(slot)) => {
                match slots.get(usize::from(slot)) {
                    Some((enter, leave)) => (*enter, Some(*leave)),
                    None => return Err(no_slot(slot)),
                }
            }
        };
        // Returns first: a return without its entry is ignored, but an entry without its return
        // gives a wrong number.
        let mut links = Vec::with_capacity(2);
        for (program, retprobe) in leave.map(|l| (l, true)).into_iter().chain([(enter, false)]) {
            if self.multi {
                links.push(attach_all(program, pid, file, offsets, retprobe)?);
                continue;
            }
            for offset in offsets {
                links.push(attach_one(program, pid, file, *offset, retprobe)?);
            }
        }
        Ok(links)
    }

    /// Entry and return program for each slot of a backend's function.
    fn backend_slots(&self) -> [(&ProgramMut<'s>, &ProgramMut<'s>); BACKEND_SLOTS] {
        let p = &self.skel.progs;
        [
            (&p.backend_enter_0, &p.backend_leave_0),
            (&p.backend_enter_1, &p.backend_leave_1),
            (&p.backend_enter_2, &p.backend_leave_2),
            (&p.backend_enter_3, &p.backend_leave_3),
            (&p.backend_enter_4, &p.backend_leave_4),
            (&p.backend_enter_5, &p.backend_leave_5),
            (&p.backend_enter_6, &p.backend_leave_6),
            (&p.backend_enter_7, &p.backend_leave_7),
            (&p.backend_enter_8, &p.backend_leave_8),
            (&p.backend_enter_9, &p.backend_leave_9),
            (&p.backend_enter_10, &p.backend_leave_10),
            (&p.backend_enter_11, &p.backend_leave_11),
        ]
    }

    /// Passes the open counters (slot, CPU, descriptor) and the core type of each CPU to the
    /// programs, and attaches the program that follows threads from CPU to CPU.
    ///
    /// # Errors
    /// What the kernel answered; in that case nothing is counted.
    pub fn attach_counters(
        &self,
        open: &[(usize, u32, OwnedFd)],
        cores: &BTreeMap<u32, u32>,
    ) -> std::result::Result<Link, String> {
        for (slot, cpu, fd) in open {
            let slot = u32::try_from(*slot).map_err(|e| e.to_string())?;
            let value = fd.as_raw_fd().cast_unsigned().to_ne_bytes();
            let key = slot * limit::COUNTER_CPUS.0 + cpu;
            let map = &self.skel.maps.events_of_cpu;
            map.update(&key.to_ne_bytes(), &value, MapFlags::ANY).map_err(|e| e.to_string())?;
        }
        for (cpu, core) in cores {
            let map = &self.skel.maps.core_of_cpu;
            map.update(&cpu.to_ne_bytes(), &core.to_ne_bytes(), MapFlags::ANY).map_err(|e| e.to_string())?;
        }
        self.skel.progs.sched_switch.attach().map_err(|e| format!("following threads from CPU to CPU: {e}"))
    }

    /// Attaches the program that reports every exec.
    ///
    /// # Errors
    /// What the kernel answered.
    pub fn attach_exec(&self) -> Result<Link> {
        self.skel.progs.process_exec.attach().map_err(|e| {
            Diagnostic::new(
                "watching for new processes (raw tracepoint sched_process_exec)",
                e,
                "start the engine first and name it with --pid, or let the agent start it: `-- COMMAND`",
            )
        })
    }

    /// Attaches the program that frees the state of exited threads.
    ///
    /// # Errors
    /// What the kernel answered. Without this program the state map fills up, and events of further
    /// threads count as lost.
    pub fn attach_thread_exit(&self) -> Result<Link> {
        self.skel.progs.thread_exit.attach().map_err(|e| {
            Diagnostic::new(
                "watching for the end of threads (raw tracepoint sched_process_exit)",
                e,
                "keep recordings short: the state of exited threads is kept until the session ends",
            )
        })
    }

    /// Descriptors of all programs.
    pub fn programs(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let p = &self.skel.progs;
        [
            p.llama_decode_enter.as_fd(),
            p.llama_process_enter.as_fd(),
            p.llama_encode_enter.as_fd(),
            p.llama_call_return.as_fd(),
            p.batch_clear.as_fd(),
            p.batch_add.as_fd(),
            p.batch_add_sequence.as_fd(),
            p.batch_set_position.as_fd(),
            p.batch_set_output.as_fd(),
            p.sequence_cut.as_fd(),
            p.sequence_copy.as_fd(),
            p.memory_clear.as_fd(),
            p.housekeeping_enter.as_fd(),
            p.save_state_return.as_fd(),
            p.restore_state_return.as_fd(),
            p.allocate_graph_return.as_fd(),
            p.synchronize_enter.as_fd(),
            p.synchronize_return.as_fd(),
            p.output_taken.as_fd(),
            p.outputs_taken.as_fd(),
            p.scheduler_graph_enter.as_fd(),
            p.scheduler_graph_return.as_fd(),
            p.cpu_graph_enter.as_fd(),
            p.cpu_graph_return.as_fd(),
            p.backend_graph_enter.as_fd(),
            p.op_start.as_fd(),
            p.op_fused.as_fd(),
            p.op_end.as_fd(),
            p.op_enter.as_fd(),
            p.op_return.as_fd(),
            p.sched_switch.as_fd(),
            p.thread_exit.as_fd(),
        ]
        .into_iter()
        .chain(self.backend_slots().into_iter().flat_map(|(enter, leave)| [enter.as_fd(), leave.as_fd()]))
        .chain(self.sched_programs())
    }
}

fn no_slot(slot: u8) -> Diagnostic {
    let tried = format!("probing backend function {slot}");
    Diagnostic::new(
        tried,
        format!("the programs have {BACKEND_SLOTS} slots"),
        "report this bug: this build of the agent is inconsistent",
    )
}

fn attach_one(program: &ProgramMut<'_>, pid: u32, file: &Path, offset: u64, retprobe: bool) -> Result<Link> {
    let opts = UprobeOpts { retprobe, ..Default::default() };
    let at = usize::try_from(offset).map_err(|e| failed(file, &[offset], &e))?;
    program
        .attach_uprobe_with_opts(pid.cast_signed(), file, at, opts)
        .map_err(|e| failed(file, &[offset], &e))
}

fn attach_all(
    program: &ProgramMut<'_>,
    pid: u32,
    file: &Path,
    offsets: &[u64],
    retprobe: bool,
) -> Result<Link> {
    let at: std::result::Result<_, _> = offsets.iter().map(|o| usize::try_from(*o)).collect();
    let opts = UprobeMultiOpts {
        offsets: at.map_err(|e| failed(file, offsets, &e))?,
        retprobe,
        ..Default::default()
    };
    program
        .attach_uprobe_multi_with_opts(pid.cast_signed(), file, "", opts)
        .map_err(|e| failed(file, offsets, &e))
}

fn failed(file: &Path, offsets: &[u64], answer: &dyn std::fmt::Display) -> Diagnostic {
    let at: Vec<String> = offsets.iter().map(|offset| format!("{offset:#x}")).collect();
    Diagnostic::new(
        format!("putting a probe at {}+{}", file.display(), at.join(", ")),
        answer,
        "see `dmesg`; the kernel needs CONFIG_UPROBE_EVENTS and CONFIG_BPF_EVENTS",
    )
}
