//! Speculative decoding: the yield and the cost of a round.

use std::io::{self, Write};

use super::style::{Sheet, percent, wrapped};
use crate::words::{count, duration};
use profinfer_analysis::speculative::{PlainSource, Speculative};

/// Indentation of the lines after the first.
const INDENT: usize = 13;

pub(super) fn write(all: &[Speculative], out: &mut Sheet<'_>) -> io::Result<()> {
    for s in all {
        let mut line = format!("speculative  {} rounds · {} drafted", count(s.rounds), count(s.drafted));
        if let Some(share) = s.accepted_share {
            line.push_str(&format!(", {} accepted", percent(share)));
        }
        if let Some(emitted) = s.emitted_per_round {
            line.push_str(&format!(" · {emitted:.2} tokens per round"));
        }
        writeln!(out, "\n{line}")?;
        let mut costs = Vec::new();
        if let Some(verified) = s.verified.iter().max_by_key(|v| v.rounds) {
            let measured = s.plain.is_some_and(|p| p.by != PlainSource::Bounds);
            let ratio = verified.verify_ratio.filter(|_| measured);
            let of_plain = ratio.map_or(String::new(), |r| format!(", {r:.2} of a plain token"));
            costs.push(format!(
                "verifying {} takes {}{of_plain}",
                verified.drafted,
                duration(verified.median_ns)
            ));
        }
        if let Some(ns) = s.draft_token_ns {
            costs.push(format!("drafting a token takes {}", duration(ns)));
        }
        let more = [("computing accepted tokens again", s.replay_ns), ("copying states", s.copies_ns)];
        for (what, ns) in more.into_iter().filter(|(_, ns)| *ns > 0) {
            costs.push(format!("{what} takes {} per round", duration(ns)));
        }
        costs.push(verdict(s));
        for line in wrapped(&costs.join(" · "), out.width() - INDENT) {
            writeln!(out, "{:INDENT$}{line}", "")?;
        }
    }
    Ok(())
}

fn verdict(s: &Speculative) -> String {
    let how = if s.draft.is_some() { "the draft" } else { "guesses" };
    let with = s.tokens_per_s.map_or(String::new(), |r| format!("{r:.2} t/s with {how}"));
    let (Some(plain), Some(speed), Some(cost)) = (s.plain, s.plain_tokens_per_s, s.break_even_per_round)
    else {
        return if with.is_empty() { "too few rounds to tell whether it pays off".to_owned() } else { with };
    };
    let about = match plain.by {
        PlainSource::Calls => "",
        PlainSource::Line => "about ",
        PlainSource::Bounds => "at least ",
    };
    let verdict = match s.wins {
        Some(true) => "it pays off",
        Some(false) => "it does not pay off",
        None if plain.by == PlainSource::Calls => {
            "inconclusive, because single tokens take too different times"
        }
        None => "inconclusive, because the target ran too few single tokens",
    };
    format!("{verdict}: a round costs {about}{cost:.2} plain tokens · {with}, {about}{speed:.2} without")
}
