//! Hardware counters from an emulated board whose PMU counts a model of the caches: what a matrix product must fetch
//! is known, the cache lines of its weights.
//!
//! `ci/board/counters.sh` makes the recordings and names their folder in PROFINFER_BOARD_COUNTERS.

use std::path::PathBuf;

use host_analyzer::model::{Absence, Model, Role};

use crate::support::read;

/// Bytes of a cache line, on Cortex-A76 and in the emulator's model of it.
const LINE: u64 = 64;

fn folder() -> Option<PathBuf> {
    profinfer_skip::needed_path("PROFINFER_BOARD_COUNTERS", "ci/board/counters.sh")
}

fn traces() -> Option<[Model; 2]> {
    let dir = folder()?;
    Some(["1", "2"].map(|threads| read(&dir.join(format!("threads-{threads}.pfi")))))
}

/// Of every execution of a matrix product in decode calls: lines of its weights, refills of all threads, spans; those of
/// which something was not counted are left out.
fn products(trace: &Model) -> Vec<(u64, u64, usize)> {
    let (spans, counts) = (&trace.spans, &trace.spans.counts);
    let refills = counts.names.iter().position(|n| n == "L3D_CACHE_REFILL").expect("it was asked for");
    let mut all: Vec<(u64, u64, usize)> = Vec::new();
    let mut last = None;
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|i| (spans.graph_call[*i], spans.node[*i]));
    for i in order {
        let call = spans.graph_call[i].0 as usize;
        let decode = trace.graph_calls.decode[call].unwrap();
        let topology = trace.topologies.get(trace.graph_calls.topology[call].unwrap());
        let node = topology.node(spans.node[i]);
        if trace.decodes.n_tokens[decode.0 as usize] != 1 || trace.texts.get(node.op) != "MUL_MAT" {
            continue;
        }
        let weight = node.src.iter().map(|(_, n)| topology.node(*n)).find(|n| n.role == Role::Weight);
        let Some(weight) = weight else { continue };
        let Some(value) = counts.value(refills, i) else { continue };
        if last == Some((call, spans.node[i])) {
            let (_, sum, n) = all.last_mut().unwrap();
            (*sum, *n) = (*sum + value, *n + 1);
        } else {
            all.push((weight.bytes / LINE, value, 1));
            last = Some((call, spans.node[i]));
        }
    }
    all
}

#[test]
#[ignore = "ci/board/counters.sh runs it"]
fn refills_of_a_matrix_product_are_the_lines_of_its_weights() {
    let Some(traces) = traces() else { return };
    for (trace, threads) in traces.iter().zip(1..) {
        assert!(trace.health.perfect(), "{:#?}", trace.health);
        // On a loaded machine a thread may lose its CPU while its counters are read: absent, and rare.
        let absent = trace.spans.counts.why.iter().filter(|w| **w != 0).count();
        assert!(absent * 50 <= trace.spans.len(), "{absent} spans not counted");
        let products = products(trace);
        assert!(products.len() > 100, "{} products", products.len());
        let (mut worst, mut lines, mut refills) = (0.0_f64, 0, 0);
        for (own, counted, spans) in &products {
            if *spans != threads {
                continue; // not counted on one of them
            }
            worst = worst.max((*counted as f64 / *own as f64 - 1.0).abs());
            (lines, refills) = (lines + own, refills + counted);
        }
        println!(
            "{threads} thread(s): {} products, {lines} lines of weights, {refills} refills, worst {worst:.4}",
            products.len()
        );
        assert!(worst < 0.05, "{worst}");
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

/// No thread counts more cycles than its time allows. QEMU's cycles are of 1 GHz.
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

/// On two core types, each with a PMU of its own: what a thread counted before and behind a move is never mixed.
#[test]
#[ignore = "ci/board/counters.sh runs it"]
fn a_thread_sent_from_one_core_type_to_the_other() {
    let Some(dir) = folder() else { return };
    let trace = read(&dir.join("bounced.pfi"));
    assert!(trace.health.perfect(), "{:#?}", trace.health);
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
                counted[usize::from(spans.cpu[i] >= 2)] += 1;
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

/// A CPU goes offline and comes back: its events are gone with it. What was counted there later is absent, not wrong.
#[test]
#[ignore = "ci/board/counters.sh runs it"]
fn a_cpu_that_is_switched_off() {
    let Some(dir) = folder() else { return };
    let trace = read(&dir.join("offline.pfi"));
    assert!(trace.health.perfect(), "{:#?}", trace.health);
    let (spans, counts) = (&trace.spans, &trace.spans.counts);
    let mut counted = [0u64; 4];
    for i in 0..spans.len() {
        if let Some(cycles) = counts.value(0, i) {
            assert!(
                cycles <= spans.work_ns[i] * 11 / 10 + 50_000,
                "{cycles} cycles in {} ns",
                spans.work_ns[i]
            );
            counted[usize::from(spans.cpu[i])] += 1;
        }
    }
    println!("{} spans, counted on CPUs 0 to 3: {counted:?}", spans.len());
    assert!(counted.iter().sum::<u64>() > spans.len() as u64 / 4);
}

/// Ten events for six counters: the kernel lets them take turns. What was counted all the time is right, the rest is absent.
#[test]
#[ignore = "ci/board/counters.sh runs it"]
fn somebody_else_counts_too() {
    let Some(dir) = folder() else { return };
    for i in ["1", "2"] {
        let trace = read(&dir.join(format!("shared-{i}.pfi")));
        assert!(trace.health.perfect(), "{:#?}", trace.health);
        let why_not = &trace.spans.counts.why;
        let shared = why_not.iter().filter(|w| **w & Absence::Multiplexed.bit() != 0).count();
        let products = products(&trace);
        let worst = products.iter().map(|(lines, refills, _)| (*refills as f64 / *lines as f64 - 1.0).abs());
        let worst = worst.fold(0.0, f64::max);
        println!(
            "{} of {} spans not counted, {} products counted, worst {worst:.4}",
            shared,
            why_not.len(),
            products.len()
        );
        assert!(shared > 0 && products.len() > 20);
        assert!(worst < 0.05, "{worst}");
    }
}
