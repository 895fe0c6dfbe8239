//! Experts: number, balance, reuse, and the bytes that a token reads.

use std::io::{self, Write};

use super::style::{Sheet, percent, table, write_table};
use crate::words::{self, count, size};
use profinfer_analysis::expert::{Figures, Routing};

/// Maximum number of rows; summary.json has all.
const SHOWN: usize = 4;

pub(super) fn write(all: &[Routing], out: &mut Sheet<'_>) -> io::Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    let mut t = table(&[
        "experts",
        "layers",
        "used of all",
        "per batch",
        "weights",
        "evenness",
        "reused",
        "last use",
        "p90",
    ]);
    for r in all.iter().take(SHOWN) {
        t.add_row(row(r));
    }
    write_table(&mut t, out)?;
    if let Some(n) = all.len().checked_sub(SHOWN).filter(|n| *n > 0) {
        writeln!(out, "and {n} other rows")?;
    }
    for sentence in all.iter().take(SHOWN).filter_map(words::experts::sentence) {
        out.sentence(&sentence)?;
    }
    if all.iter().any(|r| r.whole.reuse.is_some()) {
        out.sentence(
            "evenness: 100 % if all experts are used equally, 0 % if only one is; reused: of a token's experts, those that \
             the previous token used; last use: tokens since the last use of an expert, median and 90th percentile",
        )?;
    }
    notes(all, out)
}

fn row(r: &Routing) -> Vec<String> {
    let f = &r.whole;
    let reuse = f.reuse.as_ref();
    let none = || "–".to_owned();
    let tokens = |n: Option<u64>| n.map_or_else(none, count);
    vec![
        words::phase_name(r.phase).into(),
        count(r.layers.len() as u64),
        format!("{} of {}", count(f.n_expert - f.never_used), count(f.n_expert)),
        f.distinct_per_batch.map_or_else(none, |n| format!("{n:.1}")),
        f.bytes_per_batch.map_or_else(none, |n| size(n.round() as u64)),
        f.balance.map_or_else(none, percent),
        reuse.and_then(|r| r.share).map_or_else(none, percent),
        tokens(reuse.and_then(|r| r.median_tokens)),
        tokens(reuse.and_then(|r| r.p90_tokens)),
    ]
}

/// Writes what the figures leave out.
fn notes(all: &[Routing], out: &mut Sheet<'_>) -> io::Result<()> {
    let sum = |field: fn(&Figures) -> u64| all.iter().map(|r| field(&r.whole)).sum::<u64>();
    let (left_out, warm_up) = (sum(|f| f.left_out), sum(|f| f.all_used));
    if left_out > 0 {
        out.sentence(&format!(
            "{} selections of a layer are incomplete and not counted above",
            count(left_out)
        ))?;
    }
    if warm_up > 0 {
        out.sentence(&format!(
            "{} selections of a layer are of all its experts (warm-up) and not counted above",
            count(warm_up)
        ))?;
    }
    Ok(())
}
