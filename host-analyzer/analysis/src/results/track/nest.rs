//! Separate lanes for slices that overlap without nesting.
//!
//! Viewers draw a track as a stack of slices. They cannot draw a slice that begins inside another
//! and ends after it. Calls of one thread always nest, but a damaged stream may contain anything.

/// Number of lanes to try for a slice before adding a lane. This bounds the time for a malicious
/// stream.
const LANES_TRIED: usize = 32;

/// Open slices of one lane, by their ends, innermost last.
#[derive(Debug, Default)]
pub(super) struct Stack {
    ends: Vec<u64>,
    last_start: u64,
    /// Sum of the durations of all slices that were pushed, ns.
    total: u64,
}

impl Stack {
    /// Pushes a slice, if it nests with those before it.
    #[inline]
    pub(super) fn push(&mut self, start: u64, end: u64) -> bool {
        if start < self.last_start {
            return false;
        }
        while self.ends.last().is_some_and(|e| *e <= start) {
            self.ends.pop();
        }
        if self.ends.last().is_some_and(|e| *e < end) {
            return false;
        }
        self.ends.push(end);
        self.last_start = start;
        self.total = self.total.saturating_add(end - start);
        true
    }
}

/// Lanes for `slices`, with given bounds. If they nest as they are, the result is one lane in the
/// same order. Otherwise they are sorted by start, longer first, and each goes into the first of
/// the latest lanes in which it nests. Each lane comes with the sum of its slices' durations, ns.
pub(super) fn lanes<T: Copy>(slices: Vec<T>, bounds: impl Fn(T) -> (u64, u64)) -> Vec<(u64, Vec<T>)> {
    let mut stack = Stack::default();
    if slices.iter().all(|s| {
        let (start, end) = bounds(*s);
        stack.push(start, end)
    }) {
        return vec![(stack.total, slices)];
    }
    let mut sorted = slices;
    sorted.sort_by_key(|s| {
        let (start, end) = bounds(*s);
        (start, std::cmp::Reverse(end))
    });
    let mut lanes: Vec<(Stack, Vec<T>)> = Vec::new();
    for slice in sorted {
        let (start, end) = bounds(slice);
        let tried = lanes.len().saturating_sub(LANES_TRIED);
        match lanes[tried..].iter_mut().find_map(|(stack, lane)| stack.push(start, end).then_some(lane)) {
            Some(lane) => lane.push(slice),
            None => {
                let mut stack = Stack::default();
                stack.push(start, end);
                lanes.push((stack, vec![slice]));
            }
        }
    }
    lanes.into_iter().map(|(stack, lane)| (stack.total, lane)).collect()
}

#[cfg(test)]
mod tests {
    use super::lanes;

    fn split(slices: &[(u64, u64)]) -> Vec<Vec<(u64, u64)>> {
        let lanes = lanes(slices.to_vec(), |s| s);
        for (total, lane) in &lanes {
            assert_eq!(*total, lane.iter().map(|(start, end)| end - start).sum::<u64>());
        }
        lanes.into_iter().map(|(_, lane)| lane).collect()
    }

    #[test]
    fn nested_and_touching_slices_stay_as_they_are() {
        let nested = [(0, 100), (0, 40), (10, 40), (40, 100), (100, 100), (100, 120)];
        assert_eq!(split(&nested), [nested.to_vec()]);
    }

    #[test]
    fn an_empty_slice_fits_at_every_edge() {
        let edges = [(5, 5), (5, 10), (5, 5), (10, 10), (10, 10)];
        assert_eq!(split(&edges), [edges.to_vec()]);
    }

    #[test]
    fn slices_out_of_order_are_sorted() {
        assert_eq!(split(&[(50, 60), (0, 10), (0, 60)]), [[(0, 60), (0, 10), (50, 60)]]);
    }

    #[test]
    fn overlaps_get_lanes() {
        assert_eq!(
            split(&[(0, 10), (5, 15), (8, 30), (10, 12), (16, 20)]),
            [vec![(0, 10), (10, 12), (16, 20)], vec![(5, 15)], vec![(8, 30)]]
        );
    }

    #[test]
    fn nothing_is_one_empty_lane() {
        assert_eq!(split(&[]), [vec![]]);
    }
}
