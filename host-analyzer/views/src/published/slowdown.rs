//! `slowdown`: what capturing operators adds to a decode call.

use super::Publish;
use profinfer_analysis::duty;
use profinfer_schema as schema;

fields! {
    duty::Measured => MeasuredSlowdown {
        slowdown, low, high, of_all_tokens, bursts, traced, untraced, edges,
    }
    duty::MeasuredEdges => MeasuredEdges { slowdown, low, high, extra_ns, tokens }
}

impl Publish for duty::Slowdown {
    type Form = schema::Slowdown;

    fn publish(&self) -> Self::Form {
        match self {
            Self::Measured(measured) => schema::Slowdown::Measured(measured.publish()),
            Self::Estimated { slowdown, of_all_tokens } => {
                schema::Slowdown::Estimated { slowdown: *slowdown, of_all_tokens: Some(*of_all_tokens) }
            }
            Self::Unknown => schema::Slowdown::Unknown,
        }
    }
}
