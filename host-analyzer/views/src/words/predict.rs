//! The sentences of a prediction.

use super::{counted, duration, one_line, quantity, read_from, size};
use crate::predict::Answer;
use profinfer_analysis::predict::{
    Bracket, By, CLOCKS, Census, DECODE_SHARE, Interval, NoCensus, Prediction, Refusal, Speed,
};

/// The speed, then what it is based on; or the reason why there is no prediction.
#[must_use]
pub fn words(answer: &Answer) -> Vec<String> {
    match answer {
        Answer::Predicted(p) => predicted(p),
        Answer::Bracket(both) => bracket(&both.0, &both.1),
        Answer::Refused(refusal) => vec![format!("No prediction: {}.", refused(refusal))],
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

fn ends(interval: &Interval, tokens: f64) -> String {
    let per_s = |ns: f64| speed(tokens * 1e9 / ns.max(1.0));
    format!("{} to {}", per_s(interval.high_ns), per_s(interval.low_ns))
}

fn predicted(p: &Prediction) -> Vec<String> {
    let mut all = vec![format!(
        "Decode: {} t/s ({}) on {} with {} KV cells; including the application between two tokens: {} t/s.",
        speed(p.decode_per_s()),
        ends(&p.decode.interval, 1.0),
        counted(p.threads.into(), "thread"),
        p.census.cells,
        speed(p.seen_per_s()),
    )];
    if let (Some(per_s), Some(prefill)) = (p.prefill_per_s(), &p.prefill) {
        all.push(format!(
            "Prompt processing: {} t/s ({}) for {} tokens at once.",
            speed(per_s),
            ends(&prefill.interval, p.prompt as f64),
            p.prompt
        ));
    }
    all.push(basis(&p.decode));
    let unseen: Vec<&str> =
        p.decode.estimate.types.iter().filter(|(_, t)| t.unseen).map(|(name, _)| name.as_str()).collect();
    if !unseen.is_empty() {
        all.push(format!(
            "No recording has {}: the figure is the mean of similar types, and the interval is at least as wide as the measured ones.",
            unseen.join(", ")
        ));
    }
    if p.decode.estimate.alike < 1.0 {
        all.push(format!(
            "No recording has the same weights in a layer: operators without weights come from the most similar recording ({:.0} % of the names).",
            p.decode.estimate.alike * 100.0
        ));
    }
    all.extend(recurrent(&p.census));
    all
}

fn basis(speed: &Speed) -> String {
    match speed.interval.by {
        By::LeftOut => format!(
            "The interval covers 95 %: it is the error of {} recordings, each predicted from the others.",
            speed.interval.predictions
        ),
        By::Few => {
            "The interval is an assumption; from three recordings of different models on it is measured."
                .to_owned()
        }
    }
}

fn recurrent(census: &Census) -> Option<String> {
    let note = "The state of its recurrent layers is not included, nor the time of their scans if no recording has them.";
    census.recurrent.then(|| note.to_owned())
}

fn bracket(census: &Census, bracket: &Bracket) -> Vec<String> {
    let per_s = |ns: f64| speed(1e9 / ns.max(1.0));
    let mut all = vec![format!(
        "Decode: between {} and {} t/s on {}. This is a bracket: a token reads {}, and decode reaches {:.0} to {:.0} % of the bandwidth{}, \
         depending on types and processors. A recording of any model on the board gives a figure.",
        per_s(bracket.decode_ns.1),
        per_s(bracket.decode_ns.0),
        counted(bracket.threads as u64, "thread"),
        size(census.streamed_bytes()),
        DECODE_SHARE.0 * 100.0,
        DECODE_SHARE.1 * 100.0,
        read_from(&bracket.read),
    )];
    if let Some((low, high)) = bracket.prefill_ns {
        all.push(format!("Prompt processing: between {} and {} t/s, likewise.", per_s(high), per_s(low)));
    }
    all.extend(recurrent(census));
    all
}

fn refused(refusal: &Refusal) -> String {
    match refusal {
        Refusal::NoCensus(NoCensus::Split(n)) => {
            format!("the file is one of {n} parts of a model; join them with llama-gguf-split --merge")
        }
        Refusal::NoCensus(NoCensus::NoLanguageModel) => {
            "the file has no embeddings or no layers, so it is not a model that generates text".to_owned()
        }
        Refusal::NoCensus(NoCensus::NotCausal) => {
            "the model computes embeddings, ranks texts or generates by diffusion (its attention is not causal, or its outputs are pooled), so it does not generate token by token".to_owned()
        }
        Refusal::NoCensus(NoCensus::EncoderDecoder) => {
            "the model has an encoder and a decoder, which are not predicted".to_owned()
        }
        Refusal::NoCensus(NoCensus::ExpertsUsed) => {
            "the file has experts but not the number that a token uses".to_owned()
        }
        Refusal::NoOperators => "a recording has no decode token with all operators and both their ends; \
                                 record with --levels token,graph,op and without filters"
            .to_owned(),
        Refusal::Machines(machines) => format!(
            "the recordings are from different machines: {}; pass those of one machine",
            machines.iter().map(|m| one_line(m)).collect::<Vec<_>>().join(", ")
        ),
        Refusal::Board { asked, found } if found.is_empty() => {
            format!("a recording names no board, but `{}` was requested", one_line(asked))
        }
        Refusal::Board { asked, found } => {
            format!(
                "a recording is from board `{}`, but `{}` was requested",
                one_line(found),
                one_line(asked)
            )
        }
        Refusal::Threads(threads) => format!(
            "the recordings have different thread counts: {}; pass recordings of one thread count",
            threads.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
        ),
        Refusal::Clocks { name, low, high } => format!(
            "the clock {} was {} in one recording and {} in another, which differ by more than {:.0} %; rates follow the clock",
            one_line(name),
            quantity(*low, "hertz"),
            quantity(*high, "hertz"),
            CLOCKS * 100.0
        ),
        Refusal::Backends(backends) => format!(
            "operators ran on {}, but only rates of the CPU are known",
            backends.iter().map(|b| one_line(b)).collect::<Vec<_>>().join(", ")
        ),
        Refusal::Paging { needed, available } => format!(
            "weights and cache take {}, but the board has {} for programs: it would read weights from storage again and again",
            size(*needed),
            size(*available)
        ),
    }
}

/// A part of a token's time, with its share.
#[must_use]
pub fn part(ns: f64, all: f64) -> [String; 2] {
    [duration(ns.round() as u64), format!("{:.1} %", ns * 100.0 / all.max(1.0))]
}
