//! A delay that is planted in a real engine appears in its class of the budget and nowhere else.
//!
//! The machine may be busy. So the test compares medians over tokens, of a run with the delay and
//! of one without: a disturbance of less than half of the tokens moves no median, and the delay
//! affects every token. If other programs use the CPUs most of the time and a pair of runs differs
//! by that too, the pair is repeated; a delay in the wrong class appears each time.

mod application;
mod backend;

use profinfer_analysis::budget::{Budget, Class, TokenBudget};
use profinfer_analysis::phase::{Phase, Phases};
use profinfer_trace::model::Model;

/// The delay in each token, ns.
const DELAY_NS: u64 = 2_000_000;

/// The decode tokens of a recording without the first.
fn tokens(m: &Model) -> Vec<TokenBudget> {
    let budget = Budget::compute(m, &Phases::compute(m));
    assert!(budget.scheduler, "without the scheduler level sleep is not told from work");
    budget.tokens.into_iter().filter(|t| t.phase == Phase::Decode).skip(1).collect()
}

/// Median time of a class, ns.
fn median(tokens: &[TokenBudget], class: Class) -> i64 {
    let mut all: Vec<u64> = tokens.iter().map(|t| t.wall.get(class)).collect();
    all.sort_unstable();
    all[all.len() / 2].cast_signed()
}

/// The error, if there is one.
type Checked = Result<(), String>;

/// Repeats it up to twice if it fails.
fn holds(check: impl Fn() -> Checked) {
    let failed: Vec<String> = (0..3).map_while(|_| check().err()).inspect(|why| println!("{why}")).collect();
    assert!(failed.len() < 3, "{failed:#?}");
}

/// Of the medians by class, that of `class` differs by the delay, less 10 % and up to 60 % more,
/// and no other by more than half of it. A thread that slept waits for a CPU if other programs have
/// them all, which adds a delay.
fn only_in(class: Class, delay_ns: u64, with: &[TokenBudget], without: &[TokenBudget]) -> Checked {
    let delay = delay_ns.cast_signed();
    for each in Class::ALL {
        let more = median(with, each) - median(without, each);
        if more != 0 {
            println!("{}: {:.3} ms", each.key(), more as f64 / 1e6);
        }
        let allowed = match each {
            _ if each == class => delay * 9 / 10..delay * 8 / 5,
            Class::Preempted | Class::Waking => -delay..delay,
            _ => -delay / 2..delay / 2,
        };
        if !allowed.contains(&more) {
            return Err(format!("{each:?} is {more} ns longer by a delay of {delay} ns in {class:?}"));
        }
    }
    Ok(())
}
