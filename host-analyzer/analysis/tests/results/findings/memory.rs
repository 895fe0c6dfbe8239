//! Memory: its bandwidth, pages, copies, and experts that do not fit.

use profinfer_analysis::Analysis;
use profinfer_analysis::ceiling::NoCeiling;
use profinfer_analysis::findings::{Confidence, Findings, Remedy, Requirement, Rule, Value};
use profinfer_analysis::ladder::{Question, StepKind};
use profinfer_analysis::phase::Phase;
use profinfer_analysis::replay::Cause;
use profinfer_analysis::roof::Top;
use profinfer_trace::model::*;

use super::Answer::{Found, NotKnown, RuledOut, Silent};
use super::{PROCESS, answer, confidence, delayed_start, evidence, findings, number, remedy, rises};
use crate::models::planted::{DELAY, Plant, TOKENS, each, prompts, state, tokens};
use crate::models::routed::{self, Routed};
use crate::models::rows::{self, sources};
use crate::models::small::PID;

/// All weights in one anonymous buffer, the matrix with `bytes` bytes.
pub(super) fn weights(m: &mut Model, bytes: u64, memory: Memory) {
    m.buffers.push(Buffer { pid: PID, kind: "CPU_REPACK".to_owned(), memory, path: String::new() });
    let nodes = &mut m.topologies.rows[0].nodes;
    nodes[5].bytes = bytes;
    nodes.iter_mut().filter(|n| n.role == Role::Weight).for_each(|n| n.buffer = Some(BufferId(0)));
}

pub(super) fn ceiling(m: &mut Model, kind: CeilingKind, median: u64) {
    m.ceilings.push(rows::ceiling(kind, &[0, 1], median));
}

const GIB: u64 = 1 << 30;

/// A GiB of anonymous weights, partly in huge pages, and six spans per token with `per_span` page
/// walks each.
fn walks(bytes: u64, huge: u64, per_span: u64) -> Model {
    let mut m = tokens(0, 0, 0, false);
    weights(&mut m, bytes, Memory::Anonymous);
    number(&mut m, PROCESS, "huge.anonymous", huge);
    let n = m.spans.len();
    let c = &mut m.spans.counts;
    (c.names, c.values) = (vec!["DTLB_WALK".to_owned()], vec![vec![per_span; n]]);
    (c.switches, c.why) = (vec![0; n], vec![0; n]);
    m
}

#[test]
fn small_pages() {
    // A token reads slightly more than 2^30 bytes, so slightly more than 131072 walks are one for
    // every 8 KiB.
    let m = walks(GIB, 0, 30_000);
    assert_eq!((answer(&m, "huge_pages"), remedy(&m, "huge_pages")), (Found(0, 0), Remedy::HugePages));
    assert_eq!(evidence(&m, "huge_pages", "page_walks_per_token"), Some(Value::Mean(180_000.0)));
    // The vector has a buffer too.
    assert_eq!(evidence(&m, "huge_pages", "own_weights"), Some(Value::Bytes(GIB + 256)));
    let others = [walks(GIB, 0, 21_000), walks(GIB, GIB / 8, 30_000), walks(GIB / 4, 0, 30_000)];
    assert_eq!(others.map(|m| answer(&m, "huge_pages")), [RuledOut, RuledOut, RuledOut]);
    let mut mapped = walks(GIB, 0, 30_000);
    mapped.buffers[0].memory = Memory::File;
    assert_eq!(answer(&mapped, "huge_pages"), RuledOut);
    let counter = Requirement::Counter("DTLB_WALK");
    assert_eq!(answer(&tokens(0, 0, 0, false), "huge_pages"), NotKnown(vec![counter]));
}

#[test]
fn two_copies() {
    let with = |own: u64, mapped: u64, available: u64| {
        let mut m = tokens(0, 0, 0, false);
        weights(&mut m, own, Memory::Anonymous);
        number(&mut m, PROCESS, "rss.file", mapped);
        number(&mut m, FactScope::System, "memory.available", available);
        number(&mut m, FactScope::System, "memory.total", 4 * GIB);
        m
    };
    let m = with(GIB, GIB / 2 + 200, GIB);
    assert_eq!(answer(&m, "double_copy"), Found(0, 0));
    assert_eq!(remedy(&m, "double_copy"), Remedy::OneCopy { bytes: GIB / 2 + 200 });
    assert_eq!(evidence(&m, "double_copy", "memory_available"), Some(Value::Bytes(GIB)));
    let others = [with(GIB, GIB / 4, GIB / 2), with(GIB, GIB, 2 * GIB)];
    assert_eq!(others.map(|m| answer(&m, "double_copy")), [RuledOut, RuledOut]);
    let facts = [Requirement::Fact("memory.available"), Requirement::Fact("rss.file")];
    assert_eq!(answer(&tokens(0, 0, 0, false), "double_copy"), NotKnown(facts.to_vec()));
}

/// In each token the worker sleeps for two microseconds, so that it takes 2450 ns.
fn paged(faults: u64, state_of: ThreadState) -> Model {
    let mut m = tokens(DELAY, 0, 0, true);
    for call in 0..TOKENS as usize {
        let at = m.llama_calls.start_ns[call] + 50;
        state(&mut m, 1, at, DELAY, state_of);
    }
    rises(&mut m, "faults.major", faults);
    m
}

#[test]
fn pages_from_disk() {
    let m = paged(76, ThreadState::Blocked);
    // The time asleep, with 8.4 % of the 450 ns without it, and 7.8 % of itself, added as squares.
    assert_eq!(answer(&m, "paging"), Found(1_840, 2_038));
    // Twice per token, from readings with 38 tokens in between.
    let Some(Value::Mean(faults)) = evidence(&m, "paging", "major_faults_per_token") else { panic!() };
    assert!((faults - 2.0).abs() < 1e-6, "{faults}");
    assert_eq!(evidence(&m, "paging", "lost_ns"), Some(Value::Nanoseconds(DELAY)));
    // Faults that cost nothing, and sleep without faults.
    let others = [paged(76, ThreadState::Running), paged(3, ThreadState::Blocked)];
    let unknown = NotKnown(vec![Requirement::Culprit]);
    assert_eq!(others.map(|m| answer(&m, "paging")), [RuledOut, unknown]);
    let fact = Requirement::Fact("faults.major");
    assert_eq!(answer(&tokens(0, 0, 0, false), "paging"), NotKnown(vec![fact.clone()]));
    // The faults of another process do not count.
    let mut other = paged(76, ThreadState::Running);
    other.facts.rows.iter_mut().for_each(|row| row.scope = FactScope::Process(PID + 1));
    assert_eq!(
        ["paging", "cold_start"].map(|code| answer(&other, code)),
        [(); 2].map(|()| NotKnown(vec![fact.clone()]))
    );
    // The operator that sleeps looks up rows of a table: less memory for other weights would change nothing.
    assert!(matches!(remedy(&m, "paging"), Remedy::MoreMemory { .. }));
    let mut table = m;
    table.topologies.rows[0].nodes[0].op = table.texts.intern("GET_ROWS");
    assert_eq!(remedy(&table, "paging"), Remedy::TableInMemory);
    assert_eq!(evidence(&table, "paging", "blocked_in_tables"), Some(Value::Share(1.0)));
}

/// A prompt sleeps uninterruptibly for a fortieth of its time, and the process had no major fault: its pages were
/// not read from storage, and nothing shows what it waited for.
#[test]
fn sleep_without_page_faults_is_no_cold_start() {
    let mut m = prompts(tokens(DELAY, 0, 0, true));
    for call in 0..TOKENS as usize {
        let at = m.llama_calls.start_ns[call] + 50;
        state(&mut m, 1, at, 60, ThreadState::Blocked);
    }
    rises(&mut m, "faults.major", 0);
    assert_eq!(answer(&m, "cold_start"), NotKnown(vec![Requirement::Culprit]));
}

/// The group of the process exceeded `memory.high` 40 times, and waited for 76 microseconds.
#[test]
fn memory_of_the_control_group() {
    let reclaiming = |faults| {
        let mut m = paged(faults, ThreadState::Blocked);
        number(&mut m, PROCESS, "cgroup.memory.high", GIB);
        rises(&mut m, "cgroup.memory.high_events", 40);
        rises(&mut m, "cgroup.memory.stalled_ns", 76_000);
        m
    };
    let m = reclaiming(0);
    assert_eq!(answer(&m, "memory_reclaim"), Found(1_840, 2_038));
    assert!(matches!(remedy(&m, "memory_reclaim"), Remedy::MoreMemory { .. }));
    assert_eq!(evidence(&m, "memory_reclaim", "memory_high"), Some(Value::Bytes(GIB)));
    assert_eq!(evidence(&m, "memory_reclaim", "memory_stalled"), Some(Value::Nanoseconds(76_000)));
    // Pages that are read again have another cause; without a group nothing is known of its memory.
    assert_eq!(answer(&reclaiming(76), "paging"), Found(1_840, 2_038));
    assert_ne!(answer(&reclaiming(76), "memory_reclaim"), Found(1_840, 2_038));
    assert_eq!(answer(&paged(0, ThreadState::Blocked), "memory_reclaim"), Silent);
}

/// The main thread sleeps for 500 of the 1,000 ns before the first call, and the worker for `in_trial` in an operator
/// of that call, which is a trial. The control group waits for memory for `stalled` ns.
#[test]
fn a_start_that_waits_for_memory() {
    let gain = |in_trial, stalled| {
        let mut m = each(|token| Plant { work: if token == 0 { in_trial } else { 0 }, ..Plant::default() });
        // The second call begins the text again.
        m.llama_calls.n_tokens[1] = 4;
        let graph = m.graph_calls.decode.iter().rposition(|call| *call == Some(LlamaCallId(1))).unwrap();
        m.graph_calls.n_past[graph] = Some(0);
        delayed_start(&mut m, ThreadState::Sleeping);
        if in_trial > 0 {
            state(&mut m, 1, 1_050, in_trial, ThreadState::Blocked);
        }
        rises(&mut m, "cgroup.memory.high_events", 40);
        rises(&mut m, "cgroup.memory.stalled_ns", stalled);
        let f = findings(&m);
        let gain = f.found.iter().find(|f| f.rule.code == "memory_reclaim")?.effects[0].gain?;
        Some((gain.low_ns, gain.likely_ns, gain.high_ns))
    };
    assert_eq!(gain(0, 500), Some((461, 500, 539)));
    assert_eq!(gain(0, 300), Some((277, 300, 501)));
    assert_eq!(gain(0, 20), None);
    assert_eq!(gain(2_000, 2_500), Some((2_305, 2_500, 2_695)));
}

/// The kernel's own work for the faults seems to be that of the operators.
#[test]
fn the_kernel_works_for_pages() {
    let mut m = paged(76, ThreadState::Blocked);
    // 2 microseconds of sleep of one thread, and 100 ns of it in the kernel, per token of 2450 ns.
    rises(&mut m, "kernel_ns", 38 * 100);
    let Found(low, high) = answer(&m, "paging") else { panic!() };
    assert!((1_900..1_980).contains(&low) && (2_100..2_150).contains(&high), "{low} to {high}");
    let lost = |m: &Model| match evidence(m, "paging", "lost_ns") {
        Some(Value::Nanoseconds(ns)) => ns,
        other => panic!("{other:?}"),
    };
    // Less the probes: 6 ns.
    assert_eq!(lost(&m), DELAY + 100 - 6);
    // The main thread sleeps as long at the same time: they share the work.
    let mut both = paged(76, ThreadState::Blocked);
    for call in 0..TOKENS as usize {
        let at = both.llama_calls.start_ns[call] + 50;
        state(&mut both, 0, at, DELAY, ThreadState::Blocked);
    }
    let asleep = lost(&both);
    rises(&mut both, "kernel_ns", 38 * 200);
    assert_eq!(lost(&both) - asleep, 100 - 6);
    // Time in the kernel is not for pages if no thread slept for them.
    let mut running = paged(76, ThreadState::Running);
    rises(&mut running, "kernel_ns", 38 * 200);
    assert_eq!(answer(&running, "paging"), RuledOut);
}

#[test]
fn bandwidth_and_kernels() {
    // A call of 400 ns reads 16384 and 256 bytes of weights: 41.6 GB/s.
    let with = |read: u64, int8: u64| {
        let mut m = tokens(0, 0, 0, false);
        ceiling(&mut m, CeilingKind::Read, read);
        ceiling(&mut m, CeilingKind::Int8, int8);
        m
    };
    let full = with(46_222_222_222, 1_000_000_000_000);
    // Weights of 4.5 instead of 32 bits: 27.5/32 of the 100 ns of the product, which is at its limit,
    // ± 7.8 % for another session.
    assert_eq!(answer(&full, "bandwidth"), Found(78, 92));
    assert_eq!(evidence(&full, "bandwidth", "bits_per_weight"), Some(Value::Mean(32.0)));
    assert_eq!(evidence(&full, "bandwidth", "bytes_per_token"), Some(Value::Bytes(16_640)));
    // A table of which rows are looked up has other bits.
    let mut lookup = with(46_222_222_222, 1_000_000_000_000);
    let (get_rows, name) = (lookup.texts.intern("GET_ROWS"), lookup.texts.intern("table"));
    let nodes = &mut lookup.topologies.rows[0].nodes;
    nodes.push(Node { name, ne: [64, 1_000, 1, 1], bytes: 64_000, ..nodes[5].clone() });
    nodes[4] = Node { op: get_rows, src: sources(&[8, 3]), ..nodes[4].clone() };
    assert_eq!(evidence(&lookup, "bandwidth", "bits_per_weight"), Some(Value::Mean(32.0)));
    let Some(Value::Share(mbu)) = evidence(&full, "bandwidth", "memory_bandwidth_used") else { panic!() };
    assert!((mbu - 0.9).abs() < 1e-6, "{mbu}");
    assert_eq!(answer(&full, "kernels"), RuledOut);
    assert_eq!(evidence(&full, "bandwidth", "working_set"), None, "no curve was measured");
    // By the curve: equal at a token's bytes, and ten times as fast, or as slow, elsewhere.
    for (below, above) in [(460_000_000_000, 46_000_000_000), (46_222_222_222, 4_000_000_000)] {
        let mut curve = with(above, 1_000_000_000_000);
        curve.ceilings[0].points =
            crate::ceilings::points(&[(8_320, below), (16_640, 46_222_222_222), (1 << 30, above)]);
        assert_eq!((answer(&curve, "bandwidth"), answer(&curve, "kernels")), (Found(78, 92), RuledOut));
        assert_eq!(evidence(&curve, "bandwidth", "working_set"), Some(Value::Bytes(16_640)));
        let ceiling = Some(Value::BytesPerSecond(46_222_222_222.0));
        assert_eq!(evidence(&curve, "bandwidth", "read_ceiling"), ceiling);
    }
    // The product does 8192 operations in 100 ns, 82 per nanosecond.
    let slow = with(1_000_000_000_000, 90_000_000_000);
    assert_eq!(answer(&slow, "bandwidth"), RuledOut);
    // The product is far above both limits, and there is no other type to compare it with.
    let other = NotKnown(vec![Requirement::OtherType]);
    assert_eq!(answer(&with(1_000_000_000_000, 1_000_000_000_000), "kernels"), other);
    let ceiling = Requirement::NoCeiling("read", NoCeiling::NotMeasured);
    assert_eq!(answer(&tokens(0, 0, 0, false), "kernels"), NotKnown(vec![ceiling]));
    // It was measured: the doubt is the reason.
    let mut doubted = with(1_000_000_000_000, 1_000_000_000_000);
    doubted.ceilings[0].note = "an engine ran".to_owned();
    let read = Requirement::NoCeiling("read", NoCeiling::Doubtful(Doubt::Noted));
    assert_eq!(answer(&doubted, "bandwidth"), NotKnown(vec![read]));
}

/// The first product of a token takes 99 ns, and the last operator becomes one of the same size with
/// another type that takes 19.
#[test]
fn a_type_without_a_fast_kernel() {
    let mut m = tokens(0, 0, 0, false);
    ceiling(&mut m, CeilingKind::Read, 1_000_000_000_000);
    let f16 = m.texts.intern("f16");
    let nodes = &mut m.topologies.rows[0].nodes;
    let (weights, product) = (Node { dtype: f16, ..nodes[5].clone() }, nodes[0].clone());
    nodes.push(weights);
    nodes[4] = Node { src: sources(&[8, 3]), ..product };
    // 19 ns and 3 % more or less instead of 99, in a session that differs by 7.8 % of the gain.
    assert_eq!(answer(&m, "kernels"), Found(74, 86));
    assert_eq!(evidence(&m, "kernels", "type"), Some(Value::Name("q8_0".to_owned())));
    assert_eq!(evidence(&m, "kernels", "other_type"), Some(Value::Name("f16".to_owned())));
}

/// The first product of a token takes 99 of 450 ns and reads keys from the KV cache. What another type
/// takes is not recorded, so the gain lies between nothing and the time above the limit.
#[test]
fn keys_of_a_quantized_type() {
    let with = |dtype: &str, read: u64| {
        let mut m = tokens(0, 0, 0, false);
        ceiling(&mut m, CeilingKind::Read, read);
        let (dtype, name) = (m.texts.intern(dtype), m.texts.intern("cache_k_l0"));
        let nodes = &mut m.topologies.rows[0].nodes;
        nodes[5] = Node { dtype, name, role: Role::Cache, ..nodes[5].clone() };
        m
    };
    // Without values of another type next to them, flash attention reads the keys.
    let types = |dtype: &str| match remedy(&with(dtype, 1_000_000_000_000), "kv_type") {
        Remedy::KvType { types } => types,
        other => panic!("{other:?}"),
    };
    assert_eq!((types("q5_1"), types("q8_0")), (&["f16", "q8_0"][..], &["f16"][..]));
    let verdict = |dtype: &str, read: u64| answer(&with(dtype, read), "kv_type");
    let one = verdict("q5_1", 1_000_000_000_000);
    assert!(matches!(one, Found(0, 75..99)), "{one:?}");
    assert_eq!(verdict("f16", 1_000_000_000_000), RuledOut);
    // At most 16 ns: 3.6 % of a token, half of which is too little to try.
    assert_eq!(verdict("q5_1", 197_000_000_000), NotKnown(vec![Requirement::OtherKvType]));
    // At the limit.
    assert_eq!(verdict("q5_1", 100_000_000_000), RuledOut);
}

/// Without a ceiling, the rate of the fastest operator rules the cause out if a token reads at less
/// than half of it, and never shows it.
#[test]
fn bandwidth_by_the_best_rate_seen() {
    let m = tokens(0, 0, 0, false);
    let verdict = |per_s: Option<u64>| {
        let mut analysis = Analysis::compute(&m);
        let top = per_s.map(|per_s| Top {
            per_s,
            same_cpus: false,
            working_set_bytes: None,
            beyond: false,
            low: per_s,
            high: None,
            polluted: false,
            source: CeilingSource::BestSeen,
        });
        analysis.roof.phases[Phase::Decode.index()].instead.read = top;
        let findings = Findings::compute(&m, &analysis);
        let is = |rule: &Rule| rule.code == "bandwidth";
        assert!(!findings.found.iter().any(|f| is(f.rule)));
        let missing = findings.not_known.into_iter().find(|(rule, _)| is(rule)).map(|(_, missing)| missing);
        (findings.ruled_out.iter().any(|(rule, _)| is(rule)), missing)
    };
    // A token reads 41.6 GB/s.
    let missing = vec![Requirement::NoCeiling("read", NoCeiling::NotMeasured)];
    assert_eq!(verdict(None), (false, Some(missing.clone())));
    assert_eq!(verdict(Some(83_000_000_000)), (false, Some(missing)));
    assert_eq!(verdict(Some(84_000_000_000)), (true, None));
}

#[test]
fn experts_from_disk() {
    let spec = Routed { layers: 1, n_expert: 8, n_used: 1, expert_bytes: [64, 32, 7] };
    let with = |faults: u64, of_token: fn(u32) -> u32| {
        let mut m = routed::session();
        (0..40).for_each(|token| {
            routed::call(&mut m, &spec, routed::CONTEXT, &vec![vec![vec![of_token(token)]]]);
        });
        rises(&mut m, "faults.major", faults);
        m
    };
    // Three of four tokens use the same two experts of eight.
    let m = with(9, |token| if token % 4 == 3 { token % 8 } else { token % 2 });
    assert_eq!((answer(&m, "experts"), remedy(&m, "experts")), (Found(0, 0), Remedy::PinExperts));
    let said = ["served_by_a_quarter", "served_by_chance"].map(|key| evidence(&m, "experts", key));
    assert_eq!(said, [0.75, 0.25].map(|share| Some(Value::Share(share))));
    assert_eq!(evidence(&m, "experts", "major_faults"), Some(Value::Count(9)));
    assert_eq!(evidence(&m, "experts", "never_used"), Some(Value::Count(4)));
    let others = [with(0, |token| token % 2), with(9, |token| token % 8)];
    assert_eq!(others.map(|m| answer(&m, "experts")), [RuledOut, RuledOut]);
    // Whether the skewed ones are read from disk is unknown.
    let mut unknown = [with(9, |token| token % 2), with(9, |token| token % 8)];
    unknown.iter_mut().for_each(|m| m.facts.rows.clear());
    let fact = Requirement::Fact("faults.major");
    assert_eq!(unknown.map(|m| answer(&m, "experts")), [NotKnown(vec![fact]), RuledOut]);
    assert_eq!(answer(&tokens(0, 0, 0, false), "experts"), Silent);
}

/// A task on CPU 3 in tokens that `runs` selects. In those that `slow` selects, the first operator takes
/// 60 of its 100 ns longer on both threads.
fn neighbour(runs: impl Fn(u64) -> bool, slow: impl Fn(u64) -> bool) -> Model {
    let mut m = each(|i| Plant { work: if slow(i) { 60 } else { 0 }, ..Plant::default() });
    // The main thread waits for as long in its first operator.
    for i in 0..m.spans.len() {
        if m.spans.thread[i] == ThreadId(0) && m.spans.wait_ns[i] == 70 {
            m.spans.work_ns[i] += 60;
            m.spans.wait_ns[i] -= 60;
        }
    }
    (m.sched.recorded, m.sched.cpu_use_recorded) = (true, true);
    let (none, name) = (Text::default(), m.texts.intern("hog"));
    m.sched.tasks.push(Task { tid: 4243, pid: 4242, name, command: name, cgroup: none });
    for i in (0..TOKENS).filter(|i| runs(*i)) {
        let call = i as usize;
        let rows = &mut m.sched.cpu_use;
        rows.cpu.push(3);
        rows.start_ns.push(m.llama_calls.start_ns[call]);
        rows.duration_ns.push(m.llama_calls.duration_ns[call]);
        rows.task.push(TaskId(0));
        rows.busy_ns.push(m.llama_calls.duration_ns[call]);
    }
    m
}

/// A build starts a process for each file. One program holds up the engine, wherever its processes run.
#[test]
fn many_short_processes_on_another_cpu_are_one_program() {
    let every_other = |i: u64| i / 3 % 2 == 1;
    let mut m = neighbour(every_other, every_other);
    let hog = m.sched.tasks.remove(0);
    for (i, task) in m.sched.cpu_use.task.iter_mut().enumerate() {
        *task = TaskId(i as u32);
        let id = 5_000 + i as u32;
        m.sched.tasks.push(Task { tid: id, pid: id, ..hog });
    }
    let a = Analysis::compute(&m);
    let [program] = &a.replay.culprits[..] else { panic!("{:?}", a.replay.culprits) };
    assert_eq!((program.pid, &*program.name, &program.cpus[..]), (0, "hog", &[3][..]));
    assert!(program.tasks > 8);
    let neighbour = |kind| matches!(kind, StepKind::Caused(Cause::SharedMemory(_)));
    let ladder = a.ladder.of(Question::Decode).unwrap();
    assert_eq!(ladder.steps.iter().filter(|s| neighbour(s.kind)).count(), 1);
    let tasks = vec![(0, "hog".to_owned())];
    assert_eq!(remedy(&m, "shared_memory"), Remedy::MoveNeighbours { tasks });
}

/// What a program takes that comes in the middle and stays is no lower speed for unknown reasons.
#[test]
fn a_program_that_comes_to_another_cpu() {
    let m = neighbour(|i| i >= 20, |i| i >= 20);
    assert!(matches!(answer(&m, "shared_memory"), Found(..)), "{:?}", answer(&m, "shared_memory"));
    assert_eq!(Analysis::compute(&m).replay.speed_changes, []);
    let unseen = Analysis::compute(&neighbour(|_| false, |i| i >= 20));
    assert_eq!(unseen.replay.speed_changes.len(), 1);
}

#[test]
fn a_program_on_another_cpu() {
    let every_other = |i: u64| i / 3 % 2 == 1;
    let m = neighbour(every_other, every_other);
    // In 19 of 39 tokens 60 ns, of 450 and 510.
    let Found(low, high) = answer(&m, "shared_memory") else { panic!("{:?}", answer(&m, "shared_memory")) };
    let Some(Value::Nanoseconds(lost)) = evidence(&m, "shared_memory", "lost_ns") else { panic!() };
    assert!((25..=33).contains(&lost) && low <= lost && lost <= high, "{low} to {high}, {lost}");
    let tasks = vec![(4242, "hog".to_owned())];
    assert_eq!(remedy(&m, "shared_memory"), Remedy::MoveNeighbours { tasks });
    assert_eq!(evidence(&m, "shared_memory", "task_cpus"), Some(Value::Cpus(vec![3])));
    // A thread of the kernel, or a program, had another CPU for a part of that time.
    let with_other = |part, of_kernel: bool| {
        let mut m = neighbour(every_other, every_other);
        let (name, none) = (m.texts.intern("backup"), Text::default());
        let command = if of_kernel { none } else { name };
        m.sched.tasks.push(Task { tid: 77, pid: 77, name, command, cgroup: none });
        let rows = &mut m.sched.cpu_use;
        for i in 0..rows.cpu.len() {
            rows.cpu.push(4);
            rows.start_ns.push(rows.start_ns[i]);
            rows.duration_ns.push(rows.duration_ns[i]);
            rows.task.push(TaskId(1));
            rows.busy_ns.push(rows.busy_ns[i] / part);
        }
        remedy(&m, "shared_memory")
    };
    let (hog, other) = ((4242, "hog".to_owned()), (77, "backup".to_owned()));
    assert_eq!(with_other(3, true), Remedy::MoveNeighbours { tasks: vec![hog.clone()] });
    assert_eq!(with_other(20, false), Remedy::MoveNeighbours { tasks: vec![hog.clone()] });
    assert_eq!(with_other(3, false), Remedy::MoveNeighbours { tasks: vec![hog, other] });
    // Only a thread of the kernel.
    let mut of_kernel = neighbour(every_other, every_other);
    of_kernel.sched.tasks[0].command = Text::default();
    let tasks = vec![(4242, "hog".to_owned())];
    assert_eq!(remedy(&of_kernel, "shared_memory"), Remedy::KernelThreads { tasks });
    // It comes and goes, and the tokens do not follow.
    assert_eq!(answer(&neighbour(every_other, |_| false), "shared_memory"), RuledOut);
    // Nobody there.
    assert_eq!(answer(&neighbour(|_| false, every_other), "shared_memory"), RuledOut);
    // Always there: the time above a measured limit may be due to it.
    let mut always = neighbour(|_| true, |_| true);
    assert_eq!(answer(&always, "shared_memory"), NotKnown(vec![Requirement::WithoutNeighbours]));
    ceiling(&mut always, CeilingKind::Read, 200_000_000_000);
    let Found(0, high) = answer(&always, "shared_memory") else { panic!() };
    assert!((60..150).contains(&high), "{high}");
    assert_eq!(confidence(&always, "shared_memory"), Confidence::Low);
}
