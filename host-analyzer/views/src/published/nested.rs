//! `nested_calls`: calls of a backend inside operators.

use super::Publish;
use profinfer_analysis::nested;

fields! {
    nested::Nested => NestedCalls {
        phase, op, desc, op_backend, function, backend, calls, time_ns, wall_ns, executions,
        op_wall_ns, share,
    }
}
