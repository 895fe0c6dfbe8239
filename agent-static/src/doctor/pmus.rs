//! The PMUs of the cores: their events, how many counters are free, and errors.

use std::path::Path;

use super::Row;
use crate::observe::counter::pmu::{self, Pmu};
use crate::sys::perf;

/// The cycle event, on Arm and on x86.
const CYCLES: [&str; 2] = ["cpu_cycles", "cpu-cycles"];
/// Upper limit; no core has more counters.
const MOST: usize = 32;

pub(super) fn rows(sysfs: &Path) -> Vec<Row> {
    let online = match pmu::online(sysfs) {
        Ok(online) => online,
        Err(why) => return vec![Row::no("CPUs", why)],
    };
    let all = pmu::all(sysfs);
    let mut rows: Vec<Row> = all.iter().filter(|p| of_cores(p)).map(|p| row(sysfs, p, &online)).collect();
    if rows.is_empty() {
        rows.push(Row::no(
            "hardware",
            "the kernel has no core PMU: page faults can be counted, hardware events cannot",
        ));
    }
    let without: Vec<u32> =
        online.iter().copied().filter(|c| !all.iter().any(|p| of_cores(p) && p.cpus.contains(c))).collect();
    if rows.len() > 1 && !without.is_empty() {
        rows.push(Row::no("not counted on", format!("CPUs {}", pmu::list_of(&without))));
    }
    let fault = perf::Event { pmu_type: perf::SOFTWARE, config: perf::MINOR_FAULTS, user_only: true };
    rows.push(match perf::open(fault, online.first().copied().unwrap_or(0), None) {
        Ok(_) => Row::yes("page faults", "minor-faults, major-faults"),
        Err(e) => Row::no("page faults", e.to_string()),
    });
    rows
}

/// Bus and memory-controller PMUs also name a CPU, but they have no cycle event.
fn of_cores(pmu: &Pmu) -> bool {
    CYCLES.iter().any(|c| pmu.events.contains_key(*c))
}

fn row(sysfs: &Path, pmu: &Pmu, online: &[u32]) -> Row {
    let cpu = pmu.cpus.iter().copied().find(|c| online.contains(c));
    let Some(cpu) = cpu else { return Row::no(&pmu.name, "none of its CPUs is online") };
    let midr = pmu::midr(sysfs, cpu).map_or_else(String::new, |m| format!(", MIDR {m:#010x}"));
    let what = format!("{} events on CPUs {}{midr}", pmu.events.len(), pmu::list_of(&pmu.cpus));
    match free(pmu, cpu) {
        Ok(0) => Row::no(&pmu.name, format!("{what}; no counter is free except the cycle counter")),
        Ok(n) => Row::yes(&pmu.name, format!("{what}; {n} counters free besides the cycle counter")),
        Err(e) => Row::no(&pmu.name, format!("{what}; {e}")),
    }
}

/// How many events besides cycles can count at the same time on `cpu`. A pinned event without a
/// free counter fails when it is read.
fn free(pmu: &Pmu, cpu: u32) -> std::io::Result<usize> {
    // Cycles have a dedicated counter, so only the other counters can be too few.
    let others = pmu.events.iter().filter(|(name, _)| !CYCLES.contains(&name.as_str()));
    let Some(config) = others.map(|(_, config)| *config).next() else { return Ok(0) };
    let event = perf::Event { pmu_type: pmu.pmu_type, config, user_only: true };
    let mut open = Vec::new();
    while open.len() < MOST {
        let fd = match perf::open_pinned(event, cpu) {
            Ok(fd) => fd,
            Err(e) if open.is_empty() => return Err(e),
            Err(_) => break,
        };
        if !perf::counts(&fd) {
            break;
        }
        open.push(fd);
    }
    Ok(open.len())
}
