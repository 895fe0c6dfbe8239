//! Records of the kernel's ring buffer, as `bpf/include/event.h` declares them.
//!
//! From: the ring buffer's bytes. To: [`Event`], which `lower` turns into wire records. Promises: no
//! panic on any bytes; a record shorter than its struct is not an event.

/// Largest raw tensor in a [`Event::Tensor`], `TENSOR_MAX` of event.h.
pub const TENSOR_MAX: usize = 384;

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

/// A token-level call.
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
    /// Thread, process; `arg` is the CPU at the start (low half) and at the end (high half).
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

/// Counters that an operator may have, `COUNTER_SLOTS` of event.h.
pub const COUNTER_SLOTS: usize = 10;

/// What the thread counted in an operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// How often it lost its CPU.
    pub switches: u32,
    /// Slots that could not be read, a bit each.
    pub missing: u16,
    /// Why the hardware counters cannot be told, wire's `counter::why`; 0: they can.
    pub why: u16,
    /// Values by slot.
    pub counts: [u64; COUNTER_SLOTS],
}

/// Experts in one record, `EXPERTS_MAX` of event.h.
pub const EXPERTS_MAX: usize = 64;

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
    /// The experts' bytes, `arg` times four.
    ids: &'a [u8],
}

impl Experts<'_> {
    /// The experts, `None` where the memory held none.
    pub fn ids(&self) -> impl Iterator<Item = Option<u32>> {
        self.ids.as_chunks().0.iter().map(|id| u32::try_from(i32::from_ne_bytes(*id)).ok())
    }
}

/// One record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// A process began a new program at that time.
    Exec(Head, u64),
    /// A held process reached its first token or graph.
    Hold(Head),
    /// A token-level call began or, with `end_ns`, ended.
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
    /// Experts that an operator works by.
    Experts(Experts<'a>),
}

fn u32_at(b: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(b.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(b: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(b.get(at..at + 8)?.try_into().ok()?))
}

fn op(head: Head, b: &[u8]) -> Option<Op> {
    Some(Op {
        head,
        start_ns: u64_at(b, 16)?,
        end_ns: u64_at(b, 24)?,
        node: u64_at(b, 32)?,
        last: u64_at(b, 40)?,
        graph: u64_at(b, 48)?,
    })
}

fn counted(b: &[u8]) -> Option<Counted> {
    let low = u32_at(b, 60)?;
    let mut counts = [0; COUNTER_SLOTS];
    for (k, count) in counts.iter_mut().enumerate() {
        *count = u64_at(b, 64 + 8 * k)?;
    }
    // Two fields of 16 bits; both architectures are little-endian.
    let (missing, why) = ((low & 0xffff) as u16, (low >> 16) as u16);
    Some(Counted { switches: u32_at(b, 56)?, missing, why, counts })
}

fn experts(head: Head, b: &[u8]) -> Option<Experts<'_>> {
    let ids = b.get(40..40 + 4 * EXPERTS_MAX.min(head.arg as usize))?;
    let (graph, node) = (u64_at(b, 16)?, u64_at(b, 24)?);
    Some(Experts { head, graph, node, first: u32_at(b, 32)?, n_used: u32_at(b, 36)?, ids })
}

impl<'a> Event<'a> {
    /// Reads one record; `None` for an unknown kind or too few bytes.
    #[must_use]
    pub fn parse(b: &'a [u8]) -> Option<Self> {
        let head = Head { tid: u32_at(b, 4)?, tgid: u32_at(b, 8)?, arg: u32_at(b, 12)? };
        Some(match u32_at(b, 0)? {
            1 => Self::Exec(head, u64_at(b, 16)?),
            2 => Self::Hold(head),
            3 | 4 => Self::Decode(Decode {
                head,
                start_ns: u64_at(b, 16)?,
                end_ns: u64_at(b, 24)?,
                context: u64_at(b, 32)?,
                n_tokens: u32_at(b, 40)?.cast_signed(),
                status: u32_at(b, 44)?.cast_signed(),
            }),
            5 | 6 => Self::Graph(Graph {
                head,
                start_ns: u64_at(b, 16)?,
                end_ns: u64_at(b, 24)?,
                topology: u64_at(b, 32)?,
                first_ne1: u64_at(b, 40)?,
                first_op: u32_at(b, 48)?,
                n_nodes: u32_at(b, 52)?,
                backend: u64_at(b, 56)?,
                n_past: u32::try_from(u32_at(b, 64)?.cast_signed()).ok(),
            }),
            7 => Self::Topology(head, u64_at(b, 16)?, u32_at(b, 24)?),
            8 => Self::Tensor(Tensor {
                head,
                topology: u64_at(b, 16)?,
                address: u64_at(b, 24)?,
                raw: b.get(32..32 + TENSOR_MAX)?,
            }),
            9 => Self::TopologyEnd(head, u64_at(b, 16)?, u32_at(b, 28)?),
            10 => Self::Op(op(head, b)?, None),
            11 => Self::Op(op(head, b)?, Some(counted(b)?)),
            20 => Self::Nested(Nested {
                head,
                start_ns: u64_at(b, 16)?,
                end_ns: u64_at(b, 24)?,
                node: u64_at(b, 32)?,
                graph: u64_at(b, 40)?,
            }),
            12 => Self::Experts(experts(head, b)?),
            _ => return None,
        })
    }
}
