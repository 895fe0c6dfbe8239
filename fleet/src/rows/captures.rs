//! A row for each recording.

use std::collections::BTreeSet;

use serde_json::Value;

use super::column::{Cell, Column, columns};
use super::{SCHEMA, identity};
use crate::summary::{float, int, list, text};

/// The columns, after the keys. `device` is what `add` was told.
pub(super) const COLUMNS: &[Column] = columns! {
    schema: i64 = schema,
    written_by: String = written_by,
    device: String = nothing,
    board_name: String = "session.board",
    machine: String = "session.machine",
    cpu_model: String = "session.cpu_model",
    cpus: i64 = "session.cpus",
    kernel: String = "session.kernel",
    agent: String = "session.agent",
    start_unix_ns: i64 = "session.start_unix_ns",
    duration_ns: i64 = "session.duration_ns",
    levels: String = levels,
    engine_name: String = engine_name,
    engine_version: String = engine_version,
    engine_build: i64 = engine_build,
    engine_build_ids: String = build_ids,
    cpu_backend: String = cpu_backend,
    cpu_variant: String = cpu_variant,
    model_name: String = model_name,
    weights_hash: String = weights_hash,
    weight_bytes: i64 = weight_bytes,
    threads: i64 = "findings.headline.threads",
    context_cells: i64 = context_cells,
    tokens: i64 = "findings.headline.tokens",
    token_ns: i64 = "findings.headline.token_ns",
    tokens_per_s: f64 = "findings.headline.tokens_per_s",
    token_median_ns: i64 = "findings.headline.median_ns",
    token_p95_ns: i64 = "findings.headline.p95_ns",
    decode_calls: i64 = "tokens.decode.calls",
    decode_tokens: i64 = "tokens.decode.tokens",
    decode_time_ns: i64 = "tokens.decode.time_ns",
    decode_p99_ns: i64 = decode_p99_ns,
    prefill_calls: i64 = "tokens.prefill.calls",
    prefill_tokens: i64 = "tokens.prefill.tokens",
    prefill_time_ns: i64 = "tokens.prefill.time_ns",
    prefill_tokens_per_s: f64 = "findings.headline.prefill_tokens_per_s",
    ttft_median_ns: i64 = ttft_median_ns,
    failed_calls: i64 = "tokens.failed_calls",
    mbu: f64 = "findings.headline.mbu",
    bytes_per_token: f64 = "work.decode.bytes_per_token",
    probes_share: f64 = "findings.headline.probes_share",
    decode_slowdown: f64 = "cost.decode_slowdown",
    found: String = found,
    perfect: bool = "health.perfect",
    cut_short: bool = "health.cut_short",
    spans_received: i64 = "health.spans.received",
    spans_dropped: i64 = "health.spans.dropped",
    spans_unaccounted: i64 = "health.spans.unaccounted",
    damaged: i64 = damaged,
    stream_bytes: i64 = "cost.stream_bytes",
    read_bytes_per_s: i64 = read_bytes_per_s,
    int8_ops_per_s: i64 = int8_ops_per_s,
    clock_mean_hz: f64 = clock_mean_hz,
    temperature_mean_millidegrees: f64 = temperature_mean_millidegrees,
    temperature_max_millidegrees: f64 = temperature_max_millidegrees,
    power_mean_microwatts: f64 = power_mean_microwatts,
};

pub(super) fn row(summary: &Value, device: Option<&str>) -> Vec<Cell> {
    let cell = |c: &Column| match c.name {
        "device" => Cell::from(device.map(str::to_owned)),
        _ => (c.of)(summary),
    };
    COLUMNS.iter().map(cell).collect()
}

fn schema(_: &Value) -> Option<i64> {
    Some(SCHEMA)
}

fn written_by(_: &Value) -> Option<String> {
    Some(concat!("analyze-fleet ", env!("CARGO_PKG_VERSION")).to_owned())
}

fn nothing(_: &Value) -> Option<String> {
    None
}

/// The process whose engine computed: the first with a CPU backend, else the first.
fn engine(summary: &Value) -> Option<&Value> {
    let engines = list(summary, "engines");
    engines.iter().find(|e| text(e, "cpu_backend").is_some()).or_else(|| engines.first())
}

fn engine_name(summary: &Value) -> Option<String> {
    text(engine(summary)?, "name")
}

fn engine_version(summary: &Value) -> Option<String> {
    text(engine(summary)?, "version")
}

/// One word for the build: what the version has of words and, as distributions build the same version differently, the beginning of the build id of
/// the library that computes tokens.
pub(super) fn engine_label(summary: &Value) -> Option<String> {
    let version = engine_version(summary).or_else(|| engine_name(summary))?;
    let words: Vec<&str> = version.split([' ', ',', '(', ')']).filter(|w| !w.is_empty()).collect();
    let mut libraries = list(summary, "session.libraries").iter();
    let tokens = libraries.find(|l| text(l, "role").is_some_and(|r| r.split(", ").any(|r| r == "token")));
    let build = tokens
        .and_then(|l| text(l, "build_id"))
        .map(|id| format!(".{}", id.chars().take(8).collect::<String>()));
    Some(format!("{}{}", words.join("-"), build.unwrap_or_default()))
}

/// The number of a build of llama.cpp, as it stands in the version: b11669, or `11669 (commit)`.
fn engine_build(summary: &Value) -> Option<i64> {
    let version = engine_version(summary)?;
    let words = || version.split(|c: char| !c.is_ascii_alphanumeric());
    let named = words().find_map(|w| w.strip_prefix('b')?.parse().ok());
    named.or_else(|| words().find_map(|w| w.parse().ok().filter(|n| *n >= 1000)))
}

/// Build ids of the engine's files, in order.
fn build_ids(summary: &Value) -> Option<String> {
    let ids: BTreeSet<String> =
        list(summary, "session.libraries").iter().filter_map(|l| text(l, "build_id")).collect();
    joined(ids)
}

fn cpu_backend(summary: &Value) -> Option<String> {
    text(engine(summary)?, "cpu_backend")
}

fn cpu_variant(summary: &Value) -> Option<String> {
    text(engine(summary)?, "cpu_variant")
}

fn levels(summary: &Value) -> Option<String> {
    let levels = list(summary, "session.levels").iter().filter_map(Value::as_str);
    joined(levels.map(str::to_owned))
}

pub(super) fn model_name(summary: &Value) -> Option<String> {
    identity::model_file(summary)
}

fn weights_hash(summary: &Value) -> Option<String> {
    identity::weights_hash(summary)
}

/// Of the largest context, as a draft has weights too.
fn weight_bytes(summary: &Value) -> Option<i64> {
    list(summary, "weights").iter().filter_map(|w| int(w, "bytes")).max()
}

fn context_cells(summary: &Value) -> Option<i64> {
    list(summary, "kv").iter().filter_map(|k| int(k, "limit_cells")).max()
}

/// By nearest rank, of successful calls, as docs/output-schema.md has percentiles.
fn decode_p99_ns(summary: &Value) -> Option<i64> {
    let calls = list(summary, "tokens.calls").iter();
    let decode =
        calls.filter(|c| text(c, "phase").as_deref() == Some("decode") && int(c, "status") == Some(0));
    nearest_rank(decode.filter_map(|c| int(c, "duration_ns")).collect(), 99)
}

fn ttft_median_ns(summary: &Value) -> Option<i64> {
    nearest_rank(list(summary, "tokens.requests").iter().filter_map(|r| int(r, "ttft_ns")).collect(), 50)
}

/// The value at rank ⌈p·n/100⌉.
fn nearest_rank(mut values: Vec<i64>, percent: usize) -> Option<i64> {
    values.sort_unstable();
    let rank = (percent * values.len()).div_ceil(100);
    values.get(rank.checked_sub(1)?).copied()
}

/// Codes of the findings, the largest gain first, between commas: `,CODE,CODE,`, so that `LIKE '%,CODE,%'` finds one.
fn found(summary: &Value) -> Option<String> {
    let codes: Vec<String> = list(summary, "findings.found").iter().filter_map(|f| text(f, "code")).collect();
    Some(if codes.is_empty() { String::new() } else { format!(",{},", codes.join(",")) })
}

fn damaged(summary: &Value) -> Option<i64> {
    let counts = list(summary, "health.damaged").iter().filter_map(|d| int(d, "count"));
    Some(counts.fold(0, i64::saturating_add))
}

fn read_bytes_per_s(summary: &Value) -> Option<i64> {
    ceiling(summary, "read")
}

fn int8_ops_per_s(summary: &Value) -> Option<i64> {
    ceiling(summary, "int8")
}

/// The best of the medians: of any number of threads, any way to compute.
fn ceiling(summary: &Value, kind: &str) -> Option<i64> {
    let of_kind = list(summary, "ceilings").iter().filter(|c| text(c, "kind").as_deref() == Some(kind));
    of_kind.filter_map(|c| int(c, "median")).max()
}

fn clock_mean_hz(summary: &Value) -> Option<f64> {
    largest(summary, "frequency", "mean")
}

fn temperature_mean_millidegrees(summary: &Value) -> Option<f64> {
    largest(summary, "temperature", "mean")
}

fn temperature_max_millidegrees(summary: &Value) -> Option<f64> {
    largest(summary, "temperature", "max")
}

fn power_mean_microwatts(summary: &Value) -> Option<f64> {
    largest(summary, "power", "mean")
}

/// The largest figure of all sensors of a kind while tokens were generated: the fastest clock, the hottest place.
fn largest(summary: &Value, kind: &str, figure: &str) -> Option<f64> {
    let of_kind = list(summary, "gauges").iter().filter(|g| text(g, "kind").as_deref() == Some(kind));
    of_kind.filter_map(|g| float(g, &format!("decode.{figure}"))).reduce(f64::max)
}

fn joined(texts: impl IntoIterator<Item = String>) -> Option<String> {
    let texts: Vec<String> = texts.into_iter().collect();
    (!texts.is_empty()).then(|| texts.join(","))
}
