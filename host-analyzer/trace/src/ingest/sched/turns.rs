//! The tasks on a CPU while threads of the engine waited for it.
//!
//! While such a thread waits, the agent records every switch on its CPU. Between two switches, the
//! task that the first one switched to was on it. Before the first switch, it was the task that the
//! switch took off.

use std::collections::BTreeMap;

use profinfer_wire::sched::{Happened, SchedEvent, Who};

use super::states::Stretch;
use crate::model::ThreadState;

/// A turn of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) cpu: u16,
    pub(super) start_ns: u64,
    pub(super) end_ns: u64,
    pub(super) who: Who,
}

#[derive(Debug, Clone, Copy)]
struct Switch {
    at_ns: u64,
    prev: Who,
    next: Who,
}

/// The turns by CPU, then start. `events` are in order of time.
pub(super) fn turns(events: &[SchedEvent], stretches: &[Stretch]) -> Vec<Turn> {
    let mut switches: BTreeMap<u16, Vec<Switch>> = BTreeMap::new();
    for event in events {
        if let Happened::Switch { cpu, prev, next, .. } = event.happened {
            switches.entry(cpu).or_default().push(Switch { at_ns: event.at_ns, prev, next });
        }
    }
    let mut waits: BTreeMap<u16, Vec<(u64, u64)>> = BTreeMap::new();
    for s in stretches.iter().filter(|s| matches!(s.state, ThreadState::Preempted | ThreadState::Woken)) {
        waits.entry(s.cpu).or_default().push((s.start_ns, s.end_ns));
    }
    let mut turns = Vec::new();
    for (cpu, mut waits) in waits {
        waits.sort_unstable();
        let switches = switches.get(&cpu).map_or(&[][..], |s| s);
        let mut wanted: Option<(u64, u64)> = None;
        for (from, to) in waits {
            match &mut wanted {
                Some(wanted) if from <= wanted.1 => wanted.1 = wanted.1.max(to),
                _ => {
                    if let Some(wanted) = wanted.replace((from, to)) {
                        turns_of_wait(cpu, wanted, switches, &mut turns);
                    }
                }
            }
        }
        if let Some(wanted) = wanted {
            turns_of_wait(cpu, wanted, switches, &mut turns);
        }
    }
    turns
}

/// The turns in an interval during which a CPU was wanted all the time.
fn turns_of_wait(cpu: u16, (from, to): (u64, u64), switches: &[Switch], turns: &mut Vec<Turn>) {
    let first = switches.partition_point(|s| s.at_ns < from);
    let mut add = |start_ns: u64, end_ns: u64, who: Who| match turns.last_mut() {
        Some(last) if (last.cpu, last.end_ns, last.who) == (cpu, start_ns, who) => last.end_ns = end_ns,
        _ if end_ns > start_ns => turns.push(Turn { cpu, start_ns, end_ns, who }),
        _ => {}
    };
    // Since when a task is known to be on it.
    let mut since: Option<(u64, Who)> = None;
    for switch in switches[first..].iter().take_while(|s| s.at_ns <= to) {
        match since {
            None => add(from, switch.at_ns, switch.prev),
            Some((start, who)) if who == switch.prev => add(start, switch.at_ns, who),
            // A switch is missing.
            Some(_) => {}
        }
        since = Some((switch.at_ns, switch.next));
    }
    if let Some((start, who)) = since {
        add(start, to, who);
    }
}
