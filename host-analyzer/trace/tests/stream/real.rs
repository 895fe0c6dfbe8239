//! A recording of a real engine (tests/data/PROVENANCE.toml), cut and damaged: views are still
//! written and the damage is reported.

use profinfer_analysis::Analysis;
use profinfer_trace::read;
use profinfer_trace::test_support::random::Random;
use profinfer_views as views;

const REAL: &[u8] = include_bytes!("../../../tests/data/demo.pfi");

fn viewed(bytes: &[u8]) -> profinfer_trace::model::Model {
    let model = read(bytes).expect("a stream");
    let analysis = Analysis::compute(&model);
    let mut out = Vec::new();
    for view in [views::summary::summary, views::report::report, views::terminal::terminal, views::dag::dag] {
        view(&model, &analysis, &mut out).expect("written");
    }
    model
}

#[test]
fn cut_all_along() {
    let whole = viewed(REAL).spans.len();
    // Every byte of the head and of the last frames, then steps that reach every place of a frame.
    let cuts = (1..100).chain((100..REAL.len() - 100).step_by(4999)).chain(REAL.len() - 100..REAL.len());
    for cut in cuts {
        let model = viewed(&REAL[..cut]);
        assert!(model.health.cut_short() && !model.health.perfect(), "cut at {cut}");
        assert!(model.spans.len() <= whole, "cut at {cut}");
    }
}

#[test]
fn one_percent_flipped() {
    for seed in 1..=8u64 {
        let mut bytes = REAL.to_vec();
        let mut random = Random(seed);
        for byte in &mut bytes {
            if random.once_in(100) {
                *byte ^= 1 << random.below(8);
            }
        }
        let model = viewed(&bytes);
        assert!(!model.health.damage.is_empty() && !model.health.perfect(), "seed {seed}");
    }
}
