//! Estimates for other settings from one recording: the time of every token and ceiling is computed
//! by hand.

use profinfer_analysis::ceiling::NoCeiling;
use profinfer_analysis::tune::{EstimatedSetting, Lacking, PRACTICAL, Prediction};
use profinfer_trace::model::*;
use profinfer_views::{self as views, words::tune as words};
use serde_json::Value;

use crate::models::planted;
use crate::models::rows;
use crate::models::small::{self, PID, Row};

const WARM_UP: usize = 3;
/// Tokens of 1000 ns: 140 on one thread outside of the graph, 110 between operators, and the rest
/// in operators as the spans show.
const TOKENS: u64 = 20;

/// An operator: with weights or not, elements per row, rows, bytes of the weights; work of each
/// thread, ns.
struct Planted {
    product: bool,
    ne: [u64; 2],
    bytes: u64,
    work: [u64; 2],
}

/// A product of 512 rows that two threads share evenly, and a norm of one row.
const PRODUCT: Planted = Planted { product: true, ne: [512, 1], bytes: 3_000, work: [600, 600] };
const NORM: Planted = Planted { product: false, ne: [64, 1], bytes: 0, work: [150, 1] };

/// Two consecutive operators on `threads` threads; thread `i` runs on `cpus[i]`.
fn session(operators: [Planted; 2], cpus: &[u16]) -> Model {
    let mut m = Model::default();
    for i in 0..cpus.len() as u32 {
        let thread = m.threads.find_or_add(100 + i);
        m.threads.describe(thread, PID, Text::default());
    }
    let texts = &mut m.texts;
    let mut node = |name: &str, op: &str, dtype: &str, role, ne: [u64; 2], bytes, src: &[u32]| Node {
        role,
        ne: [ne[0], ne[1], 1, 1],
        bytes,
        src: rows::sources(src),
        ..rows::tensor(texts, name, op, dtype)
    };
    let mut nodes = Vec::new();
    for (i, o) in operators.iter().enumerate() {
        let (op, src) = if o.product { ("MUL_MAT", vec![2 + i as u32, 4]) } else { ("ROPE", vec![4]) };
        nodes.push(node(&format!("op{i}-0"), op, "f32", Role::Node, o.ne, 4 * o.ne[0], &src));
    }
    for (i, o) in operators.iter().enumerate() {
        nodes.push(node(&format!("w{i}"), "NONE", "q8_0", Role::Weight, [64, o.ne[0]], o.bytes, &[]));
    }
    nodes.push(node("inp", "NONE", "f32", Role::Input, [64, 1], 256, &[]));
    m.topologies.rows.push(Topology { pid: PID, n_nodes: 2, nodes, complete: true });
    m.session.cpus = 8;
    m.health.probe_cost = Some(ProbeCost { pairs: 9, pair_ns: 1, inside_ns: 1 });
    let longest = operators.each_ref().map(|o| o.work[..cpus.len()].iter().copied().max().unwrap());
    for i in 0..TOKENS {
        let s = 1_000 + i * 1_000;
        let starts = [s + 20, s + 20 + longest[0] + 40];
        let mut rows: Vec<Row> = Vec::new();
        for thread in 0..cpus.len() {
            for (node, start) in (0..).zip(starts) {
                let work = operators[node as usize].work[thread];
                let wait = (longest[node as usize] - work) as u32;
                rows.push((thread as u32, node, node, start, work, wait));
            }
        }
        small::call(&mut m, s, [900, 880, 860], 1, 0, &rows);
    }
    for cpu in m.spans.cpu.iter_mut() {
        *cpu = cpu.map(|thread| cpus[usize::from(thread)]);
    }
    m
}

fn ceiling(kind: CeilingKind, core: &str, cpus: &[u16], median: u64) -> Ceiling {
    Ceiling { core: core.to_owned(), how: "loop".to_owned(), ..rows::ceiling(kind, cpus, median) }
}

/// Read, int8, f32 and barrier of a set of CPUs, in 10⁹ per second and ns.
fn set(core: &str, cpus: &[u16], figures: [u64; 4]) -> Vec<Ceiling> {
    use CeilingKind::{Barrier, F32, Int8, Read};
    let mut rows: Vec<Ceiling> = [Read, Int8, F32]
        .into_iter()
        .zip(figures)
        .map(|(kind, n)| ceiling(kind, core, cpus, n * 1_000_000_000))
        .collect();
    if cpus.len() > 1 {
        rows.push(ceiling(Barrier, core, cpus, figures[3]));
    }
    rows
}

fn alike() -> Vec<Ceiling> {
    [set("a", &[0], [10, 100, 50, 0]), set("a", &[0, 1], [15, 200, 100, 20])].concat()
}

fn estimated(mut m: Model, ceilings: Vec<Ceiling>) -> Prediction {
    m.ceilings = ceilings;
    Prediction::compute(&m, PRACTICAL, WARM_UP).unwrap()
}

fn near(row: &EstimatedSetting, token: f64, low: f64, high: f64) {
    let told = [row.token_ns, row.low_ns, row.high_ns];
    assert!(told.iter().zip([token, low, high]).all(|(a, b)| (a - b).abs() < 1e-6), "{row:?}");
}

/// The product reads 3000 bytes: 200 of its 599 ns at 15 GB/s, 300 at 10. The other 399 take twice
/// as long with half of the arithmetic.
#[test]
fn fewer_threads() {
    let p = estimated(session([PRODUCT, NORM], &[0, 1]), alike());
    let m = &p.makeup;
    assert_eq!((m.tokens, m.threads, &m.cpus[..], m.barriers), (17, 2, &[0, 1][..], 2.0));
    // A nanosecond of each operator is the probe's.
    assert_eq!((m.token_ns, m.probes_ns, m.half_ns), (998.0, 2.0, Some(0.0)));
    assert_eq!((m.serial_ns, m.between_ns, m.waits_ns), (140.0, 110.0, 0.0));
    assert!(m.other_ns.abs() < 1e-9);
    let operators: Vec<_> =
        m.operators.iter().map(|o| (&*o.desc, o.rows, o.product, o.ns.round(), o.bytes)).collect();
    assert_eq!(operators, [("MUL_MAT", 512, true, 599.0, 3_000.0), ("ROPE", 1, false, 149.0, 0.0)]);
    assert!(!p.cached && (p.memory_share - 200.0 / 748.0).abs() < 1e-9);

    let [one, two] = &p.settings[..] else { panic!("{p:?}") };
    assert_eq!((words::name(one), words::name(two)), ("t1@0".into(), "t2@0-1".into()));
    assert!(two.recorded && !one.recorded);
    near(two, 998.0, 998.0, 998.0);
    // 300 + 798 of the product, 149 of the norm, 70 between operators without barriers, 140
    // outside. Lowest if the memory limits all of the product (898.5), highest if the arithmetic
    // does (1198) and the barriers stay (40).
    near(one, 1457.0, 1257.5, 1597.0);
    assert_eq!((p.choice, two.plausible, one.plausible), (Some(1), true, false));
    let said = words::estimated(&p, Some("r.pfi"));
    assert!(
        said[0].starts_with("Estimated, not measured: use t2@0-1: 1002004 (1002004 to 1002004) t/s"),
        "{said:?}"
    );
    assert!(said[1].contains("analyze tune r.pfi --run -- COMMAND"), "{said:?}");
    assert!(said[2].contains("takes 27 % of the operators' time"), "{said:?}");
}

/// A token reads 3000 bytes. There the curves have 10 and 15 GB/s, and a tenth of that for larger
/// working sets.
#[test]
fn by_the_working_set_of_a_token() {
    let mut ceilings = alike();
    for read in ceilings.iter_mut().filter(|c| c.kind == CeilingKind::Read) {
        // 1500 and 4500 bytes in half and in one and a half times the time of 3000 bytes.
        let rate = read.median;
        read.points = crate::ceilings::points(&[(1_500, rate), (4_500, rate), (1 << 30, rate / 10)]);
        read.median = rate / 10;
    }
    let p = estimated(session([PRODUCT, NORM], &[0, 1]), ceilings.clone());
    let read = p.read.unwrap();
    assert_eq!((read.per_s, read.working_set_bytes, read.beyond), (15_000_000_000, Some(3_000), false));
    assert_eq!(p.settings, estimated(session([PRODUCT, NORM], &[0, 1]), alike()).settings);
    assert!(!p.cached && (p.memory_share - 200.0 / 748.0).abs() < 1e-9);
    // Without a curve, the memory level of a ceiling is unknown.
    assert_eq!(estimated(session([PRODUCT, NORM], &[0, 1]), alike()).read.unwrap().working_set_bytes, None);
    // Doubtful in the recorded setting: it is named.
    let recorded = ceilings.iter_mut().find(|c| c.kind == CeilingKind::Read && c.cpus.len() == 2).unwrap();
    recorded.points[0].doubts = vec![Doubt::Unstable];
    recorded.points[1].doubts = vec![Doubt::Unstable];
    let mut m = session([PRODUCT, NORM], &[0, 1]);
    m.ceilings = ceilings;
    let lacking = Prediction::compute(&m, PRACTICAL, WARM_UP).unwrap_err();
    assert_eq!(
        lacking,
        Lacking::Ceiling { kind: CeilingKind::Read, threads: 2, why: NoCeiling::Doubtful(Doubt::Unstable) }
    );
    let of_recorded = words::lacking(&lacking);
    // Doubtful in the only other setting.
    let mut m = session([PRODUCT, NORM], &[0, 1]);
    m.ceilings = [set("a", &[0], [10, 100, 50, 0]), set("a", &[0, 1], [15, 200, 100, 20])].concat();
    let other = m.ceilings.iter_mut().find(|c| c.kind == CeilingKind::Read && c.cpus == [0]).unwrap();
    other.points = crate::ceilings::points(&[(1 << 30, other.median)]);
    other.points[0].doubts = vec![Doubt::Unstable];
    let lacking = Prediction::compute(&m, PRACTICAL, WARM_UP).unwrap_err();
    let why = NoCeiling::Doubtful(Doubt::Unstable);
    assert_eq!(lacking, Lacking::DoubtfulSetting { kind: CeilingKind::Read, threads: 1, why });
    for (answer, help) in [of_recorded, words::lacking(&lacking)] {
        assert!(answer.contains("differ too much") && !help.contains("--bench"), "{answer} {help}");
    }
}

/// If one thread saturates the memory, both settings are equal except for barriers, and one thread
/// is sufficient in every case.
#[test]
fn one_thread_fills_the_memory() {
    let full = Planted { bytes: 8_985, ..PRODUCT };
    let same = [set("a", &[0], [15, 200, 100, 0]), set("a", &[0, 1], [15, 200, 100, 20])].concat();
    let p = estimated(session([full, NORM], &[0, 1]), same);
    // 8985 bytes at 15 GB/s are the 599 ns. With one thread there are two barriers less, or as
    // many.
    near(&p.settings[0], 958.0, 958.0, 998.0);
    assert_eq!((p.choice, p.settings[0].plausible), (Some(0), true));
    assert!(words::estimated(&p, None)[0].contains("use t1@0"));
}

/// The weights are read at 20 GB/s where the memory has 15: only the arithmetic scales.
#[test]
fn weights_in_a_cache() {
    let cached = Planted { bytes: 12_000, ..PRODUCT };
    let p = estimated(session([cached, NORM], &[0, 1]), alike());
    assert!(p.cached && p.memory_share == 0.0);
    // 1198 + 149 + 70 + 140.
    near(&p.settings[0], 1557.0, 1557.0, 1597.0);
    assert!(words::estimated(&p, None)[1].contains("cache"));
}

/// CPU 4 is fast, CPU 0 half as fast. 256 rows make too few pieces, so each thread has the same
/// share; 512 rows are enough.
#[test]
fn slow_cores_hold_up_fast_ones() {
    let board = [
        set("big", &[4], [10, 100, 50, 0]),
        set("little", &[0], [5, 50, 25, 0]),
        set("big+little", &[0, 4], [15, 150, 75, 20]),
    ]
    .concat();
    let of = |ne| Planted { bytes: 0, ne, work: [600, 0], ..PRODUCT };
    let token = |ne, setting: &str| {
        let p = estimated(session([of(ne), NORM], &[4]), board.clone());
        let row = p.settings.iter().find(|s| words::name(s) == setting).unwrap();
        (row.token_ns, row.low_ns, row.high_ns)
    };
    // Together they are 1.5 times as fast, or with equal shares as fast as the fast one alone; two
    // barriers of 20 ns more.
    let rest = 149.0 + 110.0 + 140.0;
    assert_eq!(token([256, 1], "t2@0,4").0, 599.0 + rest + 40.0);
    let (likely, low, high) = token([512, 1], "t2@0,4");
    assert!((likely - (599.0 / 1.5 + rest + 40.0)).abs() < 1e-6, "{likely}");
    assert!((low - (599.0 / 1.5 + rest)).abs() < 1e-6, "barriers that cost nothing: {low}");
    // Equal shares, barriers twice as long, and all single-threaded work on the slow core.
    assert!((high - (599.0 + 2.0 * rest + 80.0)).abs() < 1e-6, "{high}");
    // On the slow core alone everything takes twice as long.
    assert_eq!(token([512, 1], "t1@0").0, 2.0 * (599.0 + rest));
    // Three rows on two threads: one thread has two of them.
    let rows = Planted { product: false, ne: [64, 3], bytes: 0, work: [600, 0] };
    let p = estimated(session([rows, NORM], &[4]), board.clone());
    let mixed = p.settings.iter().find(|s| s.threads == 2).unwrap();
    assert!((mixed.token_ns - (599.0 * 4.0 / 3.0 + rest + 40.0)).abs() < 1e-6, "{mixed:?}");
}

/// The time that slow cores add to operators that they share with fast ones belongs to these
/// operators. It vanishes on fast ones alone.
#[test]
fn a_recording_on_mixed_cores() {
    let board = [
        set("big", &[4], [10, 100, 50, 0]),
        set("big", &[4, 5], [20, 200, 100, 20]),
        set("little", &[0], [5, 50, 25, 0]),
        set("big+little", &[0, 4], [15, 150, 75, 20]),
    ]
    .concat();
    let uneven = Planted { bytes: 0, ne: [256, 1], work: [300, 600], ..PRODUCT };
    let mut m = session([uneven, NORM], &[4, 0]);
    let capacity = m.texts.intern("cpu.capacity");
    for (cpu, n) in [(4, 1024), (0, 512)] {
        m.facts.rows.push(Fact {
            scope: FactScope::Cpu(cpu),
            name: capacity,
            value: FactValue::Number(n),
            at_ns: 0,
        });
    }
    let p = estimated(m, board);
    let product = &p.makeup.operators[0];
    assert!((product.ns - 599.0).abs() < 1e-9 && p.makeup.waits_ns == 0.0, "{:?}", p.makeup);
    let fast = p.settings.iter().find(|s| s.cpus == [4, 5]).unwrap();
    // Even shares of the mixed pair are as fast as one fast core; two fast cores take half.
    assert!((fast.token_ns - (299.5 + 149.0 + 110.0 + 140.0)).abs() < 1e-6, "{fast:?}");
    assert!(p.settings.iter().any(|s| s.recorded && s.cpus == [0, 4]));
}

/// Another task takes the CPU of the thread that the product waits for, for 100 ns of each token.
/// The other thread has ended by then, so it did not wait inside the operator. The lower bound
/// excludes that time, and a remark names it.
#[test]
fn what_others_took() {
    let mut m = session([Planted { bytes: 0, work: [500, 600], ..PRODUCT }, NORM], &[0, 1]);
    for i in 0..TOKENS {
        planted::state(&mut m, 1, 1_480 + i * 1_000, 100, ThreadState::Preempted);
    }
    let p = estimated(m, alike());
    let product = &p.makeup.operators[0];
    assert!((product.ns - 499.0).abs() < 1e-6 && (p.makeup.taken_ns - 100.0).abs() < 1e-6, "{:?}", p.makeup);
    near(&p.settings[1], 998.0, 898.0, 998.0);
    assert!(words::estimated(&p, None).last().unwrap().contains("took 10 % of the recorded token"));
}

#[test]
fn what_is_missing_is_named() {
    let lacking = |m: &Model| Prediction::compute(m, PRACTICAL, WARM_UP).unwrap_err();
    let with = |ceilings: Vec<Ceiling>| {
        let mut m = session([PRODUCT, NORM], &[0, 1]);
        m.ceilings = ceilings;
        m
    };
    assert_eq!(lacking(&with(Vec::new())), Lacking::Ceilings);
    let one = set("a", &[0], [10, 100, 50, 0]);
    assert_eq!(
        lacking(&with(one)),
        Lacking::Ceiling { kind: CeilingKind::Read, threads: 2, why: NoCeiling::OtherThreads }
    );
    let two = set("a", &[0, 1], [15, 200, 100, 20]);
    assert_eq!(lacking(&with(two.clone())), Lacking::Settings);
    assert_eq!(
        lacking(&with(two[..3].to_vec())),
        Lacking::Ceiling { kind: CeilingKind::Barrier, threads: 2, why: NoCeiling::NotMeasured }
    );
    let mut m = with(alike());
    m.capture.ends = Ends::None;
    assert_eq!(lacking(&m), Lacking::Ends);
    let m = with(alike());
    let few = Prediction::compute(&m, PRACTICAL, 13).unwrap_err();
    assert_eq!(few, Lacking::Tokens { found: 7, needed: 8, warm_up: 13 });
    for lacking in [Lacking::Ceilings, Lacking::Settings, Lacking::Ends, few] {
        let (answer, help) = words::lacking(&lacking);
        assert!(!answer.is_empty() && !help.is_empty() && !lacking.code().is_empty());
    }
}

/// A prediction, as it is written.
pub(crate) fn written() -> Vec<u8> {
    let p = estimated(session([PRODUCT, NORM], &[0, 1]), alike());
    let mut bytes = Vec::new();
    views::tune::json(Some(&p), None, &mut bytes).unwrap();
    bytes
}

#[test]
fn json_and_terminal() {
    let p = estimated(session([PRODUCT, NORM], &[0, 1]), alike());
    let mut bytes = Vec::new();
    views::tune::json(Some(&p), None, &mut bytes).unwrap();
    let json: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!((&json["status"], &json["choice"]), (&"estimated".into(), &Value::Null), "nothing was tried");
    let estimated = &json["prediction"];
    assert_eq!((&estimated["choice"], &estimated["plausible"][0]), (&"t2@0-1".into(), &"t2@0-1".into()));
    assert_eq!(estimated["settings"][0]["token_ns"].as_f64().unwrap().round(), 1457.0);
    assert_eq!(estimated["recorded"]["operators"][0]["arithmetic"], "int8");
    let mut shown = Vec::new();
    views::terminal::tune::prediction(&p, Some("r.pfi"), 80, &mut shown).unwrap();
    let shown = String::from_utf8(shown).unwrap();
    assert!(shown.contains("recorded, try") && shown.contains("operators that threads share"), "{shown}");
    assert!(!shown.contains("shortened"), "{shown}");
}
