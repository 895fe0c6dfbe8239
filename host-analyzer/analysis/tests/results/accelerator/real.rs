//! A real log of the Vulkan backend with the recording of the same run
//! (tests/data/PROVENANCE.toml).

use profinfer_analysis::Analysis;
use profinfer_trace::ingest::accelerator;
use profinfer_trace::model::Model;

const LOG: &str = include_str!("../../../../tests/data/accelerator/lavapipe.log");
const RECORDING: &[u8] = include_bytes!("../../../../tests/data/accelerator/lavapipe.pfi");

fn model() -> Model {
    let mut model = profinfer_trace::read(RECORDING).unwrap();
    model.accelerators = vec![accelerator::read("lavapipe.log", LOG.as_bytes()).unwrap()];
    model
}

/// Name, kernels, time in µs and rate of each row, parsed in the simplest way.
fn rows() -> Vec<(&'static str, u64, f64, Option<f64>)> {
    let rows = LOG.lines().filter(|l| l.contains(" x "));
    rows.map(|line| {
        let (name, figures) = line.rsplit_once(": ").unwrap();
        let words: Vec<_> = figures.split(' ').collect();
        let rate = words.get(7).map(|w| w.trim_start_matches('(').parse().unwrap());
        (name, words[0].parse().unwrap(), words[5].parse().unwrap(), rate)
    })
    .collect()
}

#[test]
fn every_kernel_has_its_node() {
    let analysis = Analysis::compute(&model());
    let p = &analysis.accelerator.profiles[0];
    assert!(p.whole(), "{p:#?}");
    assert_eq!((p.unequal(), p.unread_fusions), ((0, 0), 0));
    let kernels: u64 = rows().iter().map(|r| r.1).sum();
    let us: f64 = rows().iter().map(|r| r.2).sum();
    assert_eq!((p.kernels, p.joined.kernels + p.grouped.kernels), (kernels, kernels));
    assert!((p.device_ns as f64 - us * 1e3).abs() < 100.0);
    // Three blocks, each of which ends with a total.
    let totals: f64 = LOG
        .lines()
        .filter_map(|l| l.strip_prefix("Total time: ")?.strip_suffix(" us.")?.parse::<f64>().ok())
        .sum();
    assert!((p.device_ns as f64 / 1e3 / totals - 1.0).abs() < 1e-5);
}

/// The backend counts one addition less for each element of a product: 2k - 1 of its operations are
/// 2k here.
#[test]
fn rates_are_those_of_the_engine() {
    let analysis = Analysis::compute(&model());
    let mut compared = 0;
    for row in &analysis.accelerator.rows {
        let [shape] = &row.shapes[..] else { continue };
        let (Some(p), Some(device)) = (shape.product, row.backends.iter().find_map(|b| b.device.as_ref()))
        else {
            continue;
        };
        let told = format!("{} m={} n={} k={}", shape.types[0], p.m, p.n, p.k);
        let same = || rows().into_iter().filter(|r| r.0.ends_with(&told));
        let gflop: f64 = same().map(|r| r.2 * r.3.unwrap() / 1e6).sum();
        let seconds: f64 = same().map(|r| r.2 / 1e6).sum();
        let expected = gflop / seconds * 1e9 * (2 * p.k) as f64 / (2 * p.k - 1) as f64;
        let ours = device.work.unwrap().operations_per_s.unwrap();
        assert!((ours / expected - 1.0).abs() < 1e-4, "{told}: {ours} {expected}");
        compared += 1;
    }
    assert_eq!(
        compared,
        rows()
            .iter()
            .filter_map(|r| r.0.split_once(" m="))
            .map(|r| r.1)
            .collect::<std::collections::BTreeSet<_>>()
            .len()
    );
}

/// The same shape on both backends.
#[test]
fn the_processor_stands_beside_the_accelerator() {
    let analysis = Analysis::compute(&model());
    let both = analysis.accelerator.rows.iter().filter(|r| {
        let has = |backend: &str| {
            r.backends.iter().any(|b| b.backend == backend && (b.host.is_some() || b.device.is_some()))
        };
        has("CPU") && has("Vulkan")
    });
    let ops: Vec<_> = both.map(|r| r.shapes[0].op.as_str()).collect();
    assert!(ops.iter().filter(|op| **op == "MUL_MAT").count() >= 4, "{ops:?}");
}
