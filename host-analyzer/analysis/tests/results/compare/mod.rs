//! Comparing runs: statistics against enumeration, tables and series of known variance; verdicts
//! and rows of models whose tokens are known to the nanosecond; the gate.

mod gate;
mod power;
mod questions;
mod random;
mod rows;
pub(crate) mod schema;
mod statistics;
mod verdict;

use profinfer_analysis::compare::{Choices, Comparison, Run};
use profinfer_trace::model::Model;

use crate::models::planted::{Plant, each};

/// A run of tokens of 450 ns and `more`, all of it between the calls.
fn run_of(more: u64) -> Run {
    Run::compute(&model_of(more))
}

fn model_of(more: u64) -> Model {
    let mut m = each(|_| Plant { before: more, ..Plant::default() });
    m.session.start_unix_ns = more;
    m
}

fn compare(a: &[Run], b: &[Run]) -> Comparison {
    Comparison::new(a, b, Choices::default())
}

/// Runs of tokens with these additional times.
fn runs(more: &[u64]) -> Vec<Run> {
    more.iter().map(|m| run_of(*m)).collect()
}
