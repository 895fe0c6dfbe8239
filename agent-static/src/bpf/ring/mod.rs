//! Records of the kernel's ring buffer, as `bpf/include/event.h` declares them.
//!
//! Input: the ring buffer's bytes. Output: [`Event`], which `lower` converts to wire records.
//! Guarantee: no panic on any bytes; a record shorter than its struct is not an event.

mod cpu_use;
mod parse;
pub mod size;
pub mod stall;
#[cfg(test)]
mod tests;

pub use cpu_use::{CPU_USE_LEAST_NS, CpuUse};

use profinfer_wire::experts::SKIPPED;

use crate::bpf::layout::types::limit;

/// Size of the raw tensor in an [`Event::Tensor`], in bytes.
pub const TENSOR_MAX: usize = limit::TENSOR_MAX.0 as usize;

/// Fields at the start of every record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    pub tid: u32,
    pub tgid: u32,
    /// Meaning depends on the record.
    pub arg: u32,
}

/// A call of `llama_decode`, `llama_process` or `llama_encode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decode {
    /// `arg` is the function.
    pub head: Head,
    /// Entry.
    pub start_ns: u64,
    /// Return; 0 if the call has not returned.
    pub end_ns: u64,
    /// Address of the context.
    pub context: u64,
    /// Identifies its batch among those of the thread; 0 if it cannot be read.
    pub batch: u64,
    /// Number of tokens from the argument, -1 if not readable.
    pub n_tokens: i32,
    /// Return value.
    pub status: i32,
}

/// A graph call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Graph {
    /// `arg` is the layer.
    pub head: Head,
    /// Entry; identifies the call.
    pub start_ns: u64,
    /// Return; 0 if the call has not returned.
    pub end_ns: u64,
    /// Key of the topology; 0 if it was not read.
    pub topology: u64,
    /// `ne[1]` of the first node.
    pub first_ne1: u64,
    /// Operator number of the first node.
    pub first_op: u32,
    pub n_nodes: u32,
    /// First bytes of the backend's GUID; 0 for the CPU backend.
    pub backend: u64,
    /// Position of the batch's first token, if known.
    pub n_past: Option<u32>,
    /// Belongs to a call whose operators are not captured.
    pub skipped: bool,
    /// Why the topology is missing although it was to be read.
    pub unknown: Option<WalkFailure>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkFailure {
    /// The ring buffer had no space for its tensors.
    RingFull,
    /// The graph has more nodes than the programs walk.
    TooLarge,
    /// Some of the graph's memory could not be read.
    Unreadable,
    /// The graph is large: the rest of its tensors follows at its next calls.
    Unfinished,
}

/// One tensor of a topology.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tensor<'a> {
    /// `arg` is the node's index, or `u32::MAX` for a leaf.
    pub head: Head,
    /// Key of the topology.
    pub topology: u64,
    /// Address of the struct.
    pub address: u64,
    /// The struct's bytes; always [`TENSOR_MAX`] of them.
    pub raw: &'a [u8],
}

/// One operator on one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Op {
    /// `arg` is the CPU at the start (low half) and at the end (high half), or
    /// [`CPU_UNKNOWN`](profinfer_wire::span::CPU_UNKNOWN).
    pub head: Head,
    pub start_ns: u64,
    /// End of the work, without the barrier wait.
    pub end_ns: u64,
    /// Address of the node.
    pub node: u64,
    /// Address of the last node of a fused kernel, or else `node`.
    pub last: u64,
    /// `start_ns` of the CPU graph call; 0 if none was known.
    pub graph: u64,
}

impl Op {
    /// The CPUs of `head.arg`: at the start and at the end.
    #[must_use]
    pub const fn cpus(&self) -> (u16, u16) {
        ((self.head.arg & 0xffff) as u16, (self.head.arg >> 16) as u16)
    }
}

/// One call of a backend's function inside an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Nested {
    /// `arg` is the function's slot (low half) and the nesting depth (high half).
    pub head: Head,
    pub start_ns: u64,
    pub end_ns: u64,
    /// Address of the operator's node, or else of the tensor argument; 0: none.
    pub node: u64,
    /// `start_ns` of the graph call.
    pub graph: u64,
}

/// Most counters per operator.
pub const COUNTER_SLOTS: usize = limit::COUNTER_SLOTS.0 as usize;

/// Counter values of one thread in one operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// Number of times the thread was switched out.
    pub switches: u32,
    /// Bit mask of slots that could not be read.
    pub missing: u16,
    /// Why the hardware counters are absent, as in wire's `counter::why`; 0: they are present.
    pub why: u16,
    /// Values by slot.
    pub counts: [u64; COUNTER_SLOTS],
}

/// Most experts in one record.
pub const EXPERTS_MAX: usize = limit::EXPERTS_MAX.0 as usize;

/// A consecutive range of the experts that a router selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Experts<'a> {
    /// `arg` is the number of experts.
    pub head: Head,
    /// `start_ns` of the CPU graph call.
    pub graph: u64,
    /// Address of the `MUL_MAT_ID`.
    pub node: u64,
    /// Position of the first expert: token times `n_used` plus rank.
    pub first: u32,
    /// Experts per token.
    pub n_used: u32,
    /// Expert ids as raw bytes, four each.
    pub ids: &'a [u8],
}

impl Experts<'_> {
    /// The experts, [`SKIPPED`] for the engine's −1; `None` for an id that could not be read or is no
    /// expert's.
    pub fn ids(&self) -> impl Iterator<Item = Option<u32>> {
        let expert = |id| if id == -1 { Some(SKIPPED) } else { u32::try_from(id).ok() };
        self.ids.as_chunks().0.iter().map(move |id| expert(i32::from_ne_bytes(*id)))
    }
}

/// Consecutive tokens of one sequence in a batch. Comes after the start of the call with that batch,
/// or before it, if the engine fills batches by functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// `arg` is a bit mask of the fields that the batch provides.
    pub head: Head,
    /// Identifies the batch among those of the thread.
    pub batch: u64,
    /// Fields that the batch does not provide are `None`.
    pub part: profinfer_wire::parts::Part,
}

/// A context switch on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch {
    pub cpu: u32,
    pub at_ns: u64,
    /// `prev_state` of the tracepoint.
    pub state: u64,
    /// Task that was switched out.
    pub prev: Who,
    /// Task that was switched in.
    pub next: Who,
}

/// A task on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// A thread of an engine: process, thread.
    Engine(u32, u32),
    /// Any other task: thread id and name; 0 is the idle task.
    Other(u32, [u8; TASK_COMM]),
}

pub const TASK_COMM: usize = limit::TASK_COMM.0 as usize;

/// An interrupt on a CPU while an engine thread was running there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupt {
    pub cpu: u32,
    pub start_ns: u64,
    pub end_ns: u64,
    /// Number of the softirq; `None` for a device interrupt.
    pub soft: Option<u32>,
    /// Name of the device interrupt.
    pub name: [u8; TASK_COMM],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A process called exec: time, new short name.
    Exec(Head, u64, [u8; TASK_COMM]),
    /// A held process reached its first `llama_decode` call or graph.
    Hold(Head),
    /// A function of the loader began or ended at this time: `arg` is wire's `start_up::moment`.
    Loading(Head, u64),
    /// A decode call began or, with `end_ns`, ended.
    Decode(Decode),
    /// A graph call began or, with `end_ns`, ended.
    Graph(Graph),
    /// A topology follows: key, number of nodes.
    Topology(Head, u64, u32),
    /// One tensor of a topology.
    Tensor(Tensor<'a>),
    /// End of a topology, which is complete if `arg` is 0: key, number of leafs.
    TopologyEnd(Head, u64, u32),
    /// An operator, with its counter values if any were read.
    Op(Op, Option<Counted>),
    /// A call inside an operator.
    Nested(Nested),
    /// Tokens of one sequence in a batch.
    Part(Part),
    /// The engine edited the memory of a context.
    Edit(profinfer_wire::record::edit::Edit),
    /// The engine copied the state of a sequence, or allocated the memory of a graph.
    Housekeeping(profinfer_wire::record::housekeeping::Housekeeping),
    /// An output of the last call of a context (its address) was taken.
    Taken(Head, u64),
    /// Experts that an operator uses.
    Experts(Experts<'a>),
    Switch(Switch),
    /// A thread was woken at this time and waits for the CPU `arg`.
    Wake(Head, u64),
    /// A waiting thread was moved at this time and now waits for the CPU `arg`.
    Migration(Head, u64),
    /// A thread was running on the CPU `arg` at this time.
    Seen(Head, u64),
    /// Events of the CPU `arg` were lost between these times.
    Gap(Head, u64, u64),
    Interrupt(Interrupt),
    CpuUse(CpuUse),
}
