//! The cost of a longer context.

use std::io::{self, Write};

use super::style::{Sheet, wrapped};
use crate::words::{count, duration, one_line};
use profinfer_analysis::kv::Kv;

/// Maximum number of contexts and of operators; summary.json has all.
const SHOWN: usize = 2;

pub(super) fn write(all: &[Kv], out: &mut Sheet<'_>) -> io::Result<()> {
    let mut shown: Vec<&Kv> = all.iter().filter(|k| k.token.is_some()).collect();
    shown.sort_by_key(|k| std::cmp::Reverse(k.steps.iter().map(|s| s.tokens).sum::<u64>()));
    for kv in shown.into_iter().take(SHOWN) {
        writeln!(out)?;
        for (i, line) in wrapped(&sentence(kv), out.width() - 10).iter().enumerate() {
            writeln!(out, "{:9} {line}", if i == 0 { "KV cache" } else { "" })?;
        }
    }
    Ok(())
}

fn sentence(kv: &Kv) -> String {
    let Some(token) = &kv.token else { return String::new() };
    let mut parts = vec![if token.grows {
        format!(
            "1,000 more KV cells cost {} per token ({} to {})",
            signed(token.ns_per_1000_cells),
            signed(token.low_ns),
            signed(token.high_ns)
        )
    } else {
        "no visible growth of the time per token".to_owned()
    }];
    let growing = kv.types.iter().filter(|t| t.growth.grows).take(SHOWN);
    let growing: Vec<_> =
        growing.map(|t| format!("{} {}", one_line(&t.desc), signed(t.growth.ns_per_1000_cells))).collect();
    if !growing.is_empty() {
        parts.push(growing.join(", "));
    }
    if let (Some(limit), Some(cells), Some(last)) = (kv.at_limit, kv.limit_cells, kv.steps.last())
        && token.grows
    {
        parts.push(format!(
            "a token takes {} at {} KV cells, {} to {} at the limit of {}",
            duration(last.median_ns),
            count(last.cells),
            duration(limit.low_ns),
            duration(limit.high_ns),
            count(cells)
        ));
    }
    parts.join(" · ")
}

fn signed(ns: i64) -> String {
    let sign = if ns < 0 { "−" } else { "" };
    format!("{sign}{}", duration(ns.unsigned_abs()))
}
