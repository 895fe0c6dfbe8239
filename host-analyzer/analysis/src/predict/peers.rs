//! Results of simpler rules for the same model, for comparison with a prediction.
//!
//! Formulas, as of 2026: `llmfit` (`llmfit-core/src/fit.rs`, `models.rs`: 90 / billions of
//! parameters × factor of the type × 0.3 for CPUs; it ignores the board) and `gguf-parser-go`
//! (`file_estimate__llamacpp.go`: the larger of arithmetic and reading all weights, and the cache;
//! the user gives both rates).

use super::census::Census;
use super::run::Run;

/// Times per decode token by other rules, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Peers {
    /// Bytes per token divided by one bandwidth, that of all recordings together; `None` without
    /// recordings.
    pub one_parameter_ns: Option<f64>,
    /// `llmfit`.
    pub llmfit_ns: f64,
    /// `gguf-parser-go`, with the ceilings of the recordings; `None` without ceilings.
    pub gguf_parser_ns: Option<f64>,
}

impl Peers {
    /// Computes the times of these rules.
    pub(super) fn compute(census: &Census, runs: &[&Run]) -> Self {
        let top = |of: fn(&Run) -> Option<u64>| runs.iter().filter_map(|r| of(r)).max();
        Self {
            one_parameter_ns: one_parameter_ns(census.streamed_bytes() as f64, runs),
            llmfit_ns: llmfit_ns(census),
            gguf_parser_ns: top(|r| r.read_per_s)
                .zip(top(|r| r.int8_per_s))
                .map(|(read, int8)| gguf_parser_ns(census, read as f64, int8 as f64)),
        }
    }
}

/// The one-parameter rule: these bytes divided by the bandwidth of all recordings together, ns.
pub(super) fn one_parameter_ns(bytes: f64, runs: &[&Run]) -> Option<f64> {
    let read: f64 = runs.iter().map(|r| r.streamed_bytes()).sum();
    let time: f64 = runs.iter().map(|r| r.decode.call_ns).sum();
    (read > 0.0 && time > 0.0).then(|| bytes * time / read)
}

/// `llmfit` for a CPU, ns.
#[must_use]
pub(super) fn llmfit_ns(census: &Census) -> f64 {
    let billions = census.parameters as f64 / 1e9;
    let most = census.by_type().into_iter().max_by_key(|(_, bytes)| *bytes).map_or("", |(dtype, _)| dtype);
    let factor = match most {
        "f16" | "bf16" => 0.6,
        "q8_0" => 0.8,
        "q6_K" => 0.95,
        "q4_K" | "q4_0" | "mxfp4" => 1.15,
        "q3_K" => 1.25,
        "q2_K" => 1.35,
        "tq1_0" | "tq2_0" => 1.3,
        _ => 1.0,
    };
    1e9 / (90.0 / billions.max(1e-6) * factor * 0.3)
}

/// `gguf-parser-go` for a device with this many bytes and operations per second, ns.
#[must_use]
pub(super) fn gguf_parser_ns(census: &Census, bytes_per_s: f64, operations_per_s: f64) -> f64 {
    let computing = 2.0 * census.parameters as f64 / operations_per_s;
    let reading = census.file_bytes as f64 / bytes_per_s;
    (computing.max(reading) + census.cache_bytes as f64 / bytes_per_s) * 1e9
}
