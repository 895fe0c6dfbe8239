//! Frames with good checksums and any contents, as only a broken or foreign agent makes them: no
//! panic anywhere, and the model keeps its promises.

use profinfer_trace::model::expert::{SKIPPED, selections};
use profinfer_trace::model::{DamageKind, Model};
use proptest::prelude::*;

use crate::{read, write_views};
use profinfer_trace::test_support::bytes::{Fields, frame, hello};
use profinfer_trace::test_support::random::Random;
use profinfer_trace::test_support::records::{self, CallIds};
use profinfer_trace::test_support::session::{SMALL, Sent, session};
use profinfer_trace::test_support::truth::{Call, Span, Topology};

const MAX: u64 = u64::MAX;
const M32: u64 = u32::MAX as u64;

/// The promises of `model`.
pub(crate) fn promises(m: &Model) {
    let (d, c, s) = (&m.llama_calls, &m.graph_calls, &m.spans);
    for n in [
        d.duration_ns.len(),
        d.function.len(),
        d.thread.len(),
        d.context.len(),
        d.n_tokens.len(),
        d.status.len(),
    ] {
        assert_eq!(n, d.len());
    }
    for n in [
        c.duration_ns.len(),
        c.layer.len(),
        c.backend.len(),
        c.topology.len(),
        c.n_nodes.len(),
        c.n_tokens.len(),
    ] {
        assert_eq!(n, c.len());
    }
    for n in [c.thread.len(), c.decode.len(), c.parent.len()] {
        assert_eq!(n, c.len());
    }
    for n in [
        s.graph_call.len(),
        s.thread.len(),
        s.node.len(),
        s.last_node.len(),
        s.work_ns.len(),
        s.wait_ns.len(),
    ] {
        assert_eq!(n, s.len());
    }
    assert_eq!((s.cpu.len(), s.migrated.len()), (s.len(), s.len()));
    assert!(d.start_ns.is_sorted() && c.start_ns.is_sorted());
    for t in d.thread.iter().chain(&c.thread).chain(&s.thread) {
        assert!((t.0 as usize) < m.threads.len());
    }
    for i in 0..c.len() {
        assert!(c.topology[i].is_none_or(|s| (s.0 as usize) < m.topologies.rows.len()));
        assert!(c.decode[i].is_none_or(|x| (x.0 as usize) < d.len()));
        assert!(c.parent[i].is_none_or(|x| (x.0 as usize) < c.len()));
    }
    let key = |i: usize| (s.graph_call[i], s.thread[i], s.start_ns[i]);
    assert!((1..s.len()).all(|i| key(i - 1) <= key(i)), "spans in order");
    for i in 0..s.len() {
        let topology = m.topologies.get(c.topology[s.graph_call[i].0 as usize].unwrap());
        assert!(s.node[i] <= s.last_node[i] && s.last_node[i].0 < topology.n_nodes);
    }
    let e = &m.experts;
    for n in [e.graph_call.len(), e.node.len(), e.token.len(), e.rank.len()] {
        assert_eq!(n, e.len());
    }
    let key = |i: usize| (e.graph_call[i], e.node[i], e.token[i], e.rank[i]);
    assert!((1..e.len()).all(|i| key(i - 1) < key(i)), "experts in order, no position twice");
    for i in 0..e.len() {
        let topology = m.topologies.get(c.topology[e.graph_call[i].0 as usize].unwrap());
        let selections = selections(&m.texts, topology);
        let selection = selections.iter().find(|c| c.readers[0] == e.node[i]).unwrap();
        assert!(
            e.token[i] < selection.n_tokens
                && e.rank[i] < selection.n_used
                && (e.expert[i] < selection.n_expert || e.expert[i] == SKIPPED)
        );
    }
    let p = &m.parts;
    for n in
        [p.first.len(), p.n.len(), p.seq.len(), p.n_seq.len(), p.pos.len(), p.same.len(), p.outputs.len()]
    {
        assert_eq!(n, p.len());
    }
    assert!((0..p.len()).all(|i| p.n[i] > 0 && (p.decode[i].0 as usize) < d.len()));
    let end = |i: usize| u64::from(p.first[i]) + u64::from(p.n[i]);
    let behind = |i: usize| p.decode[i - 1] < p.decode[i] || end(i - 1) <= u64::from(p.first[i]);
    assert!(
        (1..p.len()).all(|i| p.decode[i - 1] <= p.decode[i] && behind(i)),
        "parts in order, no token twice"
    );
    for topology in &m.topologies.rows {
        assert!(topology.n_nodes as usize <= topology.nodes.len());
        for n in &topology.nodes {
            assert!(
                n.src.iter().map(|(_, i)| *i).chain(n.view_of).all(|i| (i.0 as usize) < topology.nodes.len())
            );
        }
    }
}

fn survive(records: Vec<records::Record>) -> Model {
    let mut bytes = hello(1);
    for (seq, (kind, payload)) in (0..).zip(&records) {
        bytes.extend(frame(*kind, seq, payload));
    }
    let model = read(&bytes, usize::MAX).unwrap();
    promises(&model);
    write_views(&model);
    model
}

/// A session with one more record before its end.
fn with(more: records::Record) -> Model {
    let Sent { mut records, .. } = session(1, SMALL);
    let at = records.len() - 3;
    records.insert(at, more);
    survive(records)
}

#[test]
fn largest_numbers() {
    let of = |kind: u16, f: Fields| (kind, f.0);
    let ten = |f: Fields| (0..10).fold(f, |f, _| f.uint(MAX));
    let totals = || ten(Fields::default().uint(MAX).uint(MAX).uint(MAX).uint(MAX));
    with(of(0x7e, totals()));
    survive(vec![of(0x7e, totals())]);
    survive(vec![of(
        0x7f,
        ten(Fields::default().uint(3).uint(M32).uint(MAX).uint(MAX).uint(MAX).uint(MAX))
            .uint(MAX)
            .uint(MAX)
            .uint(MAX)
            .uint(MAX),
    )]);
    with(of(0x20, Fields::default().uint(77).uint(1).uint(M32).uint(M32)));
    with(of(0x20, Fields::default().uint(77).uint(1).uint(M32).uint(0)));
    with(of(0x70, Fields::default().uint(MAX).uint(MAX).uint(MAX)));
    with(of(
        0x01,
        Fields::default()
            .uint(1)
            .text("")
            .text("")
            .text("")
            .text("")
            .text("")
            .uint(65535)
            .uint(M32)
            .uint(MAX)
            .uint(MAX),
    ));
    for (start, length) in [(MAX, MAX), (0, MAX), (MAX, 0), (1 << 63, 1 << 63)] {
        with(of(
            0x10,
            Fields::default()
                .uint(99)
                .uint(M32)
                .uint(M32)
                .byte(255)
                .uint(MAX)
                .uint(start)
                .uint(length)
                .maybe(Some(M32))
                .int(-1),
        ));
        for layer in [0, 1, 2, 255] {
            with(of(
                0x22,
                Fields::default()
                    .uint(99)
                    .uint(1)
                    .uint(M32)
                    .uint(M32)
                    .byte(layer)
                    .uint(M32)
                    .uint(M32)
                    .uint(M32)
                    .uint(1)
                    .uint(99)
                    .uint(start)
                    .uint(length),
            ));
        }
    }
}

/// Memory grows with the stream, not with the numbers in it.
#[test]
fn claims_without_tensors() {
    let mut records = session(1, SMALL).records;
    let sent: usize = session(1, SMALL).truth.topologies.iter().map(|s| s.tensors.len()).sum();
    let claim = |id| (0x20, Fields::default().uint(id).uint(1).uint(10_000).uint(0).0);
    records.extend((100..1100).map(claim));
    let model = survive(records);
    let tensors: usize = model.topologies.rows.iter().map(|s| s.nodes.len()).sum();
    assert!(tensors <= sent + (model.health.bytes as usize).max(1 << 14), "{tensors} tensors");
    assert!(model.health.damage.iter().any(|d| d.kind == DamageKind::Malformed));
}

/// Tensors at the end of all indices, beyond their topology, of an unknown topology, and fewer than
/// announced.
#[test]
fn tensors_anywhere() {
    let tensor = session(1, SMALL).truth.topologies[0].tensors[0].clone();
    for first in [0, 5, 200, u32::MAX - 1, u32::MAX] {
        for topology in [1, 2, 77, u32::MAX] {
            with(records::tensors(topology, first, &vec![tensor.clone(); 3], &|_| 1));
        }
    }
    with((0x21, Fields::default().uint(1).uint(0).uint(65535).bytes(&[]).0));
    for (period, fill, n) in [(0, 0, 0), (1, 0, 4000), (31, 0, 4000), (2, 0x55, 4000), (65535, 0xff, 4000)] {
        let f = Fields::default().uint(1).uint(0).uint(65535).uint(period);
        with((0x25, f.bytes(&vec![fill; n]).0));
    }
}

/// Spans of any node at any time, in batches that overlap.
#[test]
fn spans_anywhere() {
    let span = |node, start, work| Span {
        call_start: 0,
        tid: 500,
        node,
        last: node,
        start,
        work,
        wait: 0,
        cpu: 0,
        migrated: false,
    };
    for graph in [0, 1, 2, 3, 77, u32::MAX] {
        for start in [0, 1_000_000_500, MAX] {
            for node in [0, 8, 9, 1 << 20, u32::MAX] {
                let batch = |s: &[Span]| records::span_batch(graph, 1, 500, 0, s);
                let Sent { mut records, .. } = session(1, SMALL);
                let at = records.len() - 3;
                records.insert(at, batch(&[span(node, start, 0)]));
                records.insert(at, batch(&[span(node, start, 0), span(node, start, MAX - start)]));
                records.insert(at, batch(&[span(0, start / 2, 3), span(1, start / 2 + 1000, 3)]));
                survive(records);
            }
        }
    }
    with((0x30, Fields::default().uint(2).uint(1).uint(500).uint(0).uint(0).uint(65535).bytes(&[]).0));
}

/// Predicted batches of any period, with and without counts, whose bits are all equal, or end too
/// early.
#[test]
fn predicted_anything() {
    for period in [0, 1, 24, 512, 513, 65535] {
        for counted in [0, 1] {
            for fill in [0, 0x0f, 0x55, 0xff] {
                for bytes in [0, 1, 4000] {
                    let f = Fields::default().uint(2).uint(1).uint(500).uint(0).uint(0).uint(65535);
                    let model = with((0x32, f.uint(period).byte(counted).bytes(&vec![fill; bytes]).0));
                    let said = |kind| model.health.damage.iter().any(|d| d.kind == kind);
                    assert!(said(DamageKind::Malformed), "period {period}: fewer spans than were announced");
                    // At least one bit for a wait and one for a work.
                    assert!(model.spans.len() <= 1000 + bytes * 4);
                }
            }
        }
    }
}

/// Calls that are their own parents, or each other's, and topologies with cycles.
#[test]
fn circles() {
    let call = |start| Call {
        start,
        duration: 50,
        scheduler: true,
        topology: None,
        n_nodes: 1,
        n_tokens: 1,
        tid: 500,
        decode: None,
        parent: None,
    };
    let ids = |id, parent| CallIds { id, pid: 1, topology: 1, backend: 0, decode: 1, parent };
    let mut records = session(1, SMALL).records;
    let mut circle =
        Topology { n_nodes: 3, tensors: session(1, SMALL).truth.topologies[0].tensors[..3].to_vec() };
    for (i, t) in (0u32..).zip(&mut circle.tensors) {
        t.view_of = Some((i + 1) % 3);
        t.src = (0..10).map(|slot| (slot, (i + u32::from(slot)) % 3)).collect();
    }
    records.push(records::topology(50, 1, &circle));
    records.push(records::tensors(50, 0, &circle.tensors, &|_| 1));
    records.push(records::graph_call(
        CallIds { topology: 50, ..ids(90, 90) },
        &Call { scheduler: false, ..call(5) },
    ));
    records.push(records::graph_call(ids(91, 92), &call(5)));
    records.push(records::graph_call(ids(92, 91), &call(5)));
    let span = Span {
        call_start: 5,
        tid: 500,
        node: 0,
        last: 2,
        start: 6,
        work: 5,
        wait: 0,
        cpu: 0,
        migrated: false,
    };
    records.push(records::span_batch(90, 50, 500, 0, &[span]));
    survive(records);
}

/// The numbers of records come again with other contents.
#[test]
fn two_sessions_in_one() {
    let (a, b) = (session(1, SMALL), session(2, SMALL));
    survive(a.records.iter().chain(&b.records).cloned().collect());
    survive(b.records.iter().rev().chain(&a.records).cloned().collect());
}

#[test]
fn words_of_the_host_and_unknown_kinds() {
    let plan = Fields::default().uint(1).text("host").uint(7).text("");
    for record in [
        (0x100, plan.0),
        (0x107, vec![0, 0, 0]),
        (0x101, vec![]),
        (0x102, vec![]),
        (0x0f, vec![1, 2]),
        (0xf000, vec![0; 4096]),
    ] {
        let model = with(record);
        assert!(!model.health.perfect() && !model.health.damage.is_empty());
    }
    let model = with(records::refused("loading", "no BPF\n\x1b[31mhere", ""));
    assert_eq!(model.health.refused.unwrap().answer, "no BPF\n\x1b[31mhere");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    /// Payloads changed at random under a good checksum.
    #[test]
    fn any_contents(seed in any::<u64>(), changes in 1usize..12) {
        let Sent { mut records, .. } = session(seed % 50, SMALL);
        let mut random = Random(seed);
        for _ in 0..changes {
            let n = records.len() as u64;
            let (_, payload) = &mut records[random.below(n) as usize];
            if payload.is_empty() {
                continue;
            }
            let at = random.below(payload.len() as u64) as usize;
            match random.below(4) {
                0 => payload[at] = random.bits() as u8,
                1 => payload[at] ^= 1 << random.below(8),
                2 => drop(payload.splice(at..at + 1, [255, 255, 255, 255, 15])),
                _ => drop(payload.splice(at..at + 1, [255, 255, 255, 255, 255, 255, 255, 255, 255, 1])),
            }
            payload.truncate(4096);
        }
        survive(records);
    }
}
