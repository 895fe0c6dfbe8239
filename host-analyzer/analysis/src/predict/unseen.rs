//! Cost of a product with a type that no recording has, from the recorded types.

use super::census::Matrix;
use super::fit::Line;
use super::rates::Rates;

/// A cost, and the range of the recorded types.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Guess {
    pub(super) ns: f64,
    pub(super) low_ns: f64,
    pub(super) high_ns: f64,
}

/// Kernels of one family work similarly: those for weights that most CPU variants repack
/// (`ggml-cpu/repack.cpp`), those for floats, and the rest, which unpack block by block.
fn family(dtype: &str) -> u8 {
    match dtype {
        "q4_0" | "q8_0" | "q2_K" | "q4_K" | "q5_K" | "q6_K" | "iq4_nl" | "mxfp4" => 0,
        "f16" | "bf16" | "f32" => 1,
        _ => 2,
    }
}

/// Cost of one product; `x` and `y` are what its time grows with. `None` without any recorded type.
/// It is the mean, on a logarithmic scale, of what the types of its family take for as many bytes
/// or operations. If no type of the family was recorded, it is the mean of all types.
pub(super) fn guess(rates: &Rates, matrix: &Matrix, x: f64, y: f64) -> Option<Guess> {
    let products = rates.lines.iter().filter(|((op, dtype), _)| op == "MUL_MAT" && !dtype.is_empty());
    let times = |alike: bool| -> Vec<f64> {
        let fits = |dtype: &str| !alike || family(dtype) == family(&matrix.dtype);
        let of = |line: &Line| line.ns(x, y);
        products
            .clone()
            .filter(|((_, dtype), _)| fits(dtype))
            .map(|(_, line)| of(line))
            .filter(|ns| *ns > 0.0)
            .collect()
    };
    let (near, all) = (times(true), times(false));
    let near = if near.is_empty() { &all } else { &near };
    if near.is_empty() {
        return None;
    }
    let ns = (near.iter().map(|ns| ns.ln()).sum::<f64>() / near.len() as f64).exp();
    Some(Guess {
        ns,
        low_ns: all.iter().copied().fold(ns, f64::min),
        high_ns: all.iter().copied().fold(ns, f64::max),
    })
}
