//! Parses a record into an [`Event`], field by field with the skeleton's layout.

use std::mem::offset_of;

use profinfer_wire::parts;
use profinfer_wire::record::counter::{SLOTS, why};
use profinfer_wire::record::edit::Edit;
use profinfer_wire::record::housekeeping::Housekeeping;

use super::{
    COUNTER_SLOTS, Counted, CpuUse, Decode, Event, Experts, Graph, Head, Interrupt, Nested, Op, Part, Switch,
    TASK_COMM, Tensor, WalkFailure, Who,
};
use crate::bpf::layout::types::{count_why, event_kind, part_told, walk_failure};
use crate::bpf::layout::{View, field, field_bytes, types};

/// Every record begins with the head, which contains its kind.
macro_rules! begin_with {
    ($field:ident: $($record:ident),*) => { $(const _: () = assert!(offset_of!(types::$record, $field) == 0);)* };
}
begin_with!(head: event_process, event_decode, event_graph, event_topology, event_tensor, event_op, event_nested, event_experts,
    event_part, event_edit, event_taken, event_housekeeping, event_switch, event_wake, event_gap, event_interrupt, event_cpu_use);
begin_with!(op: event_op_counted);

// The wire's codes for absent counters are those of the programs: a different number does not
// compile.
const _: () = {
    assert!(count_why::COUNT_UNREAD.0 as u64 == why::UNREAD);
    assert!(count_why::COUNT_MIXED.0 as u64 == why::MIXED);
    assert!(count_why::COUNT_MULTIPLEXED.0 as u64 == why::MULTIPLEXED);
    assert!(count_why::COUNT_TORN.0 as u64 == why::TORN);
    assert!(COUNTER_SLOTS == SLOTS);
};

fn kind(b: &[u8]) -> Option<event_kind> {
    field!(View::new(b)?, event_head.kind).map(event_kind)
}

fn head(b: &[u8]) -> Option<Head> {
    let b = View::new(b)?;
    Some(Head {
        tid: field!(b, event_head.tid)?,
        tgid: field!(b, event_head.tgid)?,
        arg: field!(b, event_head.arg)?,
    })
}

fn op(head: Head, b: &[u8]) -> Option<Op> {
    let b = View::new(b)?;
    Some(Op {
        head,
        start_ns: field!(b, event_op.start_ns)?,
        end_ns: field!(b, event_op.end_ns)?,
        node: field!(b, event_op.node)?,
        last: field!(b, event_op.last)?,
        graph: field!(b, event_op.graph)?,
    })
}

fn counted(b: &[u8]) -> Option<Counted> {
    let b = View::new(b)?;
    Some(Counted {
        switches: field!(b, event_op_counted.switches)?,
        missing: field!(b, event_op_counted.missing)?,
        why: field!(b, event_op_counted.why)?,
        counts: field!(b, event_op_counted.counts)?,
    })
}

fn decode(head: Head, b: &[u8]) -> Option<Decode> {
    let b = View::new(b)?;
    Some(Decode {
        head,
        start_ns: field!(b, event_decode.start_ns)?,
        end_ns: field!(b, event_decode.end_ns)?,
        context: field!(b, event_decode.context)?,
        batch: field!(b, event_decode.batch)?,
        n_tokens: field!(b, event_decode.n_tokens)?,
        status: field!(b, event_decode.status)?,
    })
}

fn graph(head: Head, b: &[u8]) -> Option<Graph> {
    let b = View::new(b)?;
    Some(Graph {
        head,
        start_ns: field!(b, event_graph.start_ns)?,
        end_ns: field!(b, event_graph.end_ns)?,
        topology: field!(b, event_graph.topology)?,
        first_ne1: field!(b, event_graph.first_ne1)?,
        first_op: field!(b, event_graph.first_op)?,
        n_nodes: field!(b, event_graph.n_nodes)?,
        backend: field!(b, event_graph.backend)?,
        n_past: u32::try_from(field!(b, event_graph.n_past)?).ok(),
        skipped: field!(b, event_graph.skipped)? != 0,
        unknown: match walk_failure(field!(b, event_graph.unknown)?) {
            walk_failure::WALK_RING_FULL => Some(WalkFailure::RingFull),
            walk_failure::WALK_TOO_LARGE => Some(WalkFailure::TooLarge),
            walk_failure::WALK_UNREADABLE => Some(WalkFailure::Unreadable),
            walk_failure::WALK_UNFINISHED => Some(WalkFailure::Unfinished),
            _ => None,
        },
    })
}

fn tensor(head: Head, b: &[u8]) -> Option<Tensor<'_>> {
    let b = View::new(b)?;
    Some(Tensor {
        head,
        topology: field!(b, event_tensor.topology)?,
        address: field!(b, event_tensor.address)?,
        raw: field_bytes!(b, event_tensor.raw)?,
    })
}

fn nested(head: Head, b: &[u8]) -> Option<Nested> {
    let b = View::new(b)?;
    Some(Nested {
        head,
        start_ns: field!(b, event_nested.start_ns)?,
        end_ns: field!(b, event_nested.end_ns)?,
        node: field!(b, event_nested.node)?,
        graph: field!(b, event_nested.graph)?,
    })
}

fn experts(head: Head, b: &[u8]) -> Option<Experts<'_>> {
    let b = View::new(b)?;
    let all = field_bytes!(b, event_experts.ids)?;
    let ids = &all[..all.len().min((head.arg as usize).saturating_mul(4))];
    Some(Experts {
        head,
        graph: field!(b, event_experts.graph)?,
        node: field!(b, event_experts.node)?,
        first: field!(b, event_experts.first)?,
        n_used: field!(b, event_experts.n_used)?,
        ids,
    })
}

fn edit(head: Head, b: &[u8]) -> Option<Edit> {
    let b = View::new(b)?;
    Some(Edit {
        pid: head.tgid,
        at_ns: field!(b, event_edit.at_ns)?,
        memory: field!(b, event_edit.memory)?,
        kind: u8::try_from(head.arg).ok()?,
        seq: field!(b, event_edit.seq)?,
        from: field!(b, event_edit.from)?,
        to: field!(b, event_edit.to)?,
        target: field!(b, event_edit.target)?,
    })
}

fn housekeeping(head: Head, b: &[u8]) -> Option<Housekeeping> {
    let b = View::new(b)?;
    let start_ns = field!(b, event_housekeeping.start_ns)?;
    Some(Housekeeping {
        pid: head.tgid,
        tid: head.tid,
        kind: u8::try_from(head.arg).ok()?,
        start_ns,
        duration_ns: field!(b, event_housekeeping.end_ns)?.saturating_sub(start_ns),
        bytes: field!(b, event_housekeeping.bytes)?,
    })
}

fn part(head: Head, b: &[u8]) -> Option<Part> {
    let b = View::new(b)?;
    let has = |flag: part_told| head.arg & flag.0 != 0;
    let (seq, pos) = (field!(b, event_part.seq)?, field!(b, event_part.pos)?);
    let (n_seq, outputs) = (field!(b, event_part.n_seq)?, field!(b, event_part.outputs)?);
    let part = parts::Part {
        first: field!(b, event_part.first)?,
        n: field!(b, event_part.n)?,
        seq: has(part_told::PART_SEQ).then_some(seq),
        n_seq: if has(part_told::PART_SEQ) { n_seq } else { 0 },
        pos: has(part_told::PART_POS).then_some(pos),
        same: has(part_told::PART_POS) && has(part_told::PART_SAME),
        outputs: has(part_told::PART_OUTPUTS).then_some(outputs),
    };
    Some(Part { head, batch: field!(b, event_part.batch)?, part })
}

/// The bytes of a task name, which are signed in C.
pub(super) fn name(bytes: &[u8]) -> Option<[u8; TASK_COMM]> {
    bytes.first_chunk().copied()
}

fn switch(head: Head, b: &[u8]) -> Option<Switch> {
    let b = View::new(b)?;
    let prev_comm = field_bytes!(b, event_switch.prev_comm)?;
    let next_comm = field_bytes!(b, event_switch.next_comm)?;
    let who = |process: u32, thread: u32, comm: &[u8]| {
        Some(match (process, thread) {
            // The programs do not write a name for the idle task.
            (0, 0) => Who::Other(0, [0; TASK_COMM]),
            (0, _) => Who::Other(thread, name(comm)?),
            _ => Who::Engine(process, thread),
        })
    };
    Some(Switch {
        cpu: head.arg,
        at_ns: field!(b, event_switch.at_ns)?,
        state: field!(b, event_switch.state)?,
        prev: who(field!(b, event_switch.prev_tgid)?, field!(b, event_switch.prev)?, prev_comm)?,
        next: who(field!(b, event_switch.next_tgid)?, field!(b, event_switch.next)?, next_comm)?,
    })
}

fn interrupt(head: Head, b: &[u8]) -> Option<Interrupt> {
    let b = View::new(b)?;
    let vec = field!(b, event_interrupt.vec)?;
    Some(Interrupt {
        cpu: head.arg & 0xffff,
        start_ns: field!(b, event_interrupt.start_ns)?,
        end_ns: field!(b, event_interrupt.end_ns)?,
        soft: (head.arg >> 16 != 0).then_some(vec),
        name: name(field_bytes!(b, event_interrupt.name)?)?,
    })
}

impl Op {
    /// Parses an operator without counts. This is the fast path, because nearly all records are of
    /// this kind.
    #[must_use]
    pub fn parse(b: &[u8]) -> Option<Self> {
        if kind(b)? == event_kind::EVENT_OP { op(head(b)?, b) } else { None }
    }
}

impl<'a> Event<'a> {
    /// Parses one record; `None` for an unknown kind or too few bytes.
    #[must_use]
    pub fn parse(b: &'a [u8]) -> Option<Self> {
        let head = head(b)?;
        Some(match kind(b)? {
            event_kind::EVENT_EXEC => {
                let b = View::new(b)?;
                let comm = name(field_bytes!(b, event_process.comm)?)?;
                Self::Exec(head, field!(b, event_process.at_ns)?, comm)
            }
            event_kind::EVENT_HOLD => Self::Hold(head),
            event_kind::EVENT_LOADING => Self::Loading(head, field!(View::new(b)?, event_wake.at_ns)?),
            event_kind::EVENT_DECODE_START | event_kind::EVENT_DECODE_END => Self::Decode(decode(head, b)?),
            event_kind::EVENT_GRAPH_START | event_kind::EVENT_GRAPH_END => Self::Graph(graph(head, b)?),
            event_kind::EVENT_TOPOLOGY => {
                let b = View::new(b)?;
                Self::Topology(head, field!(b, event_topology.topology)?, field!(b, event_topology.n_nodes)?)
            }
            event_kind::EVENT_TENSOR => Self::Tensor(tensor(head, b)?),
            event_kind::EVENT_TOPOLOGY_END => {
                let b = View::new(b)?;
                Self::TopologyEnd(
                    head,
                    field!(b, event_topology.topology)?,
                    field!(b, event_topology.n_leafs)?,
                )
            }
            event_kind::EVENT_OP => Self::Op(op(head, b)?, None),
            event_kind::EVENT_OP_COUNTED => Self::Op(op(head, b)?, Some(counted(b)?)),
            event_kind::EVENT_NESTED => Self::Nested(nested(head, b)?),
            event_kind::EVENT_EXPERTS => Self::Experts(experts(head, b)?),
            event_kind::EVENT_PART => Self::Part(part(head, b)?),
            event_kind::EVENT_EDIT => Self::Edit(edit(head, b)?),
            event_kind::EVENT_HOUSEKEEPING => Self::Housekeeping(housekeeping(head, b)?),
            event_kind::EVENT_TAKEN => Self::Taken(head, field!(View::new(b)?, event_taken.context)?),
            event_kind::EVENT_SWITCH => Self::Switch(switch(head, b)?),
            event_kind::EVENT_WAKE => Self::Wake(head, field!(View::new(b)?, event_wake.at_ns)?),
            event_kind::EVENT_MIGRATION => Self::Migration(head, field!(View::new(b)?, event_wake.at_ns)?),
            event_kind::EVENT_SEEN => Self::Seen(head, field!(View::new(b)?, event_wake.at_ns)?),
            event_kind::EVENT_GAP => {
                let b = View::new(b)?;
                Self::Gap(head, field!(b, event_gap.from_ns)?, field!(b, event_gap.to_ns)?)
            }
            event_kind::EVENT_CPU_USE => Self::CpuUse(CpuUse::read(head.arg, b)?),
            event_kind::EVENT_INTERRUPT => Self::Interrupt(interrupt(head, b)?),
            _ => return None,
        })
    }
}
