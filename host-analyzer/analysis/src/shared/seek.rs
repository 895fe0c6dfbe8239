//! Search in sorted rows that begins where the last one ended: times mostly go forward.

/// Farthest that a search walks row by row; beyond, bisection is faster.
const NEAR: usize = 8;

/// The first row that is not `before`, which holds for the first rows only. `last`: where the last search
/// ended.
pub(crate) fn seek<T>(rows: &[T], last: &mut usize, before: impl Fn(&T) -> bool) -> usize {
    let mut at = (*last).min(rows.len());
    let near = at.saturating_add(NEAR).min(rows.len());
    while at < near && before(&rows[at]) {
        at += 1;
    }
    let is_first = rows.get(at).is_none_or(|row| !before(row)) && (at == 0 || before(&rows[at - 1]));
    if !is_first {
        at = rows.partition_point(before);
    }
    *last = at;
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_from_the_last_place_finds_what_bisection_finds() {
        let ends: Vec<u64> = (0..50).flat_map(|i| [i * 10 + 4; 2]).collect();
        let mut last = 7_000;
        for t in [0, 3, 4, 200, 13, 499, 494, 493, 0, 77] {
            let before = |end: &u64| *end <= t;
            assert_eq!(seek(&ends, &mut last, before), ends.partition_point(before), "{t}");
        }
        assert_eq!(seek(&[0_u64; 0], &mut 7, |_| true), 0);
    }
}
