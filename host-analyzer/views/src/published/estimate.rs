//! `op_types[].estimate`: figures of all tokens, from a part of them.

use super::Publish;
use profinfer_analysis::duty;

fields! {
    duty::estimate::Interval => Interval { low, high }
    duty::estimate::Estimate => Estimate { value, interval }
    duty::types::TypeEstimate => TypeEstimate { wall_per_call, wall_per_execution, share }
}
