//! Predicted speed of a model on a board, from recordings of other models on that board.
//!
//! Stage: analysis. From: a [`Blueprint`] of the model's file, and one [`Run`] for each recording.
//! To: [`Prediction`]. Promises: the time per token is the sum of its parts. Bytes are those of the
//! file's tensors. The interval comes from predicting each recording from the others, where there
//! are three. Recordings that do not belong together are refused. Anything without a measurement is
//! marked.
//!
//! The method is described in `docs/predict.md`: bytes of each type by the rate of its kernels, the
//! cache by the rate of attention, a fixed time per node and between two nodes.

mod bracket;
mod census;
mod estimate;
mod fit;
mod interval;
mod layer;
mod node;
mod peers;
mod rates;
mod refusal;
mod run;
mod shape;
mod target;
mod unseen;
mod window;

pub use bracket::{Bracket, DECODE_SHARE, PREFILL_SHARE};
pub use census::{Census, Matrix, NoCensus};
pub use estimate::{Estimate, OfType};
pub use fit::{Line, Point};
pub use interval::{By, FEW, FEWEST, Interval, LeftOut, UNSEEN, left_out};
pub use node::{Measured, Node};
pub use peers::Peers;
pub use rates::{Rates, Stage, nearness};
pub use refusal::{CLOCKS, Refusal};
pub use run::Run;
pub use shape::Shape;
pub use target::Target;

use profinfer_trace::model::Blueprint;

/// Options of a prediction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    /// Cells of the context; `None`: as in the recordings.
    pub context: Option<u64>,
    /// Tokens of a prompt; `None`: as in the recordings.
    pub prompt: Option<u64>,
    /// Required board of the recordings.
    pub board: Option<String>,
}

/// One speed.
#[derive(Debug, Clone, PartialEq)]
pub struct Speed {
    /// The time of a call in parts.
    pub estimate: Estimate,
    pub interval: Interval,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// What a token reads.
    pub census: Census,
    /// Threads of the recordings.
    pub threads: u32,
    pub decode: Speed,
    /// Time of the application per token, ns.
    pub gap_ns: f64,
    /// Prompts, if the recordings have some.
    pub prefill: Option<Speed>,
    /// Tokens of the prompt.
    pub prompt: u64,
    /// Results of other rules.
    pub peers: Peers,
    /// Each recording, predicted from the others.
    pub left_out: Vec<LeftOut>,
}

impl Prediction {
    /// Predicts the speed of a model.
    ///
    /// # Errors
    ///
    /// Why there is no prediction: the file, or recordings that do not belong together or lack
    /// required data.
    pub fn compute(blueprint: &Blueprint, runs: &[Run], query: &Query) -> Result<Self, Refusal> {
        refusal::recordings(runs, query)?;
        let runs: Vec<&Run> = runs.iter().collect();
        let most = |of: fn(&Run) -> u64| runs.iter().map(|r| of(r)).max().unwrap_or(0);
        let cells = query.context.unwrap_or_else(|| most(|r| r.cells));
        let census = Census::new(blueprint, cells).map_err(Refusal::NoCensus)?;
        refusal::memory(&census, &runs)?;
        let prompt = query.prompt.unwrap_or_else(|| most(|r| r.prefill.as_ref().map_or(0, |p| p.tokens)));
        let target = Target::of_file(blueprint, &census, prompt);
        let left_out = left_out(&runs);
        let speed = |stage| {
            let estimate = Estimate::compute(&target, &runs, stage)?;
            let interval = Interval::new(&estimate, &left_out, stage);
            Some(Speed { estimate, interval })
        };
        let decode = speed(Stage::Decode).ok_or(Refusal::NoOperators)?;
        Ok(Self {
            threads: runs[0].threads,
            gap_ns: gap_ns(&runs, &target),
            prefill: speed(Stage::Prefill).filter(|_| prompt > 0),
            prompt,
            peers: Peers::compute(&census, &runs),
            decode,
            left_out,
            census,
        })
    }

    /// Tokens per second of decode calls alone, as the engine's own timings count.
    #[must_use]
    pub fn decode_per_s(&self) -> f64 {
        1e9 / self.decode.estimate.ns().max(1.0)
    }

    /// Tokens per second as seen by a user: includes the application's time between the calls.
    #[must_use]
    pub fn seen_per_s(&self) -> f64 {
        1e9 / (self.decode.estimate.ns() + self.gap_ns).max(1.0)
    }

    /// Prompt tokens per second.
    #[must_use]
    pub fn prefill_per_s(&self) -> Option<f64> {
        let speed = self.prefill.as_ref()?;
        Some(self.prompt as f64 * 1e9 / speed.estimate.ns().max(1.0))
    }
}

/// Sampling reads each entry of the vocabulary, so the gap grows with it.
fn gap_ns(runs: &[&Run], target: &Target) -> f64 {
    let point = |r: &&Run| Point { x: r.shape.vocabulary() as f64, y: 0.0, ns: r.gap_ns, weight: 1.0 };
    let points: Vec<Point> = runs.iter().map(point).collect();
    Line::through(&points, 0.0).map_or(0.0, |line| line.ns(target.shape.vocabulary() as f64, 0.0))
}
