//! How much a counter of the facts rose in some time.

use std::collections::{BTreeMap, HashMap};

use profinfer_trace::model::{FactScope, FactValue, Model};

/// Readings are this far apart, ns. The agent sends a counter again only when it has risen, which
/// it did since the reading before.
const PERIOD_NS: u64 = 1_100_000_000;

/// Time in which a counter rose.
#[derive(Debug)]
struct Rise {
    from: u64,
    to: u64,
    by: u64,
}

/// The rises of one counter, in order of time.
#[derive(Debug, Default)]
pub(super) struct Rises(Vec<Rise>);

impl Rises {
    /// The rise between two times; within a reading it is spread evenly.
    pub(super) fn within(&self, (from, to): (u64, u64)) -> u64 {
        let first = self.0.partition_point(|r| r.to <= from);
        let part = |r: &Rise| {
            let inside = r.to.min(to).saturating_sub(r.from.max(from));
            let by = u128::from(r.by) * u128::from(inside) / u128::from((r.to - r.from).max(1));
            u64::try_from(by).unwrap_or(u64::MAX)
        };
        self.0[first..].iter().take_while(|r| r.from < to).map(part).sum()
    }
}

/// The rises of the counters of a name, by what `scope` makes of theirs.
pub(super) fn rises<K: Ord>(
    model: &Model,
    name: &str,
    scope: impl Fn(FactScope) -> Option<K>,
) -> BTreeMap<K, Rises> {
    let mut rows: BTreeMap<K, Rises> = BTreeMap::new();
    let mut last: HashMap<FactScope, (u64, u64)> = HashMap::new();
    let Some(name) = model.texts.find(name) else { return rows };
    for fact in model.facts.rows.iter().filter(|f| f.name == name) {
        let (Some(key), FactValue::Number(total)) = (scope(fact.scope), fact.value) else { continue };
        let before = last.insert(fact.scope, (fact.at_ns, total));
        let Some((at, before)) = before.filter(|(_, before)| *before < total) else { continue };
        let from = at.max(fact.at_ns.saturating_sub(PERIOD_NS));
        rows.entry(key).or_default().0.push(Rise { from, to: fact.at_ns, by: total - before });
    }
    rows
}
