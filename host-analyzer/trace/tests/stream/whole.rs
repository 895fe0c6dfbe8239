//! An undamaged stream arrives exactly as meant, however it is cut into pieces.

use profinfer_trace::model::{EndReason, Level, LibraryRole};

use crate::read;
use crate::received::Received;
use profinfer_trace::test_support::session::{AGENT, PID, SMALL, Size, session};

#[test]
fn everything_arrives() {
    let sizes = [
        SMALL,
        Size { threads: 1, llama_calls: 1, nodes: 1, views_run: false },
        Size { threads: 7, llama_calls: 12, nodes: 60, views_run: true },
        // Tensors of one topology, and spans of one thread, that fill several frames.
        Size { threads: 2, llama_calls: 3, nodes: 1500, views_run: false },
    ];
    for (seed, size) in (0..8).flat_map(|seed| sizes.map(|s| (seed, s))) {
        let sent = session(seed, size);
        let model = read(&sent.bytes(), usize::MAX).unwrap();
        Received::new(&model).equals(&sent.truth);
        assert!(model.health.perfect(), "{:?}", model.health);
        assert_eq!(model.health.bytes, sent.bytes().len() as u64);
        assert_eq!(model.health.frames, sent.records.len() as u64);
        assert_eq!(model.health.spans_received, sent.truth.spans.len() as u64);
        let frames = sent.frames();
        let batches = frames.iter().zip(&sent.records).filter(|(_, (kind, _))| [0x30, 0x32].contains(kind));
        assert_eq!(model.health.span_bytes, batches.map(|(f, _)| f.len() as u64).sum::<u64>());
    }
}

#[test]
fn pieces_of_any_size() {
    let sent = session(5, SMALL);
    let bytes = sent.bytes();
    let whole = Received::new(&read(&bytes, usize::MAX).unwrap());
    for piece in (1..70).chain([1000, 4096]) {
        assert_eq!(Received::new(&read(&bytes, piece).unwrap()), whole, "pieces of {piece} bytes");
    }
}

#[test]
fn session_facts() {
    let model = read(&session(1, SMALL).bytes(), usize::MAX).unwrap();
    let s = &model.session;
    assert_eq!((s.agent.as_str(), s.kernel.as_str(), s.machine.as_str()), ("0.1.0", "6.1.0", "x86_64"));
    assert_eq!((s.cpu_model.as_str(), s.board.as_str(), s.cpus), ("A CPU", "host", 4));
    assert_eq!(s.levels, [Level::Token, Level::Graph, Level::Op]);
    assert_eq!((s.start_ns, s.start_unix_ns), (1_000_000_001, 1_700_000_000_000_000_000));
    assert_eq!((s.processes[0].pid, s.processes[0].engine_version.as_str()), (PID, "7.0"));
    assert_eq!(s.agent_pid, Some(AGENT));
    assert_eq!((s.libraries[0].build_id.as_str(), s.libraries[0].pid), ("abcd", PID));
    assert_eq!(s.libraries[0].roles, [LibraryRole::CpuOperators]);
    let probes: Vec<_> = s.probes.iter().map(|p| (p.level, p.offset, p.attached)).collect();
    let probe = |level| (Some(level), 0x1234, true);
    assert_eq!(probes, [probe(Level::Token), probe(Level::Graph), probe(Level::Op)]);
    for (_, t) in model.threads.iter() {
        assert_eq!((t.pid, model.texts.get(t.name)), (PID, "worker"));
    }
    let end = model.health.end.unwrap();
    assert_eq!((end.reason, end.bpf_run_ns, end.bpf_runs), (EndReason::EngineEnded, 123, 4));
    assert_eq!((end.agent_cpu_ns, end.agent_rss_bytes), (5_000_000, 9 << 20));
    let cost = model.health.probe_cost.unwrap();
    assert_eq!((cost.pairs, cost.pair_ns, cost.inside_ns), (2048, 1310, 640));
}

/// A real address needs all 64 bits, and the dimensions of a tensor need not fit 32.
#[test]
fn large_numbers() {
    use profinfer_trace::test_support::bytes::{Fields, frame, hello};
    use profinfer_trace::test_support::records;
    use profinfer_trace::test_support::truth::Decode;
    let sent = Decode {
        start: u64::MAX - 10,
        duration: 7,
        tid: u32::MAX,
        context: u64::MAX,
        n_tokens: u32::MAX,
        status: i32::MIN,
    };
    let mut bytes = hello(1);
    let (kind, payload) = records::decode(u32::MAX, u32::MAX, &sent, Some(u32::MAX));
    bytes.extend(frame(kind, 0, &payload));
    let max = u64::from(u32::MAX);
    let thread = Fields::default().uint(max).uint(max).text("");
    bytes.extend(frame(0x05, 1, &thread.0));
    let model = read(&bytes, usize::MAX).unwrap();
    assert_eq!(Received::new(&model).llama_calls, [sent]);
    assert!(model.health.damage.is_empty() && model.health.cut_short());
}
