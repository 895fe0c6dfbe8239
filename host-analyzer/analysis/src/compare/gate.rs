//! The gate: differences between two sides, before any time is compared.

use std::collections::BTreeSet;

use super::environment::{Environment, Key, Kind, Tolerance, Value};

/// One property on both sides.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    pub key: Key,
    /// What a difference in it means.
    pub kind: Kind,
    pub found: Found,
    /// By run of each side.
    pub values: [Vec<Value>; 2],
}

/// Result of comparing a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Found {
    /// The sides differ, and the runs of each side agree.
    Different,
    /// Runs of one side differ from each other.
    Mixed,
    /// Some run has no value, and the others agree.
    Unknown,
    /// All runs agree.
    Same,
}

impl Found {
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Different => "different",
            Self::Mixed => "mixed",
            Self::Unknown => "unknown",
            Self::Same => "same",
        }
    }
}

impl Item {
    /// Whether it shows that the sides did different work.
    #[must_use]
    pub const fn other_work(&self) -> bool {
        matches!((self.kind, self.found), (Kind::Work, Found::Different | Found::Mixed))
    }

    /// For properties that are texts, the texts of this side only.
    #[must_use]
    pub fn only_in(&self, side: usize) -> BTreeSet<&str> {
        let all =
            |values: &'_ [Value]| -> BTreeSet<String> { values.iter().flat_map(texts).cloned().collect() };
        let other = all(&self.values[1 - side]);
        self.values[side].iter().flat_map(texts).filter(|t| !other.contains(*t)).map(String::as_str).collect()
    }
}

fn texts(value: &Value) -> impl Iterator<Item = &String> + '_ {
    let texts = match value {
        Value::Texts(texts) => Some(texts),
        Value::Unknown | Value::Number(_) => None,
    };
    texts.into_iter().flatten()
}

/// Every property of any run: differences first, and work before environment.
#[must_use]
pub(super) fn gate(sides: [Vec<&Environment>; 2]) -> Vec<Item> {
    let keys: BTreeSet<&Key> = sides.iter().flatten().flat_map(|run| run.keys()).collect();
    let item = |key: &Key| {
        let values =
            [0, 1].map(|side| sides[side].iter().map(|run| run.get(key).clone()).collect::<Vec<_>>());
        let found = found(&values, key.thing.tolerance());
        Item { key: key.clone(), kind: key.thing.kind(), found, values }
    };
    let mut items: Vec<Item> = keys.into_iter().map(item).collect();
    items.sort_by_key(|i| (i.found, i.kind == Kind::Environment, i.key.thing));
    items
}

fn found(values: &[Vec<Value>; 2], tolerance: Tolerance) -> Found {
    let alike = |values: &[&Value]| {
        values.iter().enumerate().all(|(i, a)| values[..i].iter().all(|b| equal(a, b, tolerance)))
    };
    let known = |side: usize| values[side].iter().filter(|v| **v != Value::Unknown).collect::<Vec<_>>();
    let (a, b) = (known(0), known(1));
    let both: Vec<&Value> = a.iter().chain(&b).copied().collect();
    let unknown = both.len() < values[0].len() + values[1].len();
    match (alike(&both), alike(&a) && alike(&b)) {
        (true, _) if unknown => Found::Unknown,
        (true, _) => Found::Same,
        (false, true) => Found::Different,
        // Measurements vary: the sides differ if their ranges are apart.
        (false, false) if apart(&a, &b, tolerance) => Found::Different,
        (false, false) => Found::Mixed,
    }
}

fn equal(a: &Value, b: &Value, tolerance: Tolerance) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => within((a - b).abs(), *a, *b, tolerance),
        (a, b) => a == b,
    }
}

fn within(difference: f64, a: f64, b: f64, tolerance: Tolerance) -> bool {
    match tolerance {
        Tolerance::Share(share) => difference <= share * a.abs().min(b.abs()),
        Tolerance::Absolute(most) => difference <= most,
    }
}

/// Whether the ranges of the numbers have more than the tolerance between them.
fn apart(a: &[&Value], b: &[&Value], tolerance: Tolerance) -> bool {
    let range = |values: &[&Value]| {
        values.iter().try_fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| match v {
            Value::Number(n) => Some((n.min(low), n.max(high))),
            Value::Unknown | Value::Texts(_) => None,
        })
    };
    let (Some(a), Some(b)) = (range(a), range(b)) else { return false };
    let (lower, upper) = if a.0 < b.0 { (a, b) } else { (b, a) };
    lower.1 < upper.0 && !within(upper.0 - lower.1, upper.0, lower.1, tolerance)
}
