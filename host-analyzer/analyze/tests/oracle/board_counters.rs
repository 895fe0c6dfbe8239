//! Hardware counters from an emulated board whose PMU counts a model of the caches: the number of
//! lines that a matrix product must fetch is known, the cache lines of its weights.
//!
//! `ci/board/counters.sh` makes the recordings and names their folder in PROFINFER_BOARD_COUNTERS.

use std::path::PathBuf;

use profinfer_analysis::work::Works;
use profinfer_trace::model::{Absence, Model, Role};

use crate::support::{read, whole};

/// Bytes of a cache line, on Cortex-A76 and in the emulator's model of it.
const LINE: u64 = 64;

fn folder() -> Option<PathBuf> {
    profinfer_skip::needed_path("PROFINFER_BOARD_COUNTERS", "ci/board/counters.sh")
}

fn traces() -> Option<[Model; 2]> {
    let dir = folder()?;
    Some(["1", "2"].map(|threads| read(&dir.join(format!("threads-{threads}.pfi")))))
}

/// A matrix product of a decode call in which every span was counted.
struct Product {
    /// Lines of its weights, from the tensor.
    weights: u64,
    /// Lines that it fetches from memory, by the formulas of the analyses.
    work: u64,
    /// Refills of all threads.
    refills: u64,
}

impl Product {
    /// Refills per line of weights.
    fn ratio(&self) -> f64 {
        self.refills as f64 / self.weights as f64
    }
}

fn products(trace: &Model) -> Vec<Product> {
    let (spans, counts, works) = (&trace.spans, &trace.spans.counts, Works::compute(trace));
    let refills = counts.names.iter().position(|n| n == "L3D_CACHE_REFILL").expect("it was asked for");
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|i| (spans.graph_call[*i], spans.node[*i]));
    let mut all = Vec::new();
    for of_one in order
        .chunk_by(|a, b| (spans.graph_call[*a], spans.node[*a]) == (spans.graph_call[*b], spans.node[*b]))
    {
        let (call, at) = (spans.graph_call[of_one[0]], spans.node[of_one[0]]);
        let decode = trace.graph_calls.decode[call.0 as usize].unwrap();
        let topology = trace.topologies.get(trace.graph_calls.topology[call.0 as usize].unwrap());
        let node = topology.node(at);
        if trace.llama_calls.n_tokens[decode.0 as usize] != 1 || trace.texts.get(node.op) != "MUL_MAT" {
            continue;
        }
        let weight = node.src.iter().map(|(_, n)| topology.node(*n)).find(|n| n.role == Role::Weight);
        let counted: Option<u64> = of_one.iter().map(|i| counts.value(refills, *i)).sum();
        if let (Some(weight), Some(refills)) = (weight, counted) {
            let work = works.execution(trace, call, at, spans.last_node[of_one[0]]).streamed_bytes() / LINE;
            all.push(Product { weights: weight.bytes / LINE, work, refills });
        }
    }
    all
}

/// Tolerance for an undisturbed product, and for the sum of the undisturbed products.
const NEAR: f64 = 0.02;

/// Other load on this machine disturbs some of them: a thread loses its CPU, and interrupts and
/// other tasks fetch lines in its time. So the median is compared with the formula; a systematic
/// error moves the median.
fn agree(products: &[Product], at_least: usize, name: &str) {
    assert!(products.len() > at_least, "{name}: {} products", products.len());
    let mut ratios: Vec<f64> = products.iter().map(Product::ratio).collect();
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    let near: Vec<_> = products.iter().filter(|p| (p.ratio() - 1.0).abs() <= NEAR).collect();
    let sum = |of: fn(&Product) -> u64| near.iter().map(|p| of(p)).sum::<u64>();
    let (weights, work, refills) = (sum(|p| p.weights), sum(|p| p.work), sum(|p| p.refills));
    println!(
        "{name}: {} products, median {median:.4}, {:.4} to {:.4}; undisturbed {}: {weights} lines of weights, {work} by the \
         analyses, {refills} refills",
        products.len(),
        ratios[0],
        ratios[ratios.len() - 1],
        near.len(),
    );
    assert!((median - 1.0).abs() < NEAR / 2.0, "{name}: median {median}");
    assert!(near.len() * 4 >= products.len() * 3, "{name}: {} of {} are near", near.len(), products.len());
    assert!((refills as f64 / work as f64 - 1.0).abs() < NEAR, "{name}: {refills} refills, {work} lines");
}

#[test]
#[ignore = "ci/board/counters.sh runs it"]
fn refills_of_a_matrix_product_are_the_lines_of_its_weights() {
    let Some(traces) = traces() else { return };
    for (trace, threads) in traces.iter().zip(1..) {
        whole(trace);
        let why = &trace.spans.counts.why;
        let absent = why.iter().filter(|w| **w != 0).count();
        println!("{threads} thread(s): {absent} of {} spans not counted", why.len());
        agree(&products(trace), 100, &format!("{threads} thread(s)"));
    }
}

/// A counter that the PMU does not advertise would open and count 0: it is refused by name.
#[test]
#[ignore = "ci/board/counters.sh runs it"]
fn what_the_pmu_does_not_advertise_is_refused() {
    let Some(traces) = traces() else { return };
    for trace in &traces {
        let refused: Vec<_> =
            trace.session.counters.iter().filter(|c| !c.attached).map(|c| c.name.as_str()).collect();
        assert_eq!(refused, ["BR_MIS_PRED"]);
        assert!(!trace.spans.counts.names.iter().any(|n| n == "BR_MIS_PRED"));
    }
}

/// No thread counts more cycles than its time allows. QEMU's cycles are 1 GHz.
#[test]
#[ignore = "ci/board/counters.sh runs it"]
fn cycles_fit_the_time() {
    let Some(traces) = traces() else { return };
    for trace in &traces {
        let (spans, counts) = (&trace.spans, &trace.spans.counts);
        let cycles = counts.names.iter().position(|n| n == "CPU_CYCLES").unwrap();
        for i in 0..spans.len() {
            let Some(value) = counts.value(cycles, i) else { continue };
            assert!(
                value <= spans.work_ns[i] * 11 / 10 + 50_000,
                "{value} cycles in {} ns",
                spans.work_ns[i]
            );
        }
    }
}

/// Two core types with separate PMUs: counts before and after a move are never mixed.
#[test]
#[ignore = "ci/board/counters.sh runs it"]
fn a_thread_sent_from_one_core_type_to_the_other() {
    let Some(dir) = folder() else { return };
    let trace = read(&dir.join("bounced.pfi"));
    whole(&trace);
    let pmus: Vec<_> =
        trace.session.counters.iter().map(|c| (c.name.as_str(), c.pmu.as_str(), &*c.cpus)).collect();
    assert_eq!(
        pmus,
        [("CPU_CYCLES", "armv8_cortex_a55", &[0, 1][..]), ("CPU_CYCLES", "armv8_cortex_a76", &[2, 3][..])]
    );
    let (spans, counts) = (&trace.spans, &trace.spans.counts);
    let (mut counted, mut mixed) = ([0u64; 2], 0u64);
    for i in 0..spans.len() {
        match counts.value(0, i) {
            None => {
                assert_ne!(counts.why[i], 0, "absent for a reason");
                mixed += u64::from(counts.why[i] & Absence::Mixed.bit() != 0);
            }
            Some(cycles) => {
                assert_eq!(counts.why[i], 0);
                assert!(
                    cycles <= spans.work_ns[i] * 11 / 10 + 50_000,
                    "{cycles} cycles in {} ns",
                    spans.work_ns[i]
                );
                counted[usize::from(spans.cpu[i] >= Some(2))] += 1;
            }
        }
    }
    let n = spans.len() as u64;
    println!(
        "{n} spans: counted on A55 {}, on A76 {}, moved inside and not counted {mixed}",
        counted[0], counted[1]
    );
    assert!(mixed > 0 && counted[0] > n / 5 && counted[1] > n / 5, "it was moved, and counted on both");
    assert!(counted[0] + counted[1] > n * 9 / 10, "most were not moved inside");
}

/// A CPU goes offline and comes back, without its events. Later counts on it are absent, not wrong.
#[test]
#[ignore = "ci/board/counters.sh runs it"]
fn a_cpu_that_is_switched_off() {
    let Some(dir) = folder() else { return };
    let trace = read(&dir.join("offline.pfi"));
    whole(&trace);
    let (spans, counts) = (&trace.spans, &trace.spans.counts);
    let mut counted = [0u64; 4];
    for i in 0..spans.len() {
        if let Some(cycles) = counts.value(0, i) {
            assert!(
                cycles <= spans.work_ns[i] * 11 / 10 + 50_000,
                "{cycles} cycles in {} ns",
                spans.work_ns[i]
            );
            counted[usize::from(spans.cpu[i].unwrap())] += 1;
        }
    }
    println!("{} spans, counted on CPUs 0 to 3: {counted:?}", spans.len());
    assert!(counted.iter().sum::<u64>() > spans.len() as u64 / 4);
}

/// Ten events for six counters: the kernel multiplexes them. Events that counted all the time are
/// right, the others absent.
#[test]
#[ignore = "ci/board/counters.sh runs it"]
fn somebody_else_counts_too() {
    let Some(dir) = folder() else { return };
    for i in ["1", "2"] {
        let trace = read(&dir.join(format!("shared-{i}.pfi")));
        whole(&trace);
        let why_not = &trace.spans.counts.why;
        let shared = why_not.iter().filter(|w| **w & Absence::Multiplexed.bit() != 0).count();
        println!("{shared} of {} spans not counted", why_not.len());
        assert!(shared > 0);
        agree(&products(&trace), 20, "two agents");
    }
}
