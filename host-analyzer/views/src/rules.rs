//! The catalogue of rules as a page: docs/findings.md, and the output of `analyze findings`.
//!
//! Stage: view. From: the texts of the rules. To: Markdown. A test compares docs/findings.md with it.

use std::io::{self, Write};

use crate::words;
use profinfer_analysis::findings::{RULES, Rule};
use profinfer_analysis::ladder::Question;

const HEAD: &str = "\
# Findings

What `analyze` looks for in every session. Each rule has a stable code, which is also its code in summary.json. Its verdict is one of:
*found*; *ruled out* by a number (every question loses less than 2 % of its time); *inconclusive*, if the 95 % interval of the cost includes both nothing and
the least cost that counts; *not enough data*, with the names of what is missing. A finding is about steps of the [ladder](ladder.md), for each question that
they delay: a decode token, a prompt, a call of an encoder. Rules that need calls judge those of one question: all calls that generate text (with guesses, also
those that make and verify them, per token that came out); if fewer than 16 calls do, and 16 read prompts, those that read prompts; else calls of an encoder. A gain is an interval: what the remedy saves per decode token, per prompt, or until the first token of a request. Findings that
take at least 20 % of a question's time come first, then those with a gain, by the effect on the session. `ci/causes.sh` plants the causes in a real engine
and compares the effect of the remedy with the interval. Means have 95 % intervals by batch means over eight blocks of consecutive calls.

`analyze findings` prints this page; it is generated from the rules.
";

/// Writes the page, or the part of one rule.
///
/// # Errors
/// Those of `out`.
pub fn page(only: Option<&Rule>, out: &mut dyn Write) -> io::Result<()> {
    if only.is_none() {
        out.write_all(HEAD.as_bytes())?;
    }
    for rule in RULES.iter().filter(|rule| only.is_none_or(|only| **rule == only)) {
        writeln!(out, "\n## {}\n", rule.title)?;
        writeln!(out, "`{}` · *{}*\n", rule.code, rule.question)?;
        writeln!(out, "- **Found if** {}", lower(rule.condition))?;
        if *rule.questions == [Question::Decode] {
            writeln!(out, "- **Only for** engines that generate text.")?;
        }
        if !rule.requires.is_empty() {
            writeln!(out, "- **Needs** {}.", words::findings::needs(rule).join(", "))?;
        }
        writeln!(out, "- **Gain** {}", lower(rule.formula))?;
        writeln!(out, "- **Remedy** {}", lower(rule.remedy))?;
        writeln!(out, "- **Known from** {}.", rule.source)?;
    }
    Ok(())
}

/// A sentence after a heading, in lower case; names keep their capitals.
fn lower(sentence: &str) -> String {
    let first = sentence.split(' ').next().unwrap_or_default();
    let is_name = first.chars().skip(1).any(char::is_uppercase) || first == "CPUs";
    let mut letters = sentence.chars();
    match letters.next() {
        Some(letter) if !is_name => letter.to_lowercase().chain(letters).collect(),
        _ => sentence.to_owned(),
    }
}
