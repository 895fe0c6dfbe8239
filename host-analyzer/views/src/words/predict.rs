//! What a prediction says, for people.

use super::{duration, one_line, quantity, read_from, size};
use crate::predict::Answer;
use profinfer_analysis::predict::{
    Bracket, By, CLOCKS, Census, DECODE_SHARE, Interval, NoCensus, Prediction, Refusal, Speed,
};

/// The speed first, then what it rests on; or why there is none.
#[must_use]
pub fn words(answer: &Answer) -> Vec<String> {
    match answer {
        Answer::Predicted(p) => predicted(p),
        Answer::Bracket(both) => bracket(&both.0, &both.1),
        Answer::Refused(refusal) => vec![format!("Nothing is predicted: {}.", refused(refusal))],
    }
}

/// A speed with three digits.
#[must_use]
pub fn speed(per_s: f64) -> String {
    match per_s {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

fn threads(n: usize) -> String {
    if n == 1 { "1 thread".to_owned() } else { format!("{n} threads") }
}

fn ends(interval: &Interval, tokens: f64) -> String {
    let per_s = |ns: f64| speed(tokens * 1e9 / ns.max(1.0));
    format!("{} to {}", per_s(interval.high_ns), per_s(interval.low_ns))
}

fn predicted(p: &Prediction) -> Vec<String> {
    let mut all = vec![format!(
        "Decode: {} tokens/s ({}) on {} with {} cells of context; with what the application does between two tokens {} tokens/s.",
        speed(p.decode_per_s()),
        ends(&p.decode.interval, 1.0),
        threads(p.threads as usize),
        p.census.cells,
        speed(p.seen_per_s()),
    )];
    if let (Some(per_s), Some(prefill)) = (p.prefill_per_s(), &p.prefill) {
        all.push(format!(
            "Prompts: {} tokens/s ({}) for {} tokens at once.",
            speed(per_s),
            ends(&prefill.interval, p.prompt as f64),
            p.prompt
        ));
    }
    all.push(rests_on(&p.decode));
    let unseen: Vec<&str> =
        p.decode.estimate.types.iter().filter(|(_, t)| t.unseen).map(|(name, _)| name.as_str()).collect();
    if !unseen.is_empty() {
        all.push(format!(
            "No recording has {}: the figure is the mean of like types, and the interval is at least as wide as those that were seen.",
            unseen.join(", ")
        ));
    }
    if p.decode.estimate.alike < 1.0 {
        all.push(format!(
            "No recording has the same weights in a layer: operators without weights are those of the one that is most alike ({:.0} % of the names).",
            p.decode.estimate.alike * 100.0
        ));
    }
    all.extend(recurrent(&p.census));
    all
}

fn rests_on(speed: &Speed) -> String {
    match speed.interval.by {
        By::LeftOut => format!(
            "The interval is of 95 %: {} recordings, each predicted from the others, were so far off.",
            speed.interval.predictions
        ),
        By::Few => "The interval is an assumption: with three recordings of different models it is measured."
            .to_owned(),
    }
}

fn recurrent(census: &Census) -> Option<String> {
    let said = "The state of its recurrent layers is not counted, nor the time of their scans where no recording has them.";
    census.recurrent.then(|| said.to_owned())
}

fn bracket(census: &Census, bracket: &Bracket) -> Vec<String> {
    let per_s = |ns: f64| speed(1e9 / ns.max(1.0));
    let mut all = vec![format!(
        "Decode: between {} and {} tokens/s on {}. This is a bracket: a token reads {}, and decode reaches {:.0} to {:.0} % of the bandwidth{}, \
         as types and processors have it. A recording of any model on the board gives a figure.",
        per_s(bracket.decode_ns.1),
        per_s(bracket.decode_ns.0),
        threads(bracket.threads),
        size(census.streamed_bytes()),
        DECODE_SHARE.0 * 100.0,
        DECODE_SHARE.1 * 100.0,
        read_from(&bracket.read),
    )];
    if let Some((low, high)) = bracket.prefill_ns {
        all.push(format!("Prompts: between {} and {} tokens/s, likewise.", per_s(high), per_s(low)));
    }
    all.extend(recurrent(census));
    all
}

fn refused(refusal: &Refusal) -> String {
    match refusal {
        Refusal::NoCensus(NoCensus::Split(n)) => {
            format!("the file is one of {n} of a model; join them with llama-gguf-split --merge")
        }
        Refusal::NoCensus(NoCensus::NoLanguageModel) => {
            "the file has no embeddings or no layers, so it is no model that generates text".to_owned()
        }
        Refusal::NoCensus(NoCensus::ExpertsUsed) => {
            "the file has experts, and does not tell how many a token uses".to_owned()
        }
        Refusal::NoOperators => {
            "a recording has no decode tokens whose operators were all captured, with both ends; \
                                 record with --levels token,graph,op and without filters"
                .to_owned()
        }
        Refusal::Machines(machines) => format!(
            "the recordings are of different machines: {}; give those of one",
            machines.iter().map(|m| one_line(m)).collect::<Vec<_>>().join(", ")
        ),
        Refusal::Board { asked, found } if found.is_empty() => {
            format!("a recording names no board, and `{}` was asked for", one_line(asked))
        }
        Refusal::Board { asked, found } => {
            format!("a recording is of board `{}`, and `{}` was asked for", one_line(found), one_line(asked))
        }
        Refusal::Threads(threads) => format!(
            "the recordings have different numbers of threads: {}; give those of one number",
            threads.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
        ),
        Refusal::Clocks { name, low, high } => format!(
            "the clock {} was {} in one recording and {} in another, which is more than {:.0} %; rates follow the clock",
            one_line(name),
            quantity(*low, "hertz"),
            quantity(*high, "hertz"),
            CLOCKS * 100.0
        ),
        Refusal::Backends(backends) => format!(
            "operators ran on {}, and only rates of the CPU are known here",
            backends.iter().map(|b| one_line(b)).collect::<Vec<_>>().join(", ")
        ),
        Refusal::Paging { needed, available } => format!(
            "file and cache take {}, and the board has {} for programs: weights would be read from storage again and again",
            size(*needed),
            size(*available)
        ),
    }
}

/// A part of a token's time, with its share.
#[must_use]
pub fn part(ns: f64, whole: f64) -> [String; 2] {
    [duration(ns.round() as u64), format!("{:.1} %", ns * 100.0 / whole.max(1.0))]
}
