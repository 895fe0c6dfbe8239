//! A row for each recording.

use std::collections::BTreeSet;

use profinfer_schema::{CeilingKind, Engine, GaugeFigures, LibraryRole, Phase, Summary};

use super::column::{Cell, Column, columns, name, text};
use super::{SCHEMA, identity};

/// The columns, after the keys. `device` is what `add` was told.
pub(super) const COLUMNS: &[Column<Summary>] = columns! { |s: Summary|
    schema: i64 = SCHEMA,
    written_by: String = concat!("analyze-fleet ", env!("CARGO_PKG_VERSION")),
    device: String = None::<String>,
    board_name: String = s.session.board,
    machine: String = s.session.machine,
    cpu_model: String = s.session.cpu_model,
    cpus: i64 = s.session.cpus,
    kernel: String = s.session.kernel,
    agent: String = s.session.agent,
    start_unix_ns: i64 = s.session.start_unix_ns,
    duration_ns: i64 = s.session.duration_ns,
    levels: String = joined(s.session.levels.iter().cloned()),
    engine_name: String = engine(s).map(|e| &*e.name),
    engine_version: String = engine(s).map(|e| &*e.version),
    engine_build: i64 = engine_build(s),
    engine_build_ids: String = build_ids(s),
    cpu_backend: String = engine(s).and_then(|e| name(&e.cpu_backend)),
    cpu_variant: String = engine(s).and_then(|e| e.cpu_variant.as_deref()),
    model_name: String = identity::model_file(s),
    weights_hash: String = identity::weights_hash(s),
    weight_bytes: i64 = weight_bytes(s),
    threads: i64 = s.findings.headline.threads,
    context_cells: i64 = s.kv.iter().filter_map(|k| k.limit_cells).max(),
    tokens: i64 = s.findings.headline.tokens,
    token_ns: i64 = s.findings.headline.token_ns,
    tokens_per_s: f64 = s.findings.headline.tokens_per_s,
    token_median_ns: i64 = s.findings.headline.median_ns,
    token_p95_ns: i64 = s.findings.headline.p95_ns,
    decode_calls: i64 = s.tokens.decode.calls,
    decode_tokens: i64 = s.tokens.decode.tokens,
    decode_time_ns: i64 = s.tokens.decode.time_ns,
    decode_p99_ns: i64 = decode_p99_ns(s),
    prefill_calls: i64 = s.tokens.prefill.calls,
    prefill_tokens: i64 = s.tokens.prefill.tokens,
    prefill_time_ns: i64 = s.tokens.prefill.time_ns,
    prefill_tokens_per_s: f64 = s.findings.headline.prefill_tokens_per_s,
    ttft_median_ns: i64 = nearest_rank(s.tokens.requests.iter().filter_map(|r| r.ttft_ns).collect(), 50),
    failed_calls: i64 = s.tokens.failed_calls,
    mbu: f64 = s.findings.headline.mbu,
    bytes_per_token: f64 = s.work.decode.as_ref().map(|d| d.bytes_per_token),
    probes_share: f64 = s.findings.headline.probes_share,
    decode_slowdown: f64 = s.cost.decode_slowdown,
    found: String = None::<String>,
    perfect: bool = s.health.perfect,
    cut_short: bool = s.health.cut_short,
    spans_received: i64 = s.health.spans.received,
    spans_dropped: i64 = s.health.spans.dropped,
    spans_unaccounted: i64 = s.health.spans.unaccounted,
    damaged: i64 = s.health.damaged.iter().fold(0, |sum: u64, d| sum.saturating_add(d.count)),
    stream_bytes: i64 = s.cost.stream_bytes,
    read_bytes_per_s: i64 = ceiling(s, &CeilingKind::Read),
    int8_ops_per_s: i64 = ceiling(s, &CeilingKind::Int8),
    clock_mean_hz: f64 = largest(s, "frequency", |f| f.mean),
    temperature_mean_millidegrees: f64 = largest(s, "temperature", |f| f.mean),
    temperature_max_millidegrees: f64 = largest(s, "temperature", |f| f.max),
    power_mean_microwatts: f64 = largest(s, "power", |f| f.mean),
};

pub(super) fn row(summary: &Summary, device: Option<&str>) -> Vec<Cell> {
    let cell = |c: &Column<Summary>| match c.name {
        "device" => Cell::from(device.map(str::to_owned)),
        "found" => Cell::Text(found(summary)),
        _ => (c.of)(summary),
    };
    COLUMNS.iter().map(cell).collect()
}

/// The process whose engine computed: the first with a CPU backend, else the first.
fn engine(summary: &Summary) -> Option<&Engine> {
    let engines = &summary.engines;
    engines.iter().find(|e| e.cpu_backend.is_some()).or_else(|| engines.first())
}

/// One word for the build: what the version has of words and, as distributions build the same version differently, the beginning of the build id of
/// the library that computes tokens.
pub(super) fn engine_label(summary: &Summary) -> Option<String> {
    let engine = engine(summary)?;
    let version = text(&engine.version).or_else(|| text(&engine.name))?;
    let words: Vec<&str> = version.split([' ', ',', '(', ')']).filter(|w| !w.is_empty()).collect();
    let mut libraries = summary.session.libraries.iter();
    let tokens = libraries.find(|l| l.roles.contains(&LibraryRole::Token));
    let build = tokens
        .and_then(|l| text(&l.build_id))
        .map(|id| format!(".{}", id.chars().take(8).collect::<String>()));
    Some(format!("{}{}", words.join("-"), build.unwrap_or_default()))
}

/// The number of a build of llama.cpp, as it stands in the version: b11669, or `11669 (commit)`.
fn engine_build(summary: &Summary) -> Option<i64> {
    let version = text(&engine(summary)?.version)?;
    let words = || version.split(|c: char| !c.is_ascii_alphanumeric());
    let named = words().find_map(|w| w.strip_prefix('b')?.parse().ok());
    named.or_else(|| words().find_map(|w| w.parse().ok().filter(|n| *n >= 1000)))
}

/// Build ids of the engine's files, in order.
fn build_ids(summary: &Summary) -> Option<String> {
    let ids: BTreeSet<String> = summary.session.libraries.iter().filter_map(|l| text(&l.build_id)).collect();
    joined(ids)
}

/// Of the largest context, as a draft has weights too.
fn weight_bytes(summary: &Summary) -> Option<u64> {
    summary.weights.iter().map(|w| w.bytes).max()
}

/// By nearest rank, of successful calls, as docs/output-schema.md has percentiles.
fn decode_p99_ns(summary: &Summary) -> Option<u64> {
    let calls = summary.tokens.calls.iter();
    let decode = calls.filter(|c| c.phase == Phase::Decode && c.status == 0);
    nearest_rank(decode.map(|c| c.duration_ns).collect(), 99)
}

/// The value at rank ⌈p·n/100⌉.
fn nearest_rank(mut values: Vec<u64>, percent: usize) -> Option<u64> {
    values.sort_unstable();
    let rank = (percent * values.len()).div_ceil(100);
    values.get(rank.checked_sub(1)?).copied()
}

/// Codes of the findings, the largest gain first, between commas: `,CODE,CODE,`, so that `LIKE
/// '%,CODE,%'` matches one. Empty if there are none.
fn found(summary: &Summary) -> String {
    let codes: Vec<String> = summary.findings.found.iter().filter_map(|f| text(&f.code)).collect();
    if codes.is_empty() { String::new() } else { format!(",{},", codes.join(",")) }
}

/// The best of the medians, over all thread counts and methods.
fn ceiling(summary: &Summary, kind: &CeilingKind) -> Option<u64> {
    summary.ceilings.iter().filter(|c| c.kind == *kind).filter_map(|c| c.median).max()
}

/// The largest value of all sensors of a kind during decode: the fastest clock, the hottest place.
fn largest(summary: &Summary, kind: &str, figure: fn(&GaugeFigures) -> f64) -> Option<f64> {
    let of_kind = summary.gauges.iter().filter(|g| g.kind == kind);
    of_kind.filter_map(|g| g.decode.as_ref().map(figure)).reduce(f64::max)
}

fn joined(texts: impl IntoIterator<Item = String>) -> Option<String> {
    let texts: Vec<String> = texts.into_iter().collect();
    (!texts.is_empty()).then(|| texts.join(","))
}
