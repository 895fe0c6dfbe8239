//! Predictions on a board whose rules are known.

mod board;
mod census;
mod file;
mod gguf;
mod refusals;
pub(crate) mod schema;

use board::{BETWEEN, Made, OTHER, PRODUCT, Q4, Q5, Q8, VOCAB};
use profinfer_analysis::predict::{By, Prediction, Query, Run};

fn near(got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-6 * want.abs().max(1.0), "{got} is not {want}");
}

pub(crate) fn predict(target: Made, runs: &[Run]) -> Prediction {
    Prediction::compute(&target.file().read().unwrap(), runs, &Query::default()).unwrap()
}

/// The parts of a recording are those of the board, and they sum to its tokens.
#[test]
fn what_is_kept_of_a_recording() {
    let made = Made { layers: 3, embd: 64, dtype: Q8 };
    let run = made.run();
    assert_eq!((run.threads, run.decode.calls, run.decode.nodes.len()), (1, 8, 14));
    near(run.decode.call_ns, made.token_ns() as f64);
    near(run.decode.between_ns, BETWEEN as f64);
    near(run.gap_ns, 1_000.0);
    assert_eq!((run.shape.layers, run.shape.vocabulary()), (3, VOCAB));
    // Three products in each of three layers, the output, and the row of the embeddings.
    let weights = 3 * made.layer().iter().sum::<u64>() + made.bytes(64, VOCAB) + made.bytes(64, 1);
    near(run.streamed_bytes(), weights as f64);
}

/// Two models determine the fixed and the growing part of a product, so that a third is predicted
/// to the nanosecond.
#[test]
fn a_third_model_of_the_same_type() {
    let runs =
        [Made { layers: 2, embd: 64, dtype: Q8 }.run(), Made { layers: 4, embd: 128, dtype: Q8 }.run()];
    let target = Made { layers: 7, embd: 96, dtype: Q8 };
    let p = predict(target, &runs);
    near(p.decode.estimate.ns(), target.token_ns() as f64);
    near(p.decode_per_s(), 1e9 / target.token_ns() as f64);
    let of = &p.decode.estimate.types["q8_0"];
    assert_eq!(
        (of.nodes, of.bytes, of.unseen),
        (22, 7 * target.layer().iter().sum::<u64>() + target.bytes(96, VOCAB), false)
    );
    near(of.ns, (22 * PRODUCT) as f64 + of.bytes as f64);
    near(p.decode.estimate.others_ns, (8 * OTHER) as f64);
    near(p.decode.estimate.between_ns, (30 * BETWEEN) as f64);
    near(p.decode.estimate.nodes, 30.0);
    // Two recordings: an assumption of a quarter.
    assert_eq!((p.decode.interval.by, p.decode.interval.predictions), (By::Few, 2));
    near(p.decode.interval.high_ns, target.token_ns() as f64 * 1.25);
    near(p.decode.interval.low_ns, target.token_ns() as f64 / 1.25);
    near(p.decode.estimate.alike, 1.0);
    // With the application's time between two tokens.
    near(p.seen_per_s(), 1e9 / (target.token_ns() as f64 + 1_000.0));
    // One bandwidth for all: bytes of both recordings divided by their time.
    let streamed =
        |m: Made| m.layers * m.layer().iter().sum::<u64>() + m.bytes(m.embd, VOCAB) + m.bytes(m.embd, 1);
    let (a, b) = (Made { layers: 2, embd: 64, dtype: Q8 }, Made { layers: 4, embd: 128, dtype: Q8 });
    let law = (a.token_ns() + b.token_ns()) as f64 / (streamed(a) + streamed(b)) as f64;
    near(p.peers.one_parameter_ns.unwrap(), law * p.census.streamed_bytes() as f64);
}

/// Each of three recordings is predicted from the others without an error. The interval is then as
/// wide as the difference between two sessions of the same setup.
#[test]
fn the_interval_is_that_of_the_recordings() {
    let of = |layers, embd| Made { layers, embd, dtype: Q8 }.run();
    let runs = [of(2, 64), of(4, 128), of(3, 256)];
    let p = predict(Made { layers: 7, embd: 96, dtype: Q8 }, &runs);
    for left_out in &p.left_out {
        assert!(left_out.decode.unwrap().abs() < 1e-6 && !left_out.unseen, "{left_out:?}");
        assert!(left_out.prefill.is_none());
    }
    assert_eq!((p.decode.interval.by, p.decode.interval.predictions), (By::LeftOut, 3));
    near(p.decode.interval.high_ns / p.decode.estimate.ns(), 0.03_f64.exp());
    assert!(p.prefill.is_none());
    // A run that took a tenth longer than its parts' rates predict is off by that, and widens the
    // interval: t for two degrees of freedom is 4.303.
    let mut runs = runs;
    runs[2].decode.call_ns *= 1.1;
    let p = predict(Made { layers: 7, embd: 96, dtype: Q8 }, &runs);
    near(p.left_out[2].decode.unwrap(), 1.1_f64.ln());
    let others = p.left_out[0].decode.unwrap().powi(2) + p.left_out[1].decode.unwrap().powi(2);
    let spread = ((1.1_f64.ln().powi(2) + others) / 3.0).sqrt();
    near((p.decode.interval.high_ns / p.decode.estimate.ns()).ln(), 4.303 * spread * (4.0_f64 / 3.0).sqrt());
}

/// A type that no recording has is between the recorded ones, and the interval includes their
/// range.
#[test]
fn a_type_that_was_never_seen() {
    let of = |layers, embd, dtype| Made { layers, embd, dtype }.run();
    let runs = [of(2, 64, Q8), of(4, 128, Q8), of(2, 64, Q4), of(4, 128, Q4)];
    let target = Made { layers: 7, embd: 96, dtype: Q5 };
    let p = predict(target, &runs);
    let t = &p.decode.estimate.types["q5_0"];
    assert!(t.unseen && p.decode.estimate.has_unseen());
    // Neither is of its family: the mean on a logarithmic scale of what both take per byte, 1 and
    // 1.5 ns. Products of a layer and the output.
    let time = |bytes: u64| {
        let ns = |of: f64| PRODUCT as f64 + bytes as f64 * of;
        (ns(1.0) * ns(1.5)).sqrt()
    };
    let layer: f64 = target.layer().iter().map(|b| time(*b)).sum();
    near(t.ns, 7.0 * layer + time(target.bytes(96, VOCAB)));
    // Per byte: 1 to 1.5 ns.
    near(t.low_ns, 22.0 * PRODUCT as f64 + t.bytes as f64);
    near(t.high_ns, 22.0 * PRODUCT as f64 + t.bytes as f64 * 1.5);
    let rest = p.decode.estimate.ns() - t.ns;
    assert!(p.decode.interval.low_ns <= t.low_ns + rest && p.decode.interval.high_ns >= t.high_ns + rest);
}
