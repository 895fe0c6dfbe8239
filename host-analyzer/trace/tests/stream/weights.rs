//! Placement of weights: each placement arrives at its tensor; others are damage.

use profinfer_analysis::Analysis;
use profinfer_trace::model::{Buffer, DamageKind, Memory, Model};

use crate::read;
use crate::whole_session::damage;
use profinfer_trace::test_support::bytes::{Fields, frame, hello};
use profinfer_trace::test_support::records::{self, CallIds, Record, buffer, placement_batch};
use profinfer_trace::test_support::session::{PID, SMALL, session};
use profinfer_trace::test_support::truth::{Call, Tensor, Topology};

const OTHER: u32 = PID + 1;

/// Named after its size.
fn tensor(role: u64, bytes: u64) -> Tensor {
    let (name, ne) = (bytes.to_string(), [bytes, 1, 1, 1]);
    Tensor { name, op: "NONE", dtype: "f32", role, ne, bytes, view_of: None, src: Vec::new() }
}

/// A node, and three weights with an input between them.
fn topology() -> Topology {
    let tensors = [(0, 8), (1, 100), (3, 8), (1, 30), (1, 7)];
    Topology { n_nodes: 1, tensors: tensors.map(|(role, bytes)| tensor(role, bytes)).to_vec() }
}

fn model(middle: &[Record]) -> Model {
    let topology = topology();
    let mut all = vec![records::session(1_000), records::topology(1, PID, &topology)];
    let sizes = [8, 100, 30, 7];
    all.extend(sizes.map(|size| records::text(size, &size.to_string())));
    all.push(records::tensors(1, 0, &topology.tensors, &|name| name.parse().unwrap_or(0)));
    all.extend(middle.iter().cloned());
    let call = Call {
        start: 2_000,
        duration: 10,
        scheduler: false,
        topology: Some(0),
        n_nodes: 1,
        n_tokens: 1,
        tid: PID,
        decode: None,
        parent: None,
    };
    let ids = CallIds { id: 1, pid: PID, topology: 1, backend: 0, decode: 0, parent: 0 };
    all.push(records::graph_call(ids, &call));
    all.push(records::end(9_000, 0, all.len() as u32));
    let mut bytes = hello(1);
    for (seq, (kind, payload)) in (0..).zip(&all) {
        bytes.extend(frame(*kind, seq, payload));
    }
    read(&bytes, 7).unwrap()
}

fn kinds(m: &Model) -> Vec<Option<&str>> {
    let nodes = &m.topologies.rows[0].nodes;
    nodes.iter().map(|n| n.buffer.map(|b| m.buffers[b.0 as usize].kind.as_str())).collect()
}

#[test]
fn placements_arrive_in_any_order() {
    let mut all = vec![
        buffer(1, PID, "CPU_Mapped", 1, "/models/m.gguf"),
        buffer(7, PID, "CPU_REPACK", 2, ""),
        placement_batch(1, &[(1, 1), (3, 7)]),
        placement_batch(1, &[(4, 1)]),
    ];
    let m = model(&all);
    assert_eq!(damage(&m), []);
    assert_eq!(kinds(&m), [None, Some("CPU_Mapped"), None, Some("CPU_REPACK"), Some("CPU_Mapped")]);
    let repacked =
        Buffer { pid: PID, kind: "CPU_REPACK".into(), memory: Memory::Anonymous, path: String::new() };
    assert!(m.buffers.contains(&repacked), "{:?}", m.buffers);
    all.reverse();
    assert_eq!(kinds(&model(&all)), kinds(&m));
    // Sent again, as after a frame that was sent twice.
    all.extend(all.clone());
    let again = model(&all);
    assert_eq!((kinds(&again), again.buffers.len(), damage(&again)), (kinds(&m), 2, vec![]));

    let [w] = &*Analysis::compute(&m).weight else { panic!("one context") };
    assert_eq!((w.pid, w.context.as_deref(), w.tensors, w.bytes), (PID, None, 3, 137));
    assert_eq!(
        (w.mapped_bytes, w.own_bytes, w.device_bytes, w.unknown_bytes),
        (Some(107), Some(30), Some(0), Some(0))
    );
    let buffers: Vec<_> = w.buffers.iter().map(|b| (b.buffer.as_deref(), b.tensors, b.bytes)).collect();
    assert_eq!(buffers, [(Some("CPU_Mapped"), 2, 107), (Some("CPU_REPACK"), 1, 30)]);
    assert_eq!(w.buffers[0].path.as_deref(), Some("/models/m.gguf"));
}

/// As in older recordings: nothing is known, and nothing is guessed.
#[test]
fn without_placements_nothing_is_said() {
    let m = model(&[]);
    let [w] = &*Analysis::compute(&m).weight else { panic!("one context") };
    assert_eq!((w.tensors, w.bytes), (3, 137));
    assert_eq!((w.mapped_bytes, w.own_bytes, w.device_bytes, w.unknown_bytes), (None, None, None, None));
    assert!(w.buffers.is_empty() && damage(&m).is_empty());
}

#[test]
fn a_placement_that_was_lost_leaves_its_weight_unknown() {
    let m = model(&[buffer(1, PID, "", 3, ""), placement_batch(1, &[(1, 1)])]);
    let [w] = &*Analysis::compute(&m).weight else { panic!("one context") };
    assert_eq!((w.mapped_bytes, w.device_bytes, w.unknown_bytes), (Some(0), Some(100), Some(37)));
    assert_eq!((w.buffers[0].buffer.as_deref(), w.buffers[0].memory), (None, Memory::Device));
}

#[test]
fn what_belongs_to_nothing_is_damage() {
    let here = buffer(1, PID, "CPU", 2, "");
    let malformed = (0x24, Fields::default().uint(1).uint(2).bytes(&[1, 1]).0);
    let cases: [(&str, Vec<Record>, (DamageKind, u64)); 6] = [
        ("no such tensor", vec![here.clone(), placement_batch(1, &[(5, 1)])], (DamageKind::Unresolved, 1)),
        ("no such topology", vec![here.clone(), placement_batch(2, &[(1, 1)])], (DamageKind::Unresolved, 1)),
        ("no such buffer", vec![placement_batch(1, &[(1, 1), (3, 1)])], (DamageKind::Unresolved, 2)),
        (
            "another process's buffer",
            vec![buffer(1, OTHER, "CPU", 2, ""), placement_batch(1, &[(1, 1)])],
            (DamageKind::Unresolved, 1),
        ),
        ("fewer than announced", vec![here.clone(), malformed], (DamageKind::Malformed, 1)),
        ("no such memory", vec![buffer(1, PID, "CPU", 4, "")], (DamageKind::Malformed, 1)),
    ];
    for (what, records, expected) in cases {
        let m = model(&records);
        assert_eq!(damage(&m), [expected], "{what}");
        let placed = kinds(&m).iter().flatten().count();
        assert_eq!(placed, usize::from(what.starts_with("fewer")), "{what}");
    }
}

#[test]
fn a_whole_session_has_its_weights_in_the_file() {
    let m = read(&session(3, SMALL).bytes(), usize::MAX).unwrap();
    let weights = Analysis::compute(&m).weight;
    assert_eq!(weights.len(), 2, "one a context");
    for w in &weights {
        assert_eq!((w.mapped_bytes, w.own_bytes), (Some(w.bytes), Some(0)), "{w:?}");
    }
}
