//! `op_types[].estimate`: figures for all tokens, estimated from some.

use super::Publish;
use profinfer_analysis::duty;

fields! {
    duty::estimate::Interval => Interval { low, high }
    duty::estimate::Estimate => Estimate { value, interval }
    duty::types::TypeEstimate => TypeEstimate { wall_per_call, wall_per_execution, share }
}
