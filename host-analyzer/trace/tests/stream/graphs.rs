//! Programs without a token level: their outermost graphs count as calls.

use profinfer_trace::model::{DecodeFunction, Model};

use crate::read;
use profinfer_trace::test_support::bytes::{Fields, frame, hello};
use profinfer_trace::test_support::records::{self, CallIds, Record};
use profinfer_trace::test_support::truth::{Call, Decode, Tensor, Topology};

const PID: u32 = 500;
/// Bits of levels on the wire.
const TOKEN: u32 = 1;
const GRAPH: u32 = 2;
/// Place of the data's address in the numbers of a tensor.
const DATA: usize = 11;

fn graph(id: u32, parent: u32, start: u64, scheduler: bool, n_tokens: u32) -> Record {
    let ids = CallIds { id, pid: PID, topology: u32::from(!scheduler), backend: 0, decode: 0, parent };
    let call = Call {
        start,
        duration: if scheduler { 100 } else { 80 },
        scheduler,
        topology: None,
        n_nodes: 1,
        n_tokens,
        tid: PID,
        decode: None,
        parent: None,
    };
    records::graph_call(ids, &call)
}

/// Two graphs of the scheduler with one part each; the second one takes two tokens.
fn model(probes: &[(u32, bool)], more: &[Record]) -> Model {
    let mut all = vec![records::session(1_000), records::process(PID), records::thread(PID, PID, "whisper")];
    all.extend(probes.iter().map(|(level, attached)| records::probe(PID, *level, *attached)));
    let tensor = |op, src| Tensor {
        name: "t".to_owned(),
        op,
        dtype: "f32",
        role: 0,
        ne: [1; 4],
        bytes: 4,
        view_of: None,
        src,
    };
    let tensors = [tensor("GET_ROWS", vec![(0, 1)]), tensor("NONE", vec![])];
    let texts = ["t", "GET_ROWS", "NONE", "f32"];
    all.extend((1..).zip(texts).map(|(id, text)| records::text(id, text)));
    let id = |text: &str| (1..).zip(texts).find(|(_, t)| *t == text).map_or(0, |(id, _)| id);
    all.push(records::topology(1, PID, &Topology { n_nodes: 1, tensors: tensors.to_vec() }));
    let numbers = tensors.iter().flat_map(|t| {
        let mut numbers = records::numbers(t, &id);
        numbers[DATA] = 0x5000;
        numbers
    });
    let packed = numbers.fold(Fields::default(), Fields::uint);
    all.push((0x21, Fields::default().uint(1).uint(0).uint(tensors.len() as u64).bytes(&packed.0).0));
    all.extend([graph(2, 1, 2_010, false, 0), graph(1, 0, 2_000, true, 0)]);
    all.extend([graph(4, 3, 3_010, false, 2), graph(3, 0, 3_000, true, 2)]);
    all.extend(more.iter().cloned());
    all.push(records::end(9_000, 0, all.len() as u32));
    let mut bytes = hello(1);
    for (seq, (kind, payload)) in (0..).zip(&all) {
        bytes.extend(frame(*kind, seq, payload));
    }
    let model = read(&bytes, 11).unwrap();
    crate::hostile::promises(&model);
    model
}

#[test]
fn outermost_graphs_are_calls_where_there_is_no_token_level() {
    let m = model(&[(TOKEN, false), (GRAPH, true)], &[]);
    let d = &m.llama_calls;
    assert_eq!(d.function, [DecodeFunction::Graph; 2]);
    assert_eq!((&d.start_ns[..], &d.duration_ns[..]), (&[2_000, 3_000][..], &[100, 100][..]));
    assert_eq!(d.n_tokens, [0, 2]);
    // The table in which a graph looks up its tokens identifies its model.
    assert_eq!(d.context, [0, 0x5000]);
    let calls: Vec<_> = m.graph_calls.decode.iter().map(|d| d.map(|d| d.0)).collect();
    assert_eq!(calls, [Some(0), Some(0), Some(1), Some(1)]);
}

#[test]
fn graphs_stay_graphs_where_calls_are_known_or_were_not_asked_for() {
    let calls = |probes: &[(u32, bool)]| model(probes, &[]).llama_calls.len();
    assert_eq!(calls(&[(TOKEN, true), (TOKEN, false), (GRAPH, true)]), 2, "none of its functions was called");
    assert_eq!(calls(&[(GRAPH, true)]), 0, "without the token level");
    assert_eq!(calls(&[(TOKEN, false)]), 0);
    let call = Decode { start: 4_000, duration: 100, tid: PID, context: 16, n_tokens: 1, status: 0 };
    let m = model(&[(TOKEN, false), (GRAPH, true)], &[records::decode(1, PID, &call, Some(1))]);
    assert_eq!(m.llama_calls.function, [DecodeFunction::LlamaDecode]);
    // Numbers at the end of their range.
    let last = records::decode(u32::MAX, PID + 1, &call, Some(1));
    assert_eq!(model(&[(TOKEN, false), (GRAPH, true)], &[last]).llama_calls.len(), 2);
}
