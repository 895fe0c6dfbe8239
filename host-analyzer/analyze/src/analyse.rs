//! All results, computed on two cores if the machine has them.

use std::panic::resume_unwind;
use std::thread;

use profinfer_analysis::Analysis;
use profinfer_trace::model::Model;

pub(crate) fn analyse(model: &Model) -> Analysis {
    Analysis::compute_parallel(model, |budget, rest| {
        thread::scope(|scope| {
            let budget = scope.spawn(budget);
            let rest = rest();
            (budget.join().unwrap_or_else(|panic| resume_unwind(panic)), rest)
        })
    })
}
