//! Memory of a control group: limit, usage, how long its tasks waited for memory, and how many the kernel killed
//! because it ran out.

use profinfer_wire::record::fact::FactScope;

use super::super::read::{Open, field, number, words};
use super::super::send::{Changing, Sender};
use super::find::Group;
use super::{limit, send_limit};

/// ns in the unit of the kernel's pressure values.
const MICROSECOND_NS: u64 = 1000;
/// Values that are sampled: the fact, the file of version 1 (none: version 2 only), the file of
/// version 2.
const COUNTS: [(&str, Option<&str>, &str); 4] = [
    ("cgroup.memory.used", Some("/memory.usage_in_bytes"), "/memory.current"),
    ("cgroup.memory.high_events", None, "/memory.events"),
    ("cgroup.memory.stalled_ns", None, "/memory.pressure"),
    ("cgroup.memory.oom_kills", Some("/memory.oom_control"), "/memory.events"),
];

/// Names of the facts that are sampled.
pub(super) const NAMES: [&str; COUNTS.len()] = [COUNTS[0].0, COUNTS[1].0, COUNTS[2].0, COUNTS[3].0];

/// The counts of the group with the tightest `memory.high`, or else of that with the tightest
/// limit, or else of the process's own group.
#[derive(Debug)]
pub(super) struct Memory([(Option<Open>, Changing); COUNTS.len()]);

impl Memory {
    pub(super) fn begin(
        group: Result<Group, String>,
        scope: FactScope,
        buffer: &mut [u8],
        out: &mut Sender<'_>,
    ) -> Self {
        let limits = group.as_ref().map_err(Clone::clone);
        let high = limits.clone().and_then(limit::memory_high);
        let limit = limits.and_then(limit::memory);
        for (name, limit) in [("cgroup.memory.limit", &limit), ("cgroup.memory.high", &high)] {
            send_limit(scope, name, limit.as_ref().map(|limit| limit.map(|l| l.bytes)), out);
        }
        let level = |limit: Result<Option<limit::Memory>, String>| limit.ok().flatten().map(|l| l.level);
        let level = level(high).or(level(limit)).unwrap_or(0);
        Self(std::array::from_fn(|i| {
            let (name, one, two) = COUNTS[i];
            let group = group.as_ref().map_err(Clone::clone);
            let opened = group.and_then(|group| {
                let file = if group.version == 1 { one } else { Some(two) };
                let file = file.ok_or_else(|| "control groups of version 1 do not count it".to_owned())?;
                let folder = group.levels.get(level);
                Open::new(folder.ok_or_else(|| "the control group has no folder".to_owned())?, file)
            });
            let value = opened.as_ref().map_err(Clone::clone).and_then(|file| {
                let text = file.read(buffer).map_err(|e| format!("reading {two}: {e}"))?;
                of(i, text).ok_or_else(|| format!("{two} does not have it"))
            });
            let mut sent = Changing::default();
            sent.begin(out, scope, name, value);
            (opened.ok(), sent)
        }))
    }

    pub(super) fn sample(&mut self, scope: FactScope, buffer: &mut [u8], out: &mut Sender<'_>) {
        for (i, (open, sent)) in self.0.iter_mut().enumerate() {
            if let Some(Ok(text)) = open.as_ref().map(|file| file.read(buffer)) {
                sent.send(out, scope, COUNTS[i].0, of(i, text));
            }
        }
    }
}

/// The value of a row of [`COUNTS`] in its file.
fn of(row: usize, text: &[u8]) -> Option<u64> {
    match row {
        0 => number(text.trim_ascii()),
        1 => field(text, "high ").and_then(number),
        3 => field(text, "oom_kill ").and_then(number),
        // full avg10=0.00 avg60=0.00 avg300=0.00 total=1234
        _ => words(field(text, "full ")?)
            .find_map(|word| word.strip_prefix(b"total="))
            .and_then(number)?
            .checked_mul(MICROSECOND_NS),
    }
}
