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
    let (engine, others): (Vec<_>, Vec<_>) = sched.interference.iter().partition(|row| row.engine);
    if others.is_empty() {
        return Ok(());
    }
    let mut t = table(&["ran instead of the engine", "times", "time", "in decode", "CPUs"]);
    for row in others.iter().take(SHOWN) {
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
    if let further @ 1.. = others.len().saturating_sub(SHOWN) {
        writeln!(out, "and {further} other tasks")?;
    }
    match engine.iter().map(|row| row.time_ns).fold(0, u64::saturating_add) {
        0 => Ok(()),
        ns => out.sentence(&format!(
            "threads of the engine had CPUs that others of its threads waited for: {}",
            duration(ns)
        )),
    }
}

fn who(row: &Interference) -> String {
    match (row.idle, row.pid) {
        (true, _) => "nothing (the CPU was idle)".to_owned(),
        (_, 0) => format!("{} (thread {})", row.program(), row.tid),
        (_, pid) => format!("{} (pid {pid})", row.program()),
    }
}
