//! The scheduler: the tasks that used the CPUs that the engine waited for.

use std::io::{self, Write};

use comfy_table::Cell;

use super::style::{Sheet, cut, table, write_table};
use crate::words::{count, duration, one_line};
use profinfer_analysis::sched::{Interference, Sched, StateTimes};

/// Maximum number of rows; summary.json has all.
const SHOWN: usize = 5;
const NAME: usize = 34;

pub(super) fn write(sched: &Sched, missed: Option<u64>, out: &mut Sheet<'_>) -> io::Result<()> {
    if !sched.recorded || sched.threads.is_empty() {
        return Ok(());
    }
    let sum =
        |of: fn(&StateTimes) -> u64| sched.threads.iter().map(|t| of(&t.decode)).fold(0, u64::saturating_add);
    let line = format!(
        "threads in decode: {} on a CPU, {} preempted, {} woken and waiting, {} asleep, {} blocked, {} unknown",
        duration(sum(|t| t.running_ns)),
        duration(sum(|t| t.preempted_ns)),
        duration(sum(|t| t.woken_ns)),
        duration(sum(|t| t.sleeping_ns.saturating_add(t.stopped_ns))),
        duration(sum(|t| t.blocked_ns)),
        duration(sum(|t| t.unknown_ns)),
    );
    writeln!(out)?;
    out.sentence(&line)?;
    if let Some(missed @ 1..) = missed {
        out.sentence(&format!(
            "{} scheduler events are missing: the kernel skipped the agent's program, because another BPF program or a map \
             was in use on that CPU",
            count(missed)
        ))?;
    }
    if sched.interference.is_empty() {
        return Ok(());
    }
    let mut t = table(&["used a CPU the engine waited for", "turns", "time", "in decode", "CPUs"]);
    for row in sched.interference.iter().take(SHOWN) {
        let cpus: Vec<String> = row.cpus.iter().map(|c| c.cpu.to_string()).collect();
        t.add_row(vec![
            Cell::new(cut(&one_line(&who(row)), NAME)),
            Cell::new(count(row.turns)),
            Cell::new(duration(row.time_ns)),
            Cell::new(duration(row.decode_ns)),
            Cell::new(cut(&cpus.join(" "), 16)),
        ]);
    }
    write_table(&mut t, out)?;
    match sched.interference.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        n => writeln!(out, "and {n} other tasks"),
    }
}

fn who(row: &Interference) -> String {
    match (row.idle, row.engine) {
        (true, _) => "nothing (the CPU was idle)".to_owned(),
        (_, true) => format!("{} {}, of the engine", row.tid, row.name),
        _ => format!("{} {}", row.tid, row.name),
    }
}
