//! Token level: speed, and the shares of graphs and operators.

use std::io::{self, Write};

use super::style::{Sheet, percent, table, write_table};
use crate::words::{count, duration, phase_name, tokens as words};
use profinfer_analysis::phase::Phase;
use profinfer_analysis::request::Request;
use profinfer_analysis::steps::Step;
use profinfer_analysis::token::{PhaseTotals, Token};

/// Maximum number of requests; summary.json has all.
const SHOWN: usize = 4;

pub(super) fn write(token: &Token, out: &mut Sheet<'_>) -> io::Result<()> {
    if token.calls.is_empty() {
        return Ok(());
    }
    let mut t = table(&["", "calls", "tokens", "time", "median", "p95", "in graphs", "in operators"]);
    let phases = [
        (Phase::Prefill, &token.prefill),
        (Phase::Decode, &token.decode),
        (Phase::BatchDecode, &token.batch_decode),
        (Phase::Draft, &token.draft),
        (Phase::Encode, &token.encode),
        (Phase::WarmUp, &token.warm_up),
    ];
    for (phase, totals) in phases {
        if totals.calls > 0 || matches!(phase, Phase::Prefill | Phase::Decode) {
            t.add_row(row(phase_name(phase), totals));
        }
    }
    write_table(&mut t, out)?;
    if token.prefill.phase_by_token_count > 0 {
        out.sentence(
            "prefill: identified by the number of tokens alone, so it includes parallel sequences and verified drafts",
        )?;
    }
    if token.failed_calls > 0 {
        writeln!(out, "{} calls failed and are not counted above", count(token.failed_calls))?;
    }
    requests(token, out)?;
    steps(&token.steps, out)?;
    for shifts in &token.context_shifts {
        out.sentence(&words::context_shifts(shifts))?;
    }
    Ok(())
}

fn row(name: &str, t: &PhaseTotals) -> Vec<String> {
    let part = |ns: Option<u64>, all: u64| match (ns, all) {
        (Some(ns), 1..) => percent(ns as f64 / all as f64),
        _ => "–".into(),
    };
    vec![
        name.into(),
        count(t.calls),
        count(t.tokens),
        duration(t.time_ns),
        maybe(t.median_ns),
        maybe(t.p95_ns),
        part(t.graph_ns, t.time_ns),
        // It is unknown for calls that were not traced.
        part(t.op_wall_ns, t.traced_time_ns),
    ]
}

/// The longest requests, in order of time. The lines above have all of a single one, but for the time of an
/// encoder.
fn requests(token: &Token, out: &mut Sheet<'_>) -> io::Result<()> {
    let all = &token.requests;
    if token.requests_unknown {
        return out.sentence(words::REQUESTS_UNKNOWN);
    }
    if all.len() < 2 && all.iter().all(|r| r.encode_ns == 0) {
        return Ok(());
    }
    let mut shown: Vec<&Request> = all.iter().collect();
    shown.sort_by_key(|r| std::cmp::Reverse((r.generated, r.prompt_tokens)));
    shown.truncate(SHOWN);
    shown.sort_by_key(|r| r.index);
    let encoder = shown.iter().any(|r| r.encode_ns > 0);
    let of_encoder = |cell: String| encoder.then_some(cell);
    let mut heads = vec!["request", "prompt", "first token"];
    heads.extend(encoder.then_some("of it, encoder"));
    heads.extend(["generated", "per token", "t/s"]);
    let mut t = table(&heads);
    for r in shown {
        let mut cells = vec![count(u64::from(r.index) + 1), count(r.prompt_tokens), maybe(r.ttft_ns)];
        cells.extend(of_encoder(maybe(Some(r.encode_ns).filter(|ns| *ns > 0))));
        cells.extend([count(r.generated), maybe(r.tpot_ns), per_s(r.decode_tokens_per_s)]);
        t.add_row(cells);
    }
    write_table(&mut t, out)?;
    if all.len() > SHOWN {
        writeln!(out, "and {} shorter ones", count((all.len() - SHOWN) as u64))?;
    }
    Ok(())
}

/// The cost of a call by the number of its sequences, if that varies or is not 1.
fn steps(all: &[Step], out: &mut Sheet<'_>) -> io::Result<()> {
    if all.iter().all(|s| s.sequences == 1) {
        return Ok(());
    }
    let mut t = table(&["sequences per call", "calls", "median", "per token", "t/s in all", "t/s each"]);
    for s in all {
        let each = 1e9 / s.median_ns.max(1) as f64;
        t.add_row(vec![
            count(s.sequences.into()),
            count(s.calls),
            duration(s.median_ns),
            duration(s.token_ns()),
            format!("{:.2}", each * f64::from(s.sequences)),
            format!("{each:.2}"),
        ]);
    }
    write_table(&mut t, out)
}

fn maybe(ns: Option<u64>) -> String {
    ns.map_or("–".into(), duration)
}

fn per_s(rate: Option<f64>) -> String {
    rate.map_or("–".into(), |r| format!("{r:.2}"))
}
