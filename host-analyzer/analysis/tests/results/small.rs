//! Every figure of the small session, computed by hand from `models/small.rs`.

use profinfer_analysis::Analysis;
use profinfer_analysis::dag::Dag;
use profinfer_analysis::ladder::{Question, StepKind};
use profinfer_analysis::op::{OpType, Operator};
use profinfer_analysis::phase::Phase;
use profinfer_trace::model::counter::NOT_COUNTED;
use profinfer_trace::model::{Absence, Counter, Counts, ProbeCost};

use crate::models::small;

fn analysis() -> Analysis {
    Analysis::compute(&small::model())
}

#[test]
fn calls_hold_graphs_and_graphs_hold_operators() {
    let token = analysis().token;
    let got: Vec<_> = token
        .calls
        .iter()
        .map(|c| (c.phase, c.start_ns, c.duration_ns, c.graph_ns, c.op_wall_ns, c.n_tokens))
        .collect();
    assert_eq!(
        got,
        [
            // 2100..2490, 2500..2560, 2560..2610
            (Phase::Prefill, 1_000, 1_000, Some(900), Some(390 + 60 + 50), Some(3)),
            // 3130..3235, 3240..3260, 3261..3280
            (Phase::Decode, 2_100, 400, Some(300), Some(105 + 20 + 19), Some(1)),
            // 3630..3760, 3770..3800, 3802..3821
            (Phase::Decode, 2_600, 420, Some(310), Some(130 + 30 + 19), Some(1)),
        ]
    );
    assert_eq!(token.calls[0].context.as_deref(), Some("0x5500"));
    assert_eq!((token.calls[0].thread, token.calls[2].id), (100, 2));
}

#[test]
fn totals_per_phase() {
    let token = analysis().token;
    let (p, d) = (token.prefill, token.decode);
    assert_eq!(
        (p.calls, p.tokens, p.time_ns, p.median_ns, p.p95_ns),
        (1, 3, 1_000, Some(1_000), Some(1_000))
    );
    assert_eq!((d.calls, d.tokens, d.time_ns, d.median_ns, d.p95_ns), (2, 2, 820, Some(400), Some(420)));
    assert_eq!((d.graph_ns, d.op_wall_ns), (Some(610), Some(144 + 179)));
    assert_eq!(p.tokens_per_s, Some(3.0e6));
    assert!((d.tokens_per_s.unwrap() - 2.0e9 / 820.0).abs() < 1e-3);
}

#[test]
fn ttft_and_tpot() {
    let requests = analysis().token.requests;
    assert_eq!(requests.len(), 1);
    let r = &requests[0];
    assert_eq!((r.first_call, r.prompt_tokens, r.ttft_ns, r.generated), (0, 3, Some(1_000), 2));
    // From the end of the prompt, 3000, to the end of the last call, 4020.
    assert_eq!(r.tpot_ns, Some(510));
    assert!((r.decode_tokens_per_s.unwrap() - 2.0e9 / 1_020.0).abs() < 1e-3);
}

#[test]
fn types_of_operators() {
    let types = analysis().op.types;
    let row = |t: &OpType| (t.phase, t.op.clone(), t.executions, t.wall_ns, t.work_ns, t.wait_ns.unwrap());
    let got: Vec<_> = types.iter().map(row).collect();
    assert_eq!(
        got,
        [
            (Phase::Prefill, "MUL_MAT".into(), 1, 390, 680, 110),
            (Phase::Prefill, "RMS_NORM".into(), 2, 110, 108 + 89, 0),
            (Phase::Decode, "MUL_MAT".into(), 2, 105 + 130, 204 + 248, 16 + 32),
            (Phase::Decode, "RMS_NORM".into(), 4, 50 + 38, 95 + 69, 10 + 22),
        ]
    );
    assert!((types[2].share - 235.0 / 323.0).abs() < 1e-12);
}

#[test]
fn operators_are_told_apart_by_name_operator_and_position() {
    let operators = analysis().op.operators;
    let row = |o: &Operator| (o.name.clone(), o.nth, o.executions, o.wall_ns, o.median_ns, o.p95_ns);
    let got: Vec<_> = operators.iter().filter(|o| o.phase == Phase::Decode).map(row).collect();
    assert_eq!(
        got,
        [
            ("Qcur-0".into(), 1, 2, 235, Some(105), Some(130)),
            ("norm-0".into(), 1, 2, 50, Some(20), Some(30)),
            ("norm-0".into(), 2, 2, 38, Some(19), Some(19)),
        ]
    );
    let decode = &operators[3..];
    assert_eq!(decode[0].ne, [64, 1, 1, 1]);
    let src: Vec<_> = decode[0].src.iter().map(|s| (s.name.as_str(), s.dtype.as_str(), s.role)).collect();
    assert_eq!(src, [("wq", "q8_0", "weight"), ("inp", "f32", "input")]);
    assert_eq!(
        decode.iter().map(|o| o.fused.as_deref()).collect::<Vec<_>>(),
        [None, Some("attn_norm-0"), None]
    );
}

#[test]
fn threads_work_and_wait() {
    let threads = analysis().thread;
    let got: Vec<_> = threads
        .iter()
        .map(|t| {
            (
                t.tid,
                t.spans,
                t.migrated.unwrap(),
                t.work_ns,
                t.wait_ns.unwrap(),
                t.prefill_work_ns,
                t.decode_wait_ns.unwrap(),
            )
        })
        .collect();
    assert_eq!(
        got,
        [
            (100, 9, 0, 390 + 138 + 165, 100 + 17 + 32, 390, 17 + 32),
            (101, 9, 3, 487 + 140 + 173, 10 + 14 + 17, 487, 14 + 17),
        ]
    );
}

#[test]
fn graphs_per_layer_and_backend() {
    let graphs = analysis().graph;
    let got: Vec<_> = graphs
        .iter()
        .map(|g| (g.layer, g.backend.as_str(), g.calls, g.topologies, g.min_nodes, g.max_nodes, g.time_ns))
        .collect();
    assert_eq!(got, [("scheduler", "", 3, 0, 5, 5, 1_510), ("backend", "CPU", 3, 2, 5, 5, 1_310)]);
}

#[test]
fn dag_has_order_fusion_and_means() {
    let dags = analysis().dag;
    let head = |d: &Dag| (d.id, d.phase, d.topology, d.n_tokens, d.calls, d.n_nodes, d.n_leafs, d.complete);
    assert_eq!(
        dags.iter().map(head).collect::<Vec<_>>(),
        [(0, Phase::Prefill, 0, Some(3), 1, 5, 3, true), (1, Phase::Decode, 1, Some(1), 2, 5, 3, true),]
    );
    let nodes: Vec<_> = dags[1]
        .nodes
        .iter()
        .map(|n| (n.index, n.order, n.fused_with, n.view_of, n.executions, n.wall_ns, n.wait_ns))
        .collect();
    assert_eq!(
        nodes,
        [
            // 235 / 2, rounded
            (0, Some(0), None, None, 2, Some(118), Some(24)),
            (1, None, None, Some(0), 0, None, None),
            (2, Some(1), None, None, 2, Some(25), Some(5)),
            (3, None, Some(2), None, 0, None, None),
            (4, Some(2), None, None, 2, Some(19), Some(11)),
            (5, None, None, None, 0, None, None),
            (6, None, None, None, 0, None, None),
            (7, None, None, None, 0, None, None),
        ]
    );
    let edges: Vec<_> = dags[1].edges.iter().map(|e| (e.from, e.to, e.slot)).collect();
    assert_eq!(edges, [(5, 0, 0), (6, 0, 1), (0, 1, 0), (1, 2, 0), (2, 3, 0), (7, 3, 1), (3, 4, 0)]);
    assert_eq!((dags[1].edges[1].ne, dags[1].edges[1].dtype.as_str()), ([64, 1, 1, 1], "f32"));
}

#[test]
fn cost_and_length() {
    let a = analysis();
    assert_eq!(a.duration_ns, 4_000);
    assert_eq!(
        (a.cost.stream_bytes, a.cost.span_bytes, a.cost.bytes_per_span),
        (1_000, Some(108), Some(6.0))
    );
    // Not measured is not 0.
    assert_eq!((a.cost.bpf_run_ns, a.cost.agent_cpu_ns), (None, Some(500)));
    assert_eq!((a.cost.probe_pair_ns, a.cost.decode_slowdown), (None, None));
}

/// It is that of the probes' step in the ladder.
#[test]
fn slowdown_by_the_probes() {
    let mut model = small::model();
    model.health.probe_cost = Some(ProbeCost { pairs: 2_048, pair_ns: 3, inside_ns: 1 });
    let a = Analysis::compute(&model);
    assert_eq!((a.cost.probe_pair_ns, a.cost.probe_inside_ns), (Some(3), Some(1)));
    let ladder = a.ladder.of(Question::Decode).unwrap();
    let probes = ladder.sum(|kind| kind == StepKind::Probes) as f64;
    let slowdown = probes / (ladder.measured_ns as f64 - probes);
    assert!(probes > 0.0 && (a.cost.decode_slowdown.unwrap() - slowdown).abs() < 1e-9);
}

/// One counter on two core types: the first thread's CPU has it in its first slot, the other's has
/// it in none.
#[test]
fn counters_by_type_of_operator_and_core() {
    let mut model = small::model();
    let n = model.spans.len();
    let second = model.spans.thread[n - 1];
    let mut cycles: Vec<u64> = (0..n as u64).map(|i| 100 + i).collect();
    let mut why = vec![0; n];
    for i in 0..n {
        let other = model.spans.thread[i] == second;
        model.spans.cpu[i] = Some(if other { 4 } else { 0 });
    }
    // The very last span migrated to another core.
    (cycles[n - 1], why[n - 1]) = (NOT_COUNTED, Absence::Mixed.bit());
    model.spans.counts =
        Counts { names: vec!["CPU_CYCLES".to_owned()], values: vec![cycles], switches: vec![2; n], why };
    for (pmu, cpus) in [("armv8_cortex_a55", vec![0, 1]), ("armv8_cortex_a76", vec![4])] {
        let (name, note) = ("CPU_CYCLES".to_owned(), String::new());
        let counter = Counter { name, event: 0x11, pmu: pmu.to_owned(), cpus, slot: 0, attached: true, note };
        model.session.counters.push(counter);
    }
    let counted = Analysis::compute(&model).counted;
    // Every span is in one row, and no row mixes cores: two operator types, two phases, two cores.
    assert_eq!(counted.iter().map(|c| c.spans).sum::<u64>(), n as u64);
    assert_eq!(counted.len(), 2 * 2 * 2);
    let a76: Vec<_> = counted.iter().filter(|c| c.pmu == "armv8_cortex_a76").collect();
    assert_eq!(a76.iter().map(|c| c.spans).sum::<u64>(), n as u64 / 2);
    assert_eq!(a76.iter().map(|c| c.absent.spans(Absence::Mixed)).sum::<u64>(), 1);
    assert_eq!(a76.iter().map(|c| c.switches).sum::<u64>(), n as u64);
    // There are 18 spans, six per call, three per thread. The last two operators are norms: in the
    // two decode calls the other core has rows 10, 11, 16 and 17, of which the last was not
    // counted.
    let last = a76
        .iter()
        .find(|c| c.phase == Phase::Decode && c.absent.spans(Absence::Mixed) == 1)
        .expect("its row");
    assert_eq!((last.spans, last.values.len()), (4, 1));
    assert_eq!((last.values[0].sum, last.values[0].spans), (110 + 111 + 116, 3));
    assert_eq!(last.values[0].work_ns, 19 + 17 + 26);
}
