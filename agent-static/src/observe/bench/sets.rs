//! The sets of CPUs to measure: several thread counts per core type, and all types together.

use super::core_type::CoreType;
use crate::error::{Diagnostic, Result};

/// CPUs that run one thread each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Set {
    /// Their core types, joined by `+`.
    pub(super) core: String,
    pub(super) cpus: Vec<u32>,
}

/// The sets for these thread counts. Without counts: 1 to n for up to four CPUs of a type,
/// otherwise 1, 2, 4, … and n.
///
/// # Errors If a count is larger than the number of CPUs.
pub(super) fn sets(types: &[CoreType], threads: Option<&[usize]>) -> Result<Vec<Set>> {
    let all: usize = types.iter().map(|t| t.cpus.len()).sum();
    if let Some(n) = threads.and_then(|t| t.iter().find(|n| **n > all)) {
        return Err(Diagnostic::new(
            format!("choosing CPUs for {n} threads"),
            format!("number of selected CPUs: {all}"),
            "each thread needs its own CPU: use fewer with --threads, or more CPUs with --cpus",
        ));
    }
    let mut sets = Vec::new();
    for core in types {
        let most = core.cpus.len();
        let counts =
            threads.map_or_else(|| usual(most), |t| t.iter().copied().filter(|n| *n <= most).collect());
        sets.extend(
            counts.into_iter().map(|n| Set { core: core.name.clone(), cpus: core.cpus[..n].to_vec() }),
        );
    }
    let largest = types.iter().map(|t| t.cpus.len()).max().unwrap_or(0);
    let mixed: Vec<usize> = match threads {
        Some(threads) => threads.iter().copied().filter(|n| *n > largest).collect(),
        None if types.len() > 1 => vec![all],
        None => Vec::new(),
    };
    sets.extend(mixed.into_iter().map(|n| fastest(types, n)));
    Ok(sets)
}

fn usual(most: usize) -> Vec<usize> {
    match most {
        0..=4 => (1..=most).collect(),
        _ => {
            std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|n| *n < most).chain([most]).collect()
        }
    }
}

/// `n` CPUs, those of the fastest types first.
fn fastest(types: &[CoreType], n: usize) -> Set {
    let (mut names, mut cpus) = (Vec::new(), Vec::new());
    for core in types {
        let some = core.cpus.iter().take(n - cpus.len());
        if some.len() > 0 {
            names.push(core.name.as_str());
            cpus.extend(some);
        }
    }
    cpus.sort_unstable();
    Set { core: names.join("+"), cpus }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    fn board() -> Vec<CoreType> {
        let of = |name: &str, cpus: std::ops::Range<u32>| CoreType {
            name: name.into(),
            cpus: cpus.collect(),
            capacity: 0,
        };
        vec![of("big", 4..8), of("little", 0..4)]
    }

    fn sets_of(types: &[CoreType], threads: Option<&[usize]>) -> Vec<(String, Vec<u32>)> {
        sets(types, threads).unwrap().into_iter().map(|s| (s.core, s.cpus)).collect()
    }

    #[test]
    fn of_each_type_and_of_all() {
        let sets = sets_of(&board(), None);
        let counts: Vec<_> = sets.iter().map(|(core, cpus)| (core.as_str(), cpus.len())).collect();
        let big = [1, 2, 3, 4].map(|n| ("big", n));
        let little = [1, 2, 3, 4].map(|n| ("little", n));
        assert_eq!(counts, [&big[..], &little, &[("big+little", 8)]].concat());
        assert_eq!(sets[1].1, [4, 5]);
        assert_eq!(sets[8].1, (0..8).collect::<Vec<_>>());
    }

    #[test]
    fn of_numbers_of_threads() {
        let of = |name: &str, cpus: &[u32]| (name.to_owned(), cpus.to_vec());
        assert_eq!(
            sets_of(&board(), Some(&[1, 6])),
            [of("big", &[4]), of("little", &[0]), of("big+little", &[0, 1, 4, 5, 6, 7])]
        );
        assert!(sets(&board(), Some(&[9])).unwrap_err().answer.ends_with(": 8"));
        assert_eq!(usual(6), [1, 2, 4, 6]);
        assert_eq!(usual(16), [1, 2, 4, 8, 16]);
        assert_eq!(usual(1), [1]);
        assert!(sets_of(&[], None).is_empty());
    }
}
