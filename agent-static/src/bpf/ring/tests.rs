//! Valid records as a C compiler lays them out, and invalid bytes.

use std::mem::offset_of;

use profinfer_wire::record::edit::Edit;
use profinfer_wire::record::housekeeping::Housekeeping;
use proptest::prelude::*;

use super::*;
use crate::bpf::layout::types::{event_kind, walk_failure};
use crate::bpf::layout::{Plain, bytes_of, types};

const HEAD: Head = Head { tid: 11, tgid: 12, arg: 13 };

fn as_field<T, V: Plain>(value: V, _: fn(&T) -> &V) -> V {
    value
}

/// The bytes of a record: its head and the named fields.
macro_rules! record {
    ($kind:ident $type:ident { $($field:ident : $value:expr),* }) => {{
        let Head { tid, tgid, arg } = HEAD;
        let mut bytes = vec![0u8; size_of::<types::$type>()];
        let head = bytes_of!(event_head { kind: event_kind::$kind.0, tid: tid, tgid: tgid, arg: arg });
        bytes[..head.len()].copy_from_slice(&head);
        $(
            let value = as_field($value, |s: &types::$type| &s.$field);
            value.write(&mut bytes[offset_of!(types::$type, $field)..]);
        )*
        bytes
    }};
}

#[test]
fn every_kind_is_read_by_its_fields() {
    let exec = record!(EVENT_EXEC event_process { at_ns: 1 });
    assert_eq!(Event::parse(&exec), Some(Event::Exec(HEAD, 1, [0; TASK_COMM])));
    let hold = record!(EVENT_HOLD event_process { at_ns: 1 });
    assert_eq!(Event::parse(&hold), Some(Event::Hold(HEAD)));
    let loading = record!(EVENT_LOADING event_wake { at_ns: 5 });
    assert_eq!(Event::parse(&loading), Some(Event::Loading(HEAD, 5)));
    let decode = record!(EVENT_DECODE_END event_decode { start_ns: 1, end_ns: 2, context: 3, batch: 4, n_tokens: -1, status: -5 });
    let expected =
        Decode { head: HEAD, start_ns: 1, end_ns: 2, context: 3, batch: 4, n_tokens: -1, status: -5 };
    assert_eq!(Event::parse(&decode), Some(Event::Decode(expected)));
    let graph = |n_past: i32| {
        record!(EVENT_GRAPH_START event_graph { start_ns: 1, end_ns: 2, topology: 3, first_ne1: 4, first_op: 5, n_nodes: 6,
            backend: 7, n_past: n_past, skipped: 1, unknown: walk_failure::WALK_TOO_LARGE.0 })
    };
    let expected = |n_past| Graph {
        head: HEAD,
        start_ns: 1,
        end_ns: 2,
        topology: 3,
        first_ne1: 4,
        first_op: 5,
        n_nodes: 6,
        backend: 7,
        n_past,
        skipped: true,
        unknown: Some(WalkFailure::TooLarge),
    };
    assert_eq!(Event::parse(&graph(8)), Some(Event::Graph(expected(Some(8)))));
    let unfinished = record!(EVENT_GRAPH_START event_graph { unknown: walk_failure::WALK_UNFINISHED.0 });
    let Some(Event::Graph(unfinished)) = Event::parse(&unfinished) else { panic!("it is a graph") };
    assert_eq!(unfinished.unknown, Some(WalkFailure::Unfinished));
    assert_eq!(Event::parse(&graph(-1)), Some(Event::Graph(expected(None))));
    let topology = record!(EVENT_TOPOLOGY event_topology { topology: 1, n_nodes: 2, n_leafs: 3 });
    assert_eq!(Event::parse(&topology), Some(Event::Topology(HEAD, 1, 2)));
    let end = record!(EVENT_TOPOLOGY_END event_topology { topology: 1, n_nodes: 2, n_leafs: 3 });
    assert_eq!(Event::parse(&end), Some(Event::TopologyEnd(HEAD, 1, 3)));
    let cut = record!(EVENT_EDIT event_edit { at_ns: 1, memory: 2, seq: 3, from: 4, to: -1, target: -1 });
    let expected = Edit { pid: 12, at_ns: 1, memory: 2, kind: 13, seq: 3, from: 4, to: -1, target: -1 };
    assert_eq!(Event::parse(&cut), Some(Event::Edit(expected)));
    let saved = record!(EVENT_HOUSEKEEPING event_housekeeping { start_ns: 5, end_ns: 9, bytes: 7 });
    let expected = Housekeeping { pid: 12, tid: HEAD.tid, kind: 13, start_ns: 5, duration_ns: 4, bytes: 7 };
    assert_eq!(Event::parse(&saved), Some(Event::Housekeeping(expected)));
    let taken = record!(EVENT_TAKEN event_taken { context: 1 });
    assert_eq!(Event::parse(&taken), Some(Event::Taken(HEAD, 1)));
    let nested = record!(EVENT_NESTED event_nested { start_ns: 1, end_ns: 2, node: 3, graph: 4 });
    let expected = Nested { head: HEAD, start_ns: 1, end_ns: 2, node: 3, graph: 4 };
    assert_eq!(Event::parse(&nested), Some(Event::Nested(expected)));
}

#[test]
fn operators_are_read_with_and_without_counts() {
    let plain = record!(EVENT_OP event_op { start_ns: 1, end_ns: 2, node: 3, last: 4, graph: 5 });
    let op = Op { head: HEAD, start_ns: 1, end_ns: 2, node: 3, last: 4, graph: 5 };
    assert_eq!(Event::parse(&plain), Some(Event::Op(op, None)));
    let counts: [u64; COUNTER_SLOTS] = std::array::from_fn(|k| 100 + k as u64);
    let mut counted =
        record!(EVENT_OP_COUNTED event_op_counted { switches: 6, missing: 7, why: 8, counts: counts });
    let head = size_of::<types::event_head>();
    counted[head..plain.len()].copy_from_slice(&plain[head..]);
    let expected = Counted { switches: 6, missing: 7, why: 8, counts };
    assert_eq!(Event::parse(&counted), Some(Event::Op(op, Some(expected))));
}

#[test]
fn arrays_are_read_completely() {
    let mut tensor = record!(EVENT_TENSOR event_tensor { topology: 1, address: 2 });
    let raw: Vec<u8> = (0..TENSOR_MAX).map(|k| k as u8).collect();
    tensor[offset_of!(types::event_tensor, raw)..].copy_from_slice(&raw);
    let expected = Tensor { head: HEAD, topology: 1, address: 2, raw: &raw };
    assert_eq!(Event::parse(&tensor), Some(Event::Tensor(expected)));
    let mut experts = record!(EVENT_EXPERTS event_experts { graph: 1, node: 2, first: 3, n_used: 4 });
    let at = offset_of!(types::event_experts, ids);
    for (k, id) in experts[at..].chunks_exact_mut(4).enumerate() {
        (match k {
            5 => i32::MIN,
            6 => -1,
            k => k as i32,
        })
        .write(id);
    }
    let Some(Event::Experts(e)) = Event::parse(&experts) else { panic!("not read") };
    assert_eq!((e.head, e.graph, e.node, e.first, e.n_used), (HEAD, 1, 2, 3, 4));
    let ids: Vec<Option<u32>> = e.ids().collect();
    assert_eq!(ids.len(), HEAD.arg as usize, "the count in the head");
    assert_eq!((ids[4], ids[5], ids[6], ids[12]), (Some(4), None, Some(SKIPPED), Some(12)));
}

#[test]
fn a_part_has_the_fields_that_its_batch_provides() {
    let part = |arg: u32| {
        let mut bytes = record!(EVENT_PART event_part { batch: 1, first: 2, n: 3, seq: -4, n_seq: 5, pos: 6, outputs: 7 });
        let at = offset_of!(types::event_part, head) + offset_of!(types::event_head, arg);
        bytes[at..at + 4].copy_from_slice(&arg.to_ne_bytes());
        let Some(Event::Part(part)) = Event::parse(&bytes) else { panic!("not read") };
        assert_eq!((part.batch, part.part.first, part.part.n), (1, 2, 3));
        (part.part.seq, part.part.n_seq, part.part.pos, part.part.same, part.part.outputs)
    };
    assert_eq!(part(0), (None, 0, None, false, None));
    assert_eq!(part(1), (Some(-4), 5, None, false, None));
    assert_eq!(part(2), (None, 0, Some(6), false, None));
    assert_eq!(part(4), (None, 0, None, false, Some(7)));
    // PART_SAME without PART_POS has no meaning.
    assert_eq!(part(8), (None, 0, None, false, None));
    assert_eq!(part(15), (Some(-4), 5, Some(6), true, Some(7)));
}

#[test]
fn scheduler_events_are_read() {
    let name = |text: &str| std::array::from_fn(|k| text.as_bytes().get(k).copied().unwrap_or(0));
    let mut switch =
        record!(EVENT_SWITCH event_switch { at_ns: 1, state: 2, prev: 3, next: 4, prev_tgid: 5 });
    let at = offset_of!(types::event_switch, next_comm);
    switch[at..at + 4].copy_from_slice(b"busy");
    let expected = Switch {
        cpu: HEAD.arg,
        at_ns: 1,
        state: 2,
        prev: Who::Engine(5, 3),
        next: Who::Other(4, name("busy")),
    };
    assert_eq!(Event::parse(&switch), Some(Event::Switch(expected)));
    // Bytes in place of the idle task's name are ignored.
    let mut idle = record!(EVENT_SWITCH event_switch { at_ns: 1, next: 0 });
    idle[at..at + 4].copy_from_slice(b"left");
    let Some(Event::Switch(idle)) = Event::parse(&idle) else { panic!("not read") };
    assert_eq!(idle.next, Who::Other(0, [0; TASK_COMM]));
    let wake = record!(EVENT_WAKE event_wake { at_ns: 7 });
    assert_eq!(Event::parse(&wake), Some(Event::Wake(HEAD, 7)));
    let moved = record!(EVENT_MIGRATION event_wake { at_ns: 7 });
    assert_eq!(Event::parse(&moved), Some(Event::Migration(HEAD, 7)));
    let gap = record!(EVENT_GAP event_gap { from_ns: 7, to_ns: 9 });
    assert_eq!(Event::parse(&gap), Some(Event::Gap(HEAD, 7, 9)));
    let mut hard = record!(EVENT_INTERRUPT event_interrupt { start_ns: 1, end_ns: 2, vec: 3 });
    let at = offset_of!(types::event_interrupt, name);
    hard[at..at + 4].copy_from_slice(b"eth0");
    let expected = Interrupt { cpu: HEAD.arg, start_ns: 1, end_ns: 2, soft: None, name: name("eth0") };
    assert_eq!(Event::parse(&hard), Some(Event::Interrupt(expected)));
    let arg = offset_of!(types::event_head, arg);
    (1u32 << 16 | 5).write(&mut hard[arg..]);
    let Some(Event::Interrupt(soft)) = Event::parse(&hard) else { panic!("not read") };
    assert_eq!((soft.cpu, soft.soft), (5, Some(3)));
}

#[test]
fn a_window_has_its_tasks_in_the_places_that_are_used() {
    let mut bytes = record!(EVENT_CPU_USE event_cpu_use { from_ns: 1, to_ns: 20, idle_ns: 3, others_ns: 4 });
    let at = |n: usize| offset_of!(types::event_cpu_use, tasks) + n * size_of::<types::cpu_use_task>();
    for (n, (tgid, busy_ns)) in [(0u32, 5u64), (9, 6)].into_iter().enumerate() {
        77u32.write(&mut bytes[at(n) + offset_of!(types::cpu_use_task, pid)..]);
        (7 + n as u32).write(&mut bytes[at(n) + offset_of!(types::cpu_use_task, tid)..]);
        tgid.write(&mut bytes[at(n) + offset_of!(types::cpu_use_task, tgid)..]);
        busy_ns.write(&mut bytes[at(n) + offset_of!(types::cpu_use_task, busy_ns)..]);
        let comm = at(n) + offset_of!(types::cpu_use_task, comm);
        bytes[comm..comm + 4].copy_from_slice(b"busy");
    }
    let Some(Event::CpuUse(window)) = Event::parse(&bytes) else { panic!("not read") };
    assert_eq!((window.cpu, window.from_ns, window.to_ns), (HEAD.arg, 1, 20));
    assert_eq!((window.idle_ns, window.others_ns), (3, 4));
    let name = std::array::from_fn(|k| b"busy".get(k).copied().unwrap_or(0));
    let expected = [(Who::Other(7, name), 5), (Who::Engine(9, 8), 6)];
    assert_eq!(window.tasks().collect::<Vec<_>>(), expected);
}

/// Valid and invalid record kinds.
fn kinds() -> impl Strategy<Value = u32> {
    prop_oneof![0u32..40, any::<u32>()]
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_without_panic(kind in kinds(), rest in prop::collection::vec(any::<u8>(), 0..600)) {
        let bytes = [&kind.to_ne_bytes()[..], &rest].concat();
        let event = Event::parse(&bytes);
        if let Some(Event::Experts(experts)) = event {
            prop_assert!(experts.ids().count() <= EXPERTS_MAX);
        }
        // Fewer bytes never parse as a different kind.
        for len in 0..bytes.len() {
            if let Some(shorter) = Event::parse(&bytes[..len]) {
                prop_assert_eq!(Some(std::mem::discriminant(&shorter)), event.as_ref().map(std::mem::discriminant));
            }
        }
    }

    #[test]
    fn a_record_that_is_cut_is_no_event(cut in 1usize..40) {
        let op = record!(EVENT_OP event_op { start_ns: 1, end_ns: 2, node: 3, last: 4, graph: 5 });
        prop_assert!(Event::parse(&op[..op.len() - cut]).is_none());
    }
}
