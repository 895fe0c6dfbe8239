//! From a counter set to requests, one for each core type, in order of slots.
//!
//! An event that several core types have takes the same slot on all of them, so that a thread that
//! moves between them is read in the same way. Cycles come first.

use crate::board::{Board, SOFTWARE};
use crate::cores::{CYCLES, Core};
use crate::error::{BoardError, nearest};

/// A requested counter, on one type of core.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedCounter {
    /// Event name, as in Arm's manuals; software events as perf names them.
    pub name: String,
    /// Event number; 0 for a software event.
    pub event: u32,
    /// Main ID register of the cores (`MIDR_EL1 & 0xff00fff0`); 0 for a software event.
    pub midr: u32,
}

impl Board {
    /// The counters to request: for every core type the cycles and the set's events in order of
    /// slots, then page faults. Without a set, the board's default.
    ///
    /// # Errors
    /// With the known sets, when no core of the board has a set of this name.
    pub fn counter_plan(&self, set: Option<&str>) -> Result<Vec<PlannedCounter>, BoardError> {
        let mut plan = Vec::new();
        if let Some(set) = set.or(self.counter_set.as_deref()) {
            let lists = self.lists(set);
            let no_set = || BoardError::NoSet {
                board: self.name.clone(),
                name: set.to_owned(),
                candidates: nearest(set, self.set_names().into_iter()),
            };
            // Sets that cannot share slots were refused when the profile was read.
            let lists = aligned(&lists).filter(|l| l.iter().any(|l| !l.is_empty())).ok_or_else(no_set)?;
            for (core, list) in self.cores.iter().zip(lists) {
                plan.extend(planned(core, &list));
            }
        }
        let software = |name: &str| PlannedCounter { name: name.to_owned(), event: 0, midr: 0 };
        plan.extend(SOFTWARE.map(software));
        Ok(plan)
    }

    /// Names of the sets that its cores have, the default first.
    #[must_use]
    pub fn set_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.counter_set.iter().map(String::as_str).collect();
        for set in self.cores.iter().flat_map(|c| &c.sets) {
            if !names.contains(&set.name()) {
                names.push(set.name());
            }
        }
        names
    }

    /// Events of that set by core, in the order of [`Self::cores`]; empty if a core has no such
    /// set.
    pub(crate) fn lists(&self, set: &str) -> Vec<Vec<&str>> {
        self.cores.iter().map(|c| c.set(set).map_or(Vec::new(), |s| s.events().collect())).collect()
    }
}

fn planned(core: &Core, list: &[&str]) -> Vec<PlannedCounter> {
    let cycles = if list.is_empty() { None } else { Some(CYCLES) };
    let names = cycles.into_iter().chain(list.iter().copied());
    let planned = names.filter_map(|name| {
        let event = core.event(name)?.number;
        Some(PlannedCounter { name: name.to_owned(), event, midr: core.midr? })
    });
    planned.collect()
}

/// Orders each list so that an event that several lists have is at the same place in all of them.
/// `None` if there is no such order. Events of most lists come first; otherwise the order is kept.
pub(crate) fn aligned<'a>(lists: &[Vec<&'a str>]) -> Option<Vec<Vec<&'a str>>> {
    let mut names: Vec<&str> = Vec::new();
    for name in lists.iter().flatten() {
        if !names.contains(name) {
            names.push(name);
        }
    }
    names.sort_by_key(|n| std::cmp::Reverse(lists.iter().filter(|l| l.contains(n)).count()));
    let mut slots: Vec<Vec<Option<&str>>> = lists.iter().map(|l| vec![None; l.len()]).collect();
    place(&names, lists, &mut slots)
        .then(|| slots.into_iter().map(|s| s.into_iter().flatten().collect()).collect())
}

/// Depth first: puts the first name into the lowest slot that is free in all its lists and leaves
/// space for the others.
fn place<'a>(names: &[&'a str], lists: &[Vec<&str>], slots: &mut [Vec<Option<&'a str>>]) -> bool {
    let Some((name, rest)) = names.split_first() else { return true };
    let its: Vec<usize> = (0..lists.len()).filter(|i| lists[*i].contains(name)).collect();
    let room = its.iter().map(|i| slots[*i].len()).min().unwrap_or(0);
    for slot in 0..room {
        if its.iter().any(|i| slots[*i][slot].is_some()) {
            continue;
        }
        its.iter().for_each(|i| slots[*i][slot] = Some(name));
        if place(rest, lists, slots) {
            return true;
        }
        its.iter().for_each(|i| slots[*i][slot] = None);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::aligned;

    #[test]
    fn shared_events_share_a_slot() {
        let lists = [vec!["x", "a", "b"], vec!["b", "y", "a", "z"], vec![]];
        let found = aligned(&lists).expect("there is an order");
        assert_eq!(found, [vec!["a", "b", "x"], vec!["a", "b", "y", "z"], vec![]]);
        // One list alone stays as it is.
        assert_eq!(aligned(&[vec!["c", "a", "b"]]), Some(vec![vec!["c", "a", "b"]]));
    }

    #[test]
    fn goes_back_when_the_lowest_slot_does_not_do() {
        // `a` in slot 0 of the first two would push `b` and `c` into one slot of the third.
        let found = aligned(&[vec!["a", "b"], vec!["a", "c"], vec!["b", "d"], vec!["c", "d"]]);
        let found = found.expect("there is an order");
        let place = |list: usize, name: &str| found[list].iter().position(|n| *n == name);
        assert_eq!(place(0, "a"), place(1, "a"));
        assert_eq!(place(0, "b"), place(2, "b"));
        assert_eq!(place(2, "d"), place(3, "d"));
    }

    #[test]
    fn none_where_there_is_none() {
        // Three lists of two, each pair sharing one: three names, two slots.
        assert_eq!(aligned(&[vec!["a", "b"], vec!["b", "c"], vec!["c", "a"]]), None);
    }
}
