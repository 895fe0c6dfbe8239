//! The conditions of a session, for people.

use super::{counted, duration, one_line, quantity, size};
use profinfer_analysis::fact::Conditions;
use profinfer_analysis::fact::process::{Cgroup, Process};
use profinfer_analysis::fact::reading::Limit;
use profinfer_analysis::fact::system::{Cpu, System};
use profinfer_analysis::sched::OtherPrograms;

/// Maximum number of environment variables shown; the others are in summary.json.
const SHOWN: usize = 6;

/// Other programs that are named, and the CPU use from which on they are.
const NAMED_PROGRAMS: usize = 3;
const NAMED_CPUS: f64 = 0.01;

/// `other programs used 0.98 of 2 CPUs (python3 0.95, rustc 0.03)`
#[must_use]
pub fn others(others: &OtherPrograms, cpus: u16, duration_ns: u64) -> String {
    let used = |ns: u64| ns as f64 / duration_ns.max(1) as f64;
    let programs = others.programs.iter().take(NAMED_PROGRAMS).filter(|p| used(p.busy_ns) >= NAMED_CPUS);
    let named: Vec<String> =
        programs.map(|p| format!("{} {:.2}", one_line(&p.program), used(p.busy_ns))).collect();
    let named = if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
    format!("other programs used {:.2} of {}{named}", used(others.busy_ns), counted(u64::from(cpus), "CPU"))
}

/// The conditions of the system: short parts for one line, those that matter most first.
#[must_use]
pub fn system(conditions: &Conditions) -> Vec<String> {
    let mut parts = Vec::new();
    let clocks = |of: fn(&Cpu) -> Option<String>| {
        let mut of_cpus: Vec<(String, Vec<u16>)> = Vec::new();
        for (text, cpu) in conditions.cpus.iter().filter_map(|c| Some((of(c)?, c.cpu))) {
            match of_cpus.iter_mut().find(|(known, _)| *known == text) {
                Some((_, cpus)) => cpus.push(cpu),
                None => of_cpus.push((text, vec![cpu])),
            }
        }
        of_cpus
    };
    let governors = clocks(|c| c.governor.value().cloned());
    match &*governors {
        [(one, _)] => parts.push(format!("governor {one}")),
        several => {
            parts.extend(several.iter().map(|(g, cpus)| format!("governor {g} on CPUs {}", list(cpus))))
        }
    }
    let limited = clocks(|c| {
        let (limit, max) = (c.frequency_limit_hz.value()?, c.frequency_max_hz.value()?);
        let hertz = |hz: u64| quantity(hz as f64, "hertz");
        (c.limited()?).then(|| format!("limited to {} of {}", hertz(limit.min), hertz(*max)))
    });
    parts.extend(limited.iter().map(|(text, cpus)| format!("CPUs {} {text}", list(cpus))));
    let offline: Vec<u16> =
        conditions.cpus.iter().filter(|c| c.online.value() == Some(&false)).map(|c| c.cpu).collect();
    if !offline.is_empty() {
        parts.push(format!("CPUs {} offline", list(&offline)));
    }
    let stolen = conditions.cpus.iter().filter_map(|c| c.steal_ns.value());
    match stolen.fold(0_u64, |sum, rise| sum.saturating_add(rise.whole)) {
        0 => {}
        ns => parts.push(format!("{} of CPU time taken by the hypervisor", duration(ns))),
    }
    if let Some(load) = conditions.system.load_average_milli.value() {
        parts.push(format!("load average before {:.2}", *load as f64 / 1000.0));
    }
    parts.extend(memory(&conditions.system));
    parts
}

fn memory(system: &System) -> Vec<String> {
    let mut parts = Vec::new();
    if let (Some(available), Some(total)) =
        (system.memory_available_bytes.value(), system.memory_total_bytes.value())
    {
        parts.push(format!("at least {} of {} memory available", size(available.min), size(*total)));
    }
    if let Some(clock) = system.ddr_frequency_hz.value() {
        let max = system.ddr_frequency_max_hz.value().map_or(0, |max| *max);
        let hertz = |hz: u64| quantity(hz as f64, "hertz");
        let of = if max > 0 { format!(" of {}", hertz(max)) } else { String::new() };
        parts.push(format!("memory clock {}{of}", hertz(clock.last)));
    }
    if let Some(policy) = system.hugepages_policy.value() {
        parts.push(format!("huge pages {policy}"));
    }
    if let Some(model) = system.preemption.value() {
        parts.push(format!("preemption {model}"));
    }
    if let Some(options) = system.kernel_options.value().filter(|o| !o.is_empty()) {
        parts.push(format!("kernel started with {}", options.join(" ")));
    }
    parts
}

/// The conditions of a process: short parts for one line.
#[must_use]
pub fn process(p: &Process) -> Vec<String> {
    let mut parts = Vec::new();
    parts.extend(p.affinity.value().map(|cpus| format!("may run on CPUs {}", list(cpus))));
    parts.extend(quota(&p.cgroup));
    if let Some(Limit::At(clamp)) = p.cgroup.uclamp_max.value() {
        parts.push(format!("cpu.uclamp.max is {:.2} %", *clamp as f64 / 100.0));
    }
    if let Some(Limit::At(bytes)) = p.cgroup.memory_limit_bytes.value() {
        parts.push(format!("memory limited to {}", size(*bytes)));
    }
    if let Some(Limit::At(bytes)) = p.cgroup.memory_high_bytes.value() {
        parts.push(format!("memory.high is {}", size(*bytes)));
    }
    if let (Some(own), Some(file)) = (p.rss_anonymous_bytes.value(), p.rss_file_bytes.value()) {
        parts.push(format!("resident: {} anonymous, {} of files", size(own.max), size(file.max)));
    }
    if let Some(faults) = p.major_faults.value().filter(|f| f.whole > 0) {
        let decode = faults.decode.map_or(String::new(), |n| format!(", {n} in decode"));
        parts.push(format!("{} major page faults{decode}", faults.whole));
    }
    parts.extend(p.nice.value().filter(|nice| **nice != 0).map(|nice| format!("nice {nice}")));
    let variables = p.environment.iter().map(|v| match v.value.value() {
        Some(value) => format!("{}={value}", v.name),
        None => format!("{} is set", v.name),
    });
    parts.extend(variables.take(SHOWN));
    if let n @ 1.. = p.environment.len().saturating_sub(SHOWN) {
        parts.push(format!("{n} other variables"));
    }
    parts
}

fn quota(group: &Cgroup) -> Option<String> {
    let Limit::At(quota) = group.quota.value()? else { return None };
    let cpus = quota.milli_cpus as f64 / 1000.0;
    let throttled = match (group.throttled_periods.value(), group.periods.value(), group.throttled_ns.value())
    {
        (Some(throttled), Some(periods), Some(ns)) if throttled.whole > 0 => {
            format!(
                ", throttled in {} of {} periods for {}",
                throttled.whole,
                periods.whole,
                duration(ns.whole)
            )
        }
        _ => String::new(),
    };
    Some(format!("quota of {cpus:.2} CPUs{throttled}"))
}

/// `0-3,6`.
#[must_use]
pub fn list(cpus: &[u16]) -> String {
    let mut ranges: Vec<(u16, u16)> = Vec::new();
    for cpu in cpus {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*cpu) => *last = *cpu,
            _ => ranges.push((*cpu, *cpu)),
        }
    }
    let text = |(first, last): &(u16, u16)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    ranges.iter().map(text).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn cpus_in_ranges() {
        assert_eq!(list(&[0, 1, 2, 3, 6]), "0-3,6");
        assert_eq!(list(&[7]), "7");
        assert_eq!(list(&[]), "");
        assert_eq!(list(&[u16::MAX, 0]), "65535,0");
    }
}
