//! Records of the kernel's ring buffer, as `bpf/include/event.h` declares them.
//!
//! From: the ring buffer's bytes. To: [`Event`], which `lower` turns into wire records. Promises: no
//! panic on any bytes; a record shorter than its struct is not an event.

mod parse;
pub mod size;
pub mod stall;
#[cfg(test)]
mod tests;

use crate::bpf::layout::types::limit;

/// Largest raw tensor in a [`Event::Tensor`].
pub const TENSOR_MAX: usize = limit::TENSOR_MAX.0 as usize;

/// Fields that every record begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// Thread.
    pub tid: u32,
    /// Process.
    pub tgid: u32,
    /// Meaning depends on the record.
    pub arg: u32,
}

/// A token call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decode {
    /// Thread, process; `arg` is the function.
    pub head: Head,
    /// Entry, ns.
    pub start_ns: u64,
    /// Return, ns; 0 when it has not returned.
    pub end_ns: u64,
    /// Address of the context.
    pub context: u64,
    /// Tokens by the argument, -1 when not readable.
    pub n_tokens: i32,
    /// Returned value.
    pub status: i32,
}

/// A graph call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Graph {
    /// Thread, process; `arg` is the layer.
    pub head: Head,
    /// Entry, ns; names the call.
    pub start_ns: u64,
    /// Return, ns; 0 when it has not returned.
    pub end_ns: u64,
    /// Key of the topology, 0 when it was not read.
    pub topology: u64,
    /// `ne[1]` of the first node.
    pub first_ne1: u64,
    /// Operator number of the first node.
    pub first_op: u32,
    /// Nodes.
    pub n_nodes: u32,
    /// First bytes of the backend's GUID, 0 for the CPU's.
    pub backend: u64,
    /// Position of the batch's first token, where it is known.
    pub n_past: Option<u32>,
    /// It is of a call whose operators are not captured.
    pub skipped: bool,
    /// Why its topology is not known, where it was to be read and is not.
    pub unknown: Option<WalkFailure>,
}

/// Why the topology of a graph is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WalkFailure {
    /// The ring buffer had no room for its tensors.
    RingFull,
    /// It has more nodes than are walked.
    TooLarge,
    /// Some of its memory could not be read.
    Unreadable,
}

/// One tensor of a topology.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tensor<'a> {
    /// Thread, process; `arg` is the node's index or `u32::MAX` for a leaf.
    pub head: Head,
    /// Key of the topology.
    pub topology: u64,
    /// Address of the struct.
    pub address: u64,
    /// The struct's bytes, [`TENSOR_MAX`] of them.
    pub raw: &'a [u8],
}

/// One operator run by one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Op {
    /// Thread, process; `arg` is the CPU at the start (low half) and at the end (high half), [`CPU_UNKNOWN`](profinfer_wire::span::CPU_UNKNOWN)
    /// where it is not known.
    pub head: Head,
    /// Start, ns.
    pub start_ns: u64,
    /// End of work, ns.
    pub end_ns: u64,
    /// Address of the node.
    pub node: u64,
    /// Address of the last node of a fused kernel, else `node`.
    pub last: u64,
    /// `start_ns` of the CPU graph call, 0 when none was known.
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
    /// Thread, process; `arg` is the function's slot (low half) and the number of functions around it (high half).
    pub head: Head,
    /// Start, ns.
    pub start_ns: u64,
    /// End, ns.
    pub end_ns: u64,
    /// Address of the operator's node, else of the tensor that the function was given; 0: none.
    pub node: u64,
    /// `start_ns` of the graph call.
    pub graph: u64,
}

/// Counters that an operator may have.
pub const COUNTER_SLOTS: usize = limit::COUNTER_SLOTS.0 as usize;

/// What the thread counted in an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// How often it lost its CPU.
    pub switches: u32,
    /// Slots that could not be read, a bit each.
    pub missing: u16,
    /// Why the hardware counters are absent, wire's `counter::why`; 0: they are not.
    pub why: u16,
    /// Values by slot.
    pub counts: [u64; COUNTER_SLOTS],
}

/// Experts in one record.
pub const EXPERTS_MAX: usize = limit::EXPERTS_MAX.0 as usize;

/// A stretch of what a router chose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Experts<'a> {
    /// Thread, process; `arg` is how many there are.
    pub head: Head,
    /// `start_ns` of the CPU graph call.
    pub graph: u64,
    /// Address of the `MUL_MAT_ID`.
    pub node: u64,
    /// Position of the first: token times `n_used` plus rank.
    pub first: u32,
    /// Experts for each token.
    pub n_used: u32,
    /// The experts' bytes, four each.
    pub ids: &'a [u8],
}

impl Experts<'_> {
    /// The experts, `None` where the memory held none.
    pub fn ids(&self) -> impl Iterator<Item = Option<u32>> {
        self.ids.as_chunks().0.iter().map(|id| u32::try_from(i32::from_ne_bytes(*id)).ok())
    }
}

/// Consecutive tokens of one sequence in the batch of a token call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Thread, process; `arg` is what the batch tells.
    pub head: Head,
    /// `start_ns` of the token call.
    pub call: u64,
    /// What was read; what the batch does not tell is `None`.
    pub part: profinfer_wire::parts::Part,
}

/// A CPU went from one task to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch {
    /// CPU.
    pub cpu: u32,
    /// When, ns.
    pub at_ns: u64,
    /// `prev_state` of the tracepoint.
    pub state: u64,
    /// Who had it.
    pub prev: Who,
    /// Who has it now.
    pub next: Who,
}

/// A task on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// A thread of an engine: process, thread.
    Engine(u32, u32),
    /// Another, by the kernel's number, and its name; 0 is the idle task.
    Other(u32, [u8; TASK_COMM]),
}

/// Bytes of a task's name.
pub const TASK_COMM: usize = limit::TASK_COMM.0 as usize;

/// An interrupt on a CPU that a thread of an engine had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupt {
    /// CPU.
    pub cpu: u32,
    /// Start, ns.
    pub start_ns: u64,
    /// End, ns.
    pub end_ns: u64,
    /// Number of a soft one.
    pub soft: Option<u32>,
    /// Name of a device's.
    pub name: [u8; TASK_COMM],
}

/// One record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A process began a new program at that time, with that short name.
    Exec(Head, u64, [u8; TASK_COMM]),
    /// A held process reached its first token or graph.
    Hold(Head),
    /// A token call began or, with `end_ns`, ended.
    Decode(Decode),
    /// A graph call began or, with `end_ns`, ended.
    Graph(Graph),
    /// A topology follows: key, number of nodes.
    Topology(Head, u64, u32),
    /// A part of it.
    Tensor(Tensor<'a>),
    /// It is whole when `arg` is 0: key, number of leafs.
    TopologyEnd(Head, u64, u32),
    /// An operator, with what was counted in it when something was.
    Op(Op, Option<Counted>),
    /// A call inside an operator.
    Nested(Nested),
    /// Tokens of one sequence in a batch.
    Part(Part),
    /// Experts that an operator works by.
    Experts(Experts<'a>),
    /// A CPU went from one task to another.
    Switch(Switch),
    /// A thread was woken at that time, and waits for the CPU `arg`.
    Wake(Head, u64),
    /// A thread that waits was moved at that time, and waits for the CPU `arg`.
    Migration(Head, u64),
    /// A thread was seen to run on the CPU `arg` at that time.
    Seen(Head, u64),
    /// Of what the CPU `arg` did between these times, some was lost.
    Gap(Head, u64, u64),
    /// An interrupt ended.
    Interrupt(Interrupt),
}
