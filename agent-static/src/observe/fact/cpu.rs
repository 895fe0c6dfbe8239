//! The CPUs: type, frequency limits, and time stolen by a hypervisor.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use nix::unistd::{SysconfVar, sysconf};
use profinfer_wire::record::fact::FactScope;

use super::features::{self, value};
use super::read::{self, Open, number, words};
use super::send::{Changing, Sender};

/// Most CPUs whose facts are sent.
const MAX_CPUS: usize = 256;
const CPUS: &str = "/sys/devices/system/cpu";
const CPUINFO: &str = "/proc/cpuinfo";
const STAT: &str = "/proc/stat";
/// Most bytes of /proc/cpuinfo that are searched: 4 KiB per CPU.
const CPUINFO_BYTES: u64 = 4096 * MAX_CPUS as u64;
/// Index of the stolen time in a CPU's line of /proc/stat, and ns in its unit if sysconf does not
/// report it.
const STEAL: usize = 8;
const TICK_NS: u64 = 10_000_000;

/// Values that are sampled while the session runs.
#[derive(Debug)]
pub(super) struct Cpus {
    all: Vec<Cpu>,
    online: Option<Open>,
    stat: Option<Open>,
    tick_ns: u64,
}

#[derive(Debug)]
struct Cpu {
    number: u16,
    online: Changing,
    limit: Changing,
    /// Set for the first CPU of those that share a clock.
    limit_file: Option<Open>,
    /// Index of the first CPU that shares the clock.
    leader: usize,
    steal: Changing,
}

impl Cpus {
    pub(super) fn begin(root: &Path, buffer: &mut [u8], out: &mut Sender<'_>) -> Self {
        let lines = processors(root);
        let features = lines.as_ref().map_err(Clone::clone).and_then(|l| features::of(l));
        out.text_or(FactScope::System, "cpu.features", features);
        let numbers = numbers(root);
        let mut cpus =
            Self { all: Vec::with_capacity(numbers.len()), online: None, stat: None, tick_ns: tick_ns() };
        let online = read::text(root, &format!("{CPUS}/online"));
        let mut leaders: Vec<(std::path::PathBuf, usize)> = Vec::new();
        for cpu in numbers {
            let scope = FactScope::Cpu(cpu);
            let file = |name: &str| format!("{CPUS}/cpu{cpu}/{name}");
            let hertz = |name: &str| khz(root, &file(&format!("cpufreq/{name}")));
            out.text_or(scope, "cpu.core", core(root, cpu, lines.as_deref().unwrap_or_default()));
            out.number_or(scope, "cpu.capacity", read::integer(root, &file("cpu_capacity")));
            out.text_or(scope, "cpu.governor", read::text(root, &file("cpufreq/scaling_governor")));
            out.number_or(scope, "cpu.frequency.max", hertz("cpuinfo_max_freq"));
            out.number_or(scope, "cpu.frequency.min", hertz("scaling_min_freq"));
            let mut new = Cpu {
                number: cpu,
                online: Changing::default(),
                limit: Changing::default(),
                limit_file: None,
                leader: cpus.all.len(),
                steal: Changing::default(),
            };
            new.online.begin(
                out,
                scope,
                "cpu.online",
                online.clone().map(|list| is_in(list.as_bytes(), cpu).into()),
            );
            new.limit.begin(out, scope, "cpu.frequency.limit", hertz("scaling_max_freq"));
            // CPUs that share a clock link to one folder.
            if let Ok(policy) = read::at(root, &file("cpufreq")).canonicalize() {
                match leaders.iter().find(|(p, _)| *p == policy) {
                    Some((_, leader)) => new.leader = *leader,
                    None => {
                        leaders.push((policy, cpus.all.len()));
                        new.limit_file = Open::new(root, &file("cpufreq/scaling_max_freq")).ok();
                    }
                }
            }
            cpus.all.push(new);
        }
        cpus.online = Open::new(root, &format!("{CPUS}/online")).ok();
        cpus.stat = Open::new(root, STAT).ok();
        cpus.sample(buffer, out);
        cpus
    }

    pub(super) fn sample(&mut self, buffer: &mut [u8], out: &mut Sender<'_>) {
        if let Some(Ok(list)) = self.online.as_ref().map(|f| f.read(buffer)) {
            for cpu in &mut self.all {
                let online = Some(is_in(list, cpu.number).into());
                cpu.online.send(out, FactScope::Cpu(cpu.number), "cpu.online", online);
            }
        }
        for leader in 0..self.all.len() {
            let file = self.all.get(leader).and_then(|cpu| cpu.limit_file.as_ref());
            let Some(Ok(text)) = file.map(|f| f.read(buffer)) else { continue };
            let limit = number(text.trim_ascii()).and_then(|khz| khz.checked_mul(1000));
            for cpu in self.all.iter_mut().filter(|cpu| cpu.leader == leader) {
                cpu.limit.send(out, FactScope::Cpu(cpu.number), "cpu.frequency.limit", limit);
            }
        }
        if let Some(Ok(text)) = self.stat.as_ref().map(|f| f.read(buffer)) {
            for line in text.split(|b| *b == b'\n').take_while(|line| line.starts_with(b"cpu")) {
                let Some(cpu) = words(line).next().and_then(|w| number(w.get(3..)?)) else { continue };
                let steal = words(line).nth(STEAL).and_then(number).and_then(|t| t.checked_mul(self.tick_ns));
                if let Some(cpu) = self.all.iter_mut().find(|c| u64::from(c.number) == cpu) {
                    cpu.steal.send(out, FactScope::Cpu(cpu.number), "cpu.steal_ns", steal);
                }
            }
        }
    }
}

/// ns in the unit of /proc/stat.
fn tick_ns() -> u64 {
    let per_s = sysconf(SysconfVar::CLK_TCK).ok().flatten().and_then(|t| u64::try_from(t).ok());
    per_s.and_then(|per_s| 1_000_000_000_u64.checked_div(per_s)).unwrap_or(TICK_NS)
}

fn khz(root: &Path, path: &str) -> Result<u64, String> {
    read::integer(root, path)?.checked_mul(1000).ok_or_else(|| format!("{path} is too large"))
}

/// The CPUs that the system may have.
fn numbers(root: &Path) -> Vec<u16> {
    let list = ["present", "online"].iter().find_map(|name| read::text(root, &format!("{CPUS}/{name}")).ok());
    let list = list.unwrap_or_default();
    ranges(list.as_bytes()).flatten().take(MAX_CPUS).collect()
}

/// The ranges of a CPU list: `0-3,6`.
fn ranges(list: &[u8]) -> impl Iterator<Item = std::ops::RangeInclusive<u16>> {
    list.trim_ascii().split(|b| *b == b',').filter_map(|part| {
        let mut ends =
            part.splitn(2, |b| *b == b'-').map(|end| number(end).and_then(|n| u16::try_from(n).ok()));
        let first = ends.next()??;
        Some(first..=ends.next().unwrap_or(Some(first))?)
    })
}

fn is_in(list: &[u8], cpu: u16) -> bool {
    ranges(list).any(|range| range.contains(&cpu))
}

/// The lines of /proc/cpuinfo.
fn processors(root: &Path) -> Result<Vec<String>, String> {
    let file = File::open(read::at(root, CPUINFO)).map_err(|e| read::why(CPUINFO, &e))?;
    let lines = BufReader::new(file.take(CPUINFO_BYTES)).split(b'\n');
    // The flags of an x86 CPU are kept for the first CPU only: they have 2 KiB each.
    let mut had_flags = false;
    let kept = lines.map_while(Result::ok).filter(|line| {
        let flags = line.starts_with(b"flags") || line.starts_with(b"vmx flags");
        let kept = !flags || !had_flags;
        had_flags |= flags;
        kept
    });
    Ok(kept.map(|line| String::from_utf8_lossy(&line).into_owned()).collect())
}

/// On Arm the main ID register in hexadecimal, elsewhere the model name.
fn core(root: &Path, cpu: u16, lines: &[String]) -> Result<String, String> {
    let path = format!("{CPUS}/cpu{cpu}/regs/identification/midr_el1");
    if let Ok(midr) = read::text(root, &path) {
        let digits = midr.trim_start_matches("0x");
        let midr = u64::from_str_radix(digits, 16).map_err(|_| format!("{path} is not a number in hex"))?;
        return Ok(format!("{midr:#010x}"));
    }
    let own = lines.iter().skip_while(|l| value(l, "processor").and_then(|n| n.parse().ok()) != Some(cpu));
    let own: Vec<&String> = own.take_while(|l| !l.trim().is_empty()).collect();
    let of = |key: &str| own.iter().find_map(|l| value(l, key));
    let hex = |key: &str| u64::from_str_radix(of(key)?.trim_start_matches("0x"), 16).ok();
    if let (Some(implementer), Some(part)) = (hex("CPU implementer"), hex("CPU part")) {
        // The same register, of which the kernel prints the fields. Its architecture is always 15:
        // defined by feature registers.
        let revision = of("CPU revision").and_then(|r| r.parse().ok()).unwrap_or(0);
        let variant = hex("CPU variant").unwrap_or(0);
        let midr = implementer << 24 | variant << 20 | 0xf << 16 | part << 4 | revision;
        return Ok(format!("{midr:#010x}"));
    }
    of("model name").map(str::to_owned).ok_or_else(|| format!("{CPUINFO} has no name for it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists() {
        let all = |list: &str| ranges(list.as_bytes()).flatten().collect::<Vec<_>>();
        assert_eq!(all("0-3,6\n"), [0, 1, 2, 3, 6]);
        assert_eq!(all("7"), [7]);
        for bad in ["", "x", "3-x", "99999"] {
            assert!(all(bad).is_empty(), "{bad}");
        }
        assert!(is_in(b"0,2-4", 3) && !is_in(b"0,2-4", 1));
    }
}
