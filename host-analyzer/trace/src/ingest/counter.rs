//! Counters: maps each slot of the stream to the counter on each CPU.

use profinfer_wire::counts::Counted;
use profinfer_wire::record::counter as wire;

use crate::model::counter::NOT_COUNTED;
use crate::model::{Absence, Counter, Counts, Session};

pub(super) fn counter(session: &mut Session, r: &wire::Counter<'_>) {
    let counter = Counter {
        name: r.name.to_owned(),
        event: r.event,
        pmu: r.pmu.to_owned(),
        cpus: cpu_list(r.cpus),
        slot: r.slot,
        attached: r.attached,
        note: r.note.to_owned(),
    };
    let same = |c: &&mut Counter| (&c.name, &c.pmu, &c.cpus) == (&counter.name, &counter.pmu, &counter.cpus);
    match session.counters.iter_mut().find(same) {
        Some(old) => *old = counter,
        None => session.counters.push(counter),
    }
}

/// Parses `0-3,6`.
fn cpu_list(text: &str) -> Vec<u16> {
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(from), Ok(to)) = (from.parse::<u16>(), to.parse::<u16>()) {
            cpus.extend(from..=to);
        }
    }
    cpus.sort_unstable();
    cpus.dedup();
    cpus
}

/// Converts the wire's reasons for missing counts to the model's. Unknown bits are left out.
fn absences(why: u64) -> u8 {
    const KNOWN: [(u64, Absence); 4] = [
        (wire::why::UNREAD, Absence::Unread),
        (wire::why::MIXED, Absence::Mixed),
        (wire::why::MULTIPLEXED, Absence::Multiplexed),
        (wire::why::TORN, Absence::Torn),
    ];
    KNOWN.iter().filter(|(bit, _)| why & bit != 0).fold(0, |bits, (_, reason)| bits | reason.bit())
}

/// The column of each slot, by CPU.
#[derive(Debug, Default)]
pub(super) struct Columns {
    by_cpu: Vec<[Option<usize>; wire::SLOTS]>,
}

impl Columns {
    /// The columns of a session. Their names are appended to `counts`.
    pub(super) fn compute(session: &Session, counts: &mut Counts) -> Self {
        let mut columns = Self::default();
        let mut attached: Vec<&Counter> = session.counters.iter().filter(|c| c.attached).collect();
        attached.sort_by_key(|c| c.slot);
        for counter in attached {
            let slot = usize::from(counter.slot);
            if slot >= wire::SLOTS {
                continue;
            }
            let column = counts.names.iter().position(|n| *n == counter.name).unwrap_or_else(|| {
                counts.names.push(counter.name.clone());
                counts.values.push(Vec::new());
                counts.names.len() - 1
            });
            for cpu in &counter.cpus {
                let cpu = usize::from(*cpu);
                if columns.by_cpu.len() <= cpu {
                    columns.by_cpu.resize(cpu + 1, [None; wire::SLOTS]);
                }
                columns.by_cpu[cpu][slot] = Some(column);
            }
        }
        columns
    }

    /// Appends a row: the counter values of a span that ended on `cpu`; `None` when it came
    /// without.
    pub(super) fn push(&self, counts: &mut Counts, cpu: Option<u16>, counted: Option<&Counted>) {
        if counts.is_empty() {
            return;
        }
        for column in &mut counts.values {
            column.push(NOT_COUNTED);
        }
        counts.switches.push(counted.map_or(0, |c| c.switches));
        counts.why.push(counted.map_or(0, |c| absences(c.why)));
        let Some(slots) = cpu.and_then(|cpu| self.by_cpu.get(usize::from(cpu))) else { return };
        for (column, value) in slots.iter().zip(counted.iter().flat_map(|c| c.values)) {
            if let (Some(column), Some(value)) = (column, value)
                && let Some(last) = counts.values[*column].last_mut()
            {
                *last = value;
            }
        }
    }
}
