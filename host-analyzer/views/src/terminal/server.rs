//! Requests by slot: percentiles, and the contents of the batches.

use std::io::{self, Write};

use super::style::{Sheet, table, write_table};
use crate::words::{count, duration};
use profinfer_analysis::server::{Batches, Begin, Server, ServerContext, Spread, Spreads};

/// Maximum number of rows per table; summary.json has all.
const SHOWN: usize = 16;

pub(super) fn write(server: &Server, out: &mut Sheet<'_>) -> io::Result<()> {
    for context in server.contexts.iter().filter(|c| c.spreads.requests > 1 || c.slots.len() > 1) {
        spreads(context, out)?;
        batches(&context.batches, out)?;
        notes(server, context, out)?;
    }
    Ok(())
}

fn spreads(context: &ServerContext, out: &mut Sheet<'_>) -> io::Result<()> {
    let mut t = table(&[
        "slot",
        "requests",
        "prompt",
        "reused",
        "t/s",
        "per token p50",
        "p90",
        "p99",
        "first token p50",
        "p90",
        "p99",
        "waited p50",
        "of the calls",
    ]);
    let mut add = |name: String, s: &Spreads| {
        let [ttft, waited, tpot] = [&s.ttft_ns, &s.waited_ns, &s.tpot_ns].map(times);
        t.add_row(vec![
            name,
            count(s.requests),
            tokens(s.prompt_tokens.p50),
            tokens(s.reused.p50),
            s.tpot_ns.p50.map_or("–".into(), |ns| format!("{:.2}", 1e9 / ns.max(1) as f64)),
            tpot[0].clone(),
            tpot[1].clone(),
            tpot[2].clone(),
            ttft[0].clone(),
            ttft[1].clone(),
            ttft[2].clone(),
            waited[0].clone(),
            duration(s.cost_ns),
        ]);
    };
    for slot in context.slots.iter().take(SHOWN) {
        add(slot.slot.to_string(), &slot.spreads);
    }
    if context.slots.len() > 1 {
        add("all".into(), &context.spreads);
    }
    write_table(&mut t, out)?;
    others(context.slots.len(), out)
}

fn batches(all: &[Batches], out: &mut Sheet<'_>) -> io::Result<()> {
    let mut t =
        table(&["slots per batch", "calls", "prompts and answers", "time", "prompt tokens", "answer tokens"]);
    for b in all.iter().take(SHOWN) {
        t.add_row(vec![
            count(b.sequences.into()),
            count(b.calls),
            count(b.mixed_calls),
            duration(b.time_ns),
            count(b.prompt_tokens),
            count(b.answer_tokens),
        ]);
    }
    write_table(&mut t, out)?;
    others(all.len(), out)
}

fn others(all: usize, out: &mut Sheet<'_>) -> io::Result<()> {
    match all.checked_sub(SHOWN) {
        Some(n) if n > 0 => writeln!(out, "and {n} other rows"),
        _ => Ok(()),
    }
}

/// Writes what the figures leave out.
fn notes(server: &Server, context: &ServerContext, out: &mut Sheet<'_>) -> io::Result<()> {
    out.sentence(
        "a request is visible from its first batch on: the time to the first token does not include the wait for a slot before that",
    )?;
    if context.slots.len() > 1 {
        out.sentence("of the calls: the time of each call, divided by the tokens that its slots have in it")?;
    }
    let of = server.requests.iter().filter(|r| r.pid == context.pid && r.context == context.context);
    let with = |begin: Begin| of.clone().filter(|r| r.begin == begin).map(|_| 1_u64).sum::<u64>();
    let (back, copied, unseen) = (with(Begin::Back), with(Begin::Copied), with(Begin::Unseen));
    if back > 0 {
        out.sentence(&format!(
            "{} requests begin with one token at an earlier position of their slot: the prompt was cached, or the engine shifted \
             a full context",
            count(back)
        ))?;
    }
    if copied > 0 {
        out.sentence(&format!(
            "{} requests answer a prompt that was copied from another slot",
            count(copied)
        ))?;
    }
    if unseen > 0 {
        out.sentence(&format!(
            "{} requests were already being answered when the recording began",
            count(unseen)
        ))?;
    }
    if context.calls_not_whole > 0 {
        out.sentence(&format!(
            "the batches of {} calls are incomplete: requests in them lack figures",
            count(context.calls_not_whole)
        ))?;
    }
    Ok(())
}

fn times(s: &Spread) -> [String; 3] {
    [s.p50, s.p90, s.p99].map(|ns| ns.map_or("–".into(), duration))
}

fn tokens(n: Option<u64>) -> String {
    n.map_or("–".into(), count)
}
