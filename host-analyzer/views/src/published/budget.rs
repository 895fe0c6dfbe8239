//! `budget`: the time of each token by class.

use super::Publish;
use crate::words;
use profinfer_analysis::budget::{self, Class};
use profinfer_schema as schema;

fields! {
    budget::PhaseBudget => PhaseBudget { phase, calls, all_calls, time_ns, wall, work, threads }
    budget::Work => BudgetWork { op, desc, ns }
    budget::ThreadBudget => ThreadBudget { tid, calls_tokens, time_ns, parts }
    budget::TokenBudget => TokenBudget { call, phase, traced, start_ns, time_ns, wall }
}

impl Publish for budget::Budget {
    type Form = schema::Budget;

    fn publish(&self) -> Self::Form {
        let Self { scheduler, classes, phases, tokens } = self;
        schema::Budget {
            names: Class::ALL.map(|class| words::budget::name(class).to_owned()).to_vec(),
            scheduler: *scheduler,
            classes: classes.publish(),
            phases: phases.publish(),
            tokens: tokens.publish(),
        }
    }
}

impl Publish for budget::Parts {
    type Form = Vec<u64>;

    fn publish(&self) -> Self::Form {
        Class::ALL.map(|class| self.get(class)).to_vec()
    }
}
