//! How much a counter of the facts rose in some time.

use std::collections::BTreeMap;

use profinfer_trace::model::{self, Fact, FactScope, Model, Rise};

/// The rises of one counter, in order of time.
#[derive(Debug, Default)]
pub(crate) struct Rises(Vec<Rise>);

impl Rises {
    /// The rise between two times; within a reading it is spread evenly.
    pub(crate) fn within(&self, (from, to): (u64, u64)) -> u64 {
        let first = self.0.partition_point(|r| r.to_ns <= from);
        let part = |r: &Rise| {
            let inside = r.to_ns.min(to).saturating_sub(r.from_ns.max(from));
            let by = u128::from(r.by) * u128::from(inside) / u128::from((r.to_ns - r.from_ns).max(1));
            u64::try_from(by).unwrap_or(u64::MAX)
        };
        self.0[first..].iter().take_while(|r| r.from_ns < to).map(part).sum()
    }

    /// Leaves out the rises in a time of which less than one part in `least` is in `calls`, sorted by end. Returns
    /// whether there was any of which some is in calls.
    pub(crate) fn leave_out(&mut self, calls: &[(u64, u64)], least: u64) -> bool {
        let mut any = false;
        self.0.retain(|rise| {
            let (from, to) = (rise.from_ns, rise.to_ns);
            let first = calls.partition_point(|(_, end)| *end <= from);
            let inside = |(start, end): &(u64, u64)| end.min(&to).saturating_sub(*start.max(&from));
            let inside = calls[first..].iter().take_while(|(start, _)| *start < to).map(inside);
            let inside = inside.fold(0, u64::saturating_add);
            let enough = inside.saturating_mul(least) >= to - from;
            any |= inside > 0 && !enough;
            enough
        });
        any
    }
}

/// The rises of the counters of a name, by what `scope` makes of theirs, which is another one for each. The agent sends a counter again
/// only when it has risen, which it did since the reading before.
pub(crate) fn rises<K: Ord>(
    model: &Model,
    name: &str,
    scope: impl Fn(FactScope) -> Option<K>,
) -> BTreeMap<K, Rises> {
    let mut rows: BTreeMap<K, Rises> = BTreeMap::new();
    let Some(name) = model.texts.find(name) else { return rows };
    let readings = readings(model);
    let since_reading = |rise: Rise| {
        let before_this = readings.partition_point(|reading| *reading < rise.to_ns).checked_sub(1);
        Rise { from_ns: rise.from_ns.max(before_this.map_or(0, |i| readings[i])), ..rise }
    };
    let mut counters: BTreeMap<FactScope, Vec<&Fact>> = BTreeMap::new();
    for fact in model.facts.rows.iter().filter(|f| f.name == name) {
        counters.entry(fact.scope).or_default().push(fact);
    }
    for (counted, facts) in counters {
        let Some(key) = scope(counted) else { continue };
        let rises: Vec<Rise> = model::rises(facts).filter(|r| r.by > 0).map(since_reading).collect();
        if !rises.is_empty() {
            rows.insert(key, Rises(rises));
        }
    }
    rows
}

/// Times at which the agent read all counters, ns: some value of the system changes between any two.
fn readings(model: &Model) -> Vec<u64> {
    let of_system = model.facts.rows.iter().filter(|f| f.scope == FactScope::System);
    of_system.map(|f| f.at_ns).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use profinfer_trace::model::FactValue;

    #[test]
    fn a_counter_rose_after_the_last_reading_that_did_not_send_it() {
        let mut model = Model::default();
        let [steal, memory] = ["steal", "memory"].map(|name| model.texts.intern(name));
        let mut tell = |at_ns, scope, name, value| {
            model.facts.rows.push(Fact { at_ns, scope, name, value: FactValue::Number(value) });
        };
        tell(100, FactScope::Cpu(0), steal, 5);
        tell(100, FactScope::System, memory, 1);
        tell(200, FactScope::System, memory, 2);
        // What the agent sends of a new process is no reading of a CPU.
        tell(250, FactScope::Process(7), memory, 2);
        tell(300, FactScope::Cpu(0), steal, 25);
        tell(300, FactScope::System, memory, 3);
        let found = rises(&model, "steal", Some);
        let within = |from, to| found[&FactScope::Cpu(0)].within((from, to));
        assert_eq!((within(0, 200), within(200, 250), within(200, 400)), (0, 10, 20));
    }

    #[test]
    fn a_counter_that_was_absent_counts_something_else() {
        let mut model = Model::default();
        let (name, scope, why) =
            (model.texts.intern("throttled"), FactScope::Process(7), model.texts.intern("moved"));
        let values = [5, 9].map(FactValue::Number);
        for (at_ns, value) in (1..).zip([values[0], FactValue::Absent(why), values[1]]) {
            model.facts.rows.push(Fact { at_ns, scope, name, value });
        }
        assert!(rises(&model, "throttled", Some).is_empty());
    }
}
