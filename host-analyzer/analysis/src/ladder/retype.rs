//! Replay with the weights or the KV cache of a tensor group in another type: their products take
//! as long per operation as the products with that type do in this recording.

use std::collections::BTreeMap;

use super::floor::FloorGroup;
use super::gain::{Gain, MODEL_ERROR};
use super::{Floor, Ladder, TensorGroup};

/// A tensor group in another type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Retyped<'a> {
    pub(crate) from: &'a FloorGroup,
    /// Best type that suits; `None` if the recording has none.
    pub(crate) to: Option<(&'a str, Gain)>,
}

/// Products with one type.
#[derive(Debug, Default)]
struct Speed {
    bytes: u64,
    operations: u64,
    work_ns: u64,
    /// ns per operation: of the fastest and the slowest group, and of the classes of one group.
    groups: Vec<f64>,
    classes: (f64, f64),
}

impl Speed {
    fn add(&mut self, group: &FloorGroup) {
        self.bytes = self.bytes.saturating_add(group.bytes);
        self.operations = self.operations.saturating_add(group.operations);
        self.work_ns = self.work_ns.saturating_add(group.work_ns);
        self.groups.push(group.work_ns as f64 / group.operations as f64);
        self.classes = group.ns_per_operation;
    }

    /// What one operation takes: least, mean and most, ns. A type that only one group has is as
    /// uncertain as the operators of that group differ.
    fn ns_per_operation(&self) -> (f64, f64, f64) {
        let mean = self.work_ns as f64 / self.operations as f64;
        let (low, high) = match self.groups.len() {
            0 | 1 => self.classes,
            _ => self.groups.iter().fold((mean, mean), |(low, high), ns| (low.min(*ns), high.max(*ns))),
        };
        (low.min(mean), mean, high.max(mean))
    }
}

impl Ladder {
    /// Each of these groups in the fastest of their other types that has as many bits or more; the
    /// most time above the limit first.
    pub(crate) fn retyped(&self, groups: fn(TensorGroup) -> bool) -> Vec<Retyped<'_>> {
        self.floor.as_ref().map_or_else(Vec::new, |floor| retyped(floor, groups))
    }
}

fn retyped(floor: &Floor, groups: fn(TensorGroup) -> bool) -> Vec<Retyped<'_>> {
    let products = || floor.groups.iter().filter(|g| groups(g.group) && g.bytes > 0 && g.operations > 0);
    let mut types: BTreeMap<&str, Speed> = BTreeMap::new();
    products().for_each(|g| types.entry(&g.dtype).or_default().add(g));
    // Products of one purpose read each element equally often.
    let size = |bytes: u64, operations: u64| bytes as f64 / operations as f64;
    let best = |from: &FloorGroup| {
        let now = size(from.bytes, from.operations);
        let others = types.iter().filter(|(dtype, _)| **dtype != from.dtype);
        let suit = others.filter(|(_, to)| size(to.bytes, to.operations) >= now);
        suit.map(|(dtype, to)| (*dtype, gain(from, to))).max_by_key(|(_, gain)| gain.likely_ns)
    };
    products().map(|from| Retyped { from, to: best(from) }).collect()
}

fn gain(from: &FloorGroup, to: &Speed) -> Gain {
    let (low, mean, high) = to.ns_per_operation();
    let saved = |ns: f64| (from.work_ns as f64 - from.operations as f64 * ns).max(0.0) as u64;
    Gain {
        low_ns: saved(high * (1.0 + MODEL_ERROR)),
        likely_ns: saved(mean),
        high_ns: saved(low * (1.0 - MODEL_ERROR)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(group: TensorGroup, dtype: &str, bytes: u64, weights: u64, work_ns: u64) -> FloorGroup {
        let operations = weights * 2;
        let rate = work_ns as f64 / operations as f64;
        let ns_per_operation = (rate, rate);
        FloorGroup {
            group,
            dtype: dtype.to_owned(),
            bytes,
            operations,
            floor_ns: 0,
            work_ns,
            unknown_ns: 0,
            ns_per_operation,
        }
    }

    /// 1000 weights of 5.5 bits take 2000 ns. The head has 2000 weights of 8.5 bits, which take 1000 ns,
    /// and attention 1000 that take 600: 533 ns for as many weights, 500 to 600 by group.
    #[test]
    fn weights_take_as_long_as_others_of_the_new_type() {
        let groups = vec![
            group(TensorGroup::FeedForward, "q5_0", 688, 1000, 2000),
            group(TensorGroup::Head, "q8_0", 2125, 2000, 1000),
            group(TensorGroup::AttentionProjections, "q8_0", 1063, 1000, 600),
            // Not a matrix.
            group(TensorGroup::Elementwise, "f32", 100, 1000, 1),
        ];
        let floor = Floor { groups, ..Floor::default() };
        let of = |group| to(&floor, TensorGroup::reads_weights, group);
        // 600 ns and 3 % more, 500 ns and 3 % less.
        let gain = Gain { low_ns: 1382, likely_ns: 1466, high_ns: 1515 };
        assert_eq!(of(TensorGroup::FeedForward), Some(("q8_0".to_owned(), gain)));
        // No other type with as many bits as q8_0 was recorded.
        assert_eq!(of(TensorGroup::Head), None);
    }

    fn to(floor: &Floor, groups: fn(TensorGroup) -> bool, of: TensorGroup) -> Option<(String, Gain)> {
        let all = retyped(floor, groups);
        let slow = all.iter().find(|r| r.from.group == of)?;
        slow.to.map(|(dtype, gain)| (dtype.to_owned(), gain))
    }

    /// Keys of 4.5 bits take 900 ns where as many values of 16 bits take 400, in operators that
    /// take 350 to 450. With flash attention there is nothing to compare with.
    #[test]
    fn keys_take_as_long_as_values_of_another_type() {
        let cells = TensorGroup::AttentionCells;
        let keys = group(cells, "q4_0", 562, 1000, 900);
        let mut values = group(cells, "f16", 2000, 1000, 400);
        values.ns_per_operation = (0.175, 0.225);
        let both = Floor { groups: vec![keys.clone(), values], ..Floor::default() };
        let gain = Gain { low_ns: 436, likely_ns: 500, high_ns: 560 };
        let of = |floor: &Floor| to(floor, |group| group == TensorGroup::AttentionCells, cells);
        assert_eq!(of(&both), Some(("f16".to_owned(), gain)));
        assert_eq!(of(&Floor { groups: vec![keys], ..Floor::default() }), None);
    }
}
