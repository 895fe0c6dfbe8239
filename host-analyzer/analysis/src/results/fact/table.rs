//! Readings by scope and name.

use std::collections::BTreeMap;

use super::decode::Decode;
use super::list;
use super::reading::{Course, FileRead, Reading, Rise};
use crate::shared::phase::Phases;
use profinfer_trace::model::{Fact, FactScope, FactValue, Model, rises};

/// Name of the fact that the agent sends when it first sees a process, at a time when it reads
/// nothing else.
const MET: &str = "program";
/// Name of the fact that the agent sends when it finds that a process or thread has ended.
const ENDED: &str = "ended";

#[derive(Debug)]
pub(super) struct Table<'m> {
    model: &'m Model,
    rows: BTreeMap<(FactScope, &'m str), Vec<&'m Fact>>,
    /// Times at which everything was read, in order. The agent sends only facts that changed.
    times: Vec<u64>,
    /// Cumulative time, ns, up to each of these times: time between neighbours with token
    /// generation and nothing else.
    covered_ns: Vec<u64>,
    decode: Decode,
}

impl<'m> Table<'m> {
    pub(super) fn new(model: &'m Model, phases: &Phases) -> Self {
        let mut rows: BTreeMap<_, Vec<&Fact>> = BTreeMap::new();
        let mut met = Vec::new();
        for fact in &model.facts.rows {
            let name = model.texts.get(fact.name);
            rows.entry((fact.scope, name)).or_default().push(fact);
            if name == MET {
                met.push(fact.at_ns);
            }
        }
        let mut times: Vec<u64> = model.facts.rows.iter().map(|fact| fact.at_ns).collect();
        times.dedup();
        times.retain(|at| met.binary_search(at).is_err());
        let decode = Decode::compute(model, phases);
        let mut sum = 0;
        let covered_ns = (0..times.len()).map(|i| {
            let before = i.checked_sub(1).map_or(times[i], |before| times[before]);
            sum += if decode.covers(before, times[i]) { times[i] - before } else { 0 };
            sum
        });
        let covered_ns = covered_ns.collect();
        Self { model, rows, times, covered_ns, decode }
    }

    /// All scopes that have facts, in order.
    pub(super) fn scopes(&self) -> Vec<FactScope> {
        let mut scopes: Vec<FactScope> = self.rows.keys().map(|(scope, _)| *scope).collect();
        scopes.dedup();
        scopes
    }

    /// The latest readings of names that begin with `prefix`: the rest of the name, and the fact.
    pub(super) fn beginning(
        &self,
        scope: FactScope,
        prefix: &'static str,
    ) -> impl Iterator<Item = (&'m str, &'m Fact)> + '_ {
        let from = self.rows.range((scope, prefix)..);
        let of = move |((of, name), facts): (&(FactScope, &'m str), &Vec<&'m Fact>)| {
            (*of == scope).then_some(())?;
            Some((name.strip_prefix(prefix)?, *facts.last()?))
        };
        from.map_while(of)
    }

    /// The latest reading of every fact.
    pub(super) fn latest(&self) -> impl Iterator<Item = (FactScope, &'m str, &'m Fact)> + '_ {
        self.rows.iter().filter_map(|((scope, name), facts)| Some((*scope, *name, *facts.last()?)))
    }

    pub(super) fn last(&self, scope: FactScope, name: &'m str) -> Option<&'m Fact> {
        self.rows.get(&(scope, name))?.last().copied()
    }

    pub(super) fn number(&self, scope: FactScope, name: &'m str) -> Reading<u64> {
        match self.last(scope, name).map(|fact| fact.value) {
            Some(FactValue::Number(number)) => Reading::Value(number),
            Some(FactValue::Absent(why)) => Reading::Absent(self.model.texts.get(why).to_owned()),
            Some(FactValue::Text(_)) | None => Reading::Unrecorded,
        }
    }

    /// The value of a fact as text.
    pub(super) fn as_text(&self, fact: &Fact) -> Reading<String> {
        match fact.value {
            FactValue::Text(text) => Reading::Value(self.model.texts.get(text).to_owned()),
            FactValue::Absent(why) => Reading::Absent(self.model.texts.get(why).to_owned()),
            FactValue::Number(_) => Reading::Unrecorded,
        }
    }

    pub(super) fn text(&self, scope: FactScope, name: &'m str) -> Reading<String> {
        self.last(scope, name).map_or(Reading::Unrecorded, |fact| self.as_text(fact))
    }

    pub(super) fn words(&self, scope: FactScope, name: &'m str) -> Reading<Vec<String>> {
        self.text(scope, name).map(|text| text.split_whitespace().map(str::to_owned).collect())
    }

    pub(super) fn cpus(&self, scope: FactScope, name: &'m str) -> Reading<Vec<u16>> {
        let parsed = |text: String| match list::cpus(&text) {
            Some(cpus) => Reading::Value(cpus),
            None => Reading::Absent("it is not a list of CPUs".to_owned()),
        };
        self.text(scope, name).and_then(parsed)
    }

    /// All CPUs that some reading of a list names, sorted.
    pub(super) fn cpus_ever(&self, scope: FactScope, name: &'m str) -> Vec<u16> {
        let facts = self.rows.get(&(scope, name)).into_iter().flatten();
        let lists = facts.filter_map(|fact| match fact.value {
            FactValue::Text(text) => list::cpus(self.model.texts.get(text)),
            _ => None,
        });
        let mut cpus: Vec<u16> = lists.flatten().collect();
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }

    /// Times and values of a numeric fact.
    fn numbers(&self, scope: FactScope, name: &'m str) -> Vec<(u64, u64)> {
        let facts = self.rows.get(&(scope, name)).into_iter().flatten();
        let number = |fact: &&Fact| match fact.value {
            FactValue::Number(number) => Some((fact.at_ns, number)),
            FactValue::Text(_) | FactValue::Absent(_) => None,
        };
        facts.filter_map(number).collect()
    }

    pub(super) fn course(&self, scope: FactScope, name: &'m str) -> Reading<Course> {
        let numbers = self.numbers(scope, name);
        let (Some((_, first)), Some((_, last))) = (numbers.first(), numbers.last()) else {
            return self.number(scope, name).and_then(|_| Reading::Unrecorded);
        };
        let values = || numbers.iter().map(|(_, value)| *value);
        let (min, max) = (values().min().unwrap_or(*first), values().max().unwrap_or(*last));
        Reading::Value(Course { first: *first, last: *last, min, max })
    }

    /// What a process read from files, most first. A counter begins when its file is first read, so its
    /// first value counts too.
    pub(super) fn file_reads(&self, scope: FactScope) -> Vec<FileRead> {
        const READ: &str = "read.";
        let rows = self.rows.range((scope, READ)..).map_while(|((of, name), _)| {
            let file = name.strip_prefix(READ).filter(|_| *of == scope)?;
            Some((file, *name))
        });
        let of = |(file, name): (&str, &'m str)| {
            let mut bytes = self.rise(scope, name).value().copied()?;
            let (at, first) = *self.numbers(scope, name).first()?;
            bytes.whole = bytes.whole.saturating_add(first);
            if let Some(decode) = bytes.decode.as_mut().filter(|_| self.in_decode(at)) {
                *decode = decode.saturating_add(first);
            }
            Some(FileRead { file: file.to_owned(), bytes })
        };
        let mut files: Vec<FileRead> = rows.filter_map(of).collect();
        files.sort_by_key(|f| std::cmp::Reverse(f.bytes.whole));
        files
    }

    /// Between a time and the reading before it there were only decode calls.
    fn in_decode(&self, at: u64) -> bool {
        let until = self.times.partition_point(|time| *time < at);
        self.covered_ns.get(until) > self.covered_ns.get(until.saturating_sub(1))
    }

    /// Index of the last time at which something was read for `scope`; at least that of `read_ns`.
    fn last_time(&self, scope: FactScope, read_ns: u64) -> Option<usize> {
        let last = match self.last(scope, ENDED) {
            // The agent found then that it had ended, and read it last before.
            Some(ended) => self.times.partition_point(|time| *time < ended.at_ns).checked_sub(1)?,
            None => self.times.len().checked_sub(1)?,
        };
        let read = self.times.partition_point(|time| *time < read_ns);
        Some(last.max(read)).filter(|last| *last < self.times.len())
    }

    pub(super) fn rise(&self, scope: FactScope, name: &'m str) -> Reading<Rise> {
        let numbers = self.numbers(scope, name);
        let Some((begun, _)) = numbers.first().copied() else {
            return self.number(scope, name).and_then(|_| Reading::Unrecorded);
        };
        let mut rise = Rise { whole: 0, whole_ns: 0, decode: None, decode_ns: 0 };
        // The first step is from the first reading to the next time at which everything was read.
        let first = self.times.partition_point(|time| *time <= begun);
        let last = self.last_time(scope, numbers.last().map_or(begun, |(at, _)| *at));
        let (Some(next), Some(last)) = (self.times.get(first), last.filter(|last| *last >= first)) else {
            return Reading::Value(rise);
        };
        rise.whole_ns = self.times[last] - begun;
        let first_covered = self.decode.covers(begun, *next);
        let of_first = if first_covered { next - begun } else { 0 };
        rise.decode_ns = of_first + (self.covered_ns[last] - self.covered_ns[first]);
        let mut in_decode = 0_u64;
        let facts = self.rows.get(&(scope, name)).into_iter().flatten();
        for step in rises(facts.copied()) {
            rise.whole = rise.whole.saturating_add(step.by);
            let of_first = self.times.partition_point(|time| *time < step.to_ns) == first;
            let covered = if of_first { first_covered } else { self.in_decode(step.to_ns) };
            if covered {
                in_decode = in_decode.saturating_add(step.by);
            }
        }
        rise.decode = (rise.decode_ns > 0).then_some(in_decode);
        Reading::Value(rise)
    }
}
