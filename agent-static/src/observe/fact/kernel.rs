//! Command line and configuration of the kernel.

use std::path::Path;

use nix::unistd::{SysconfVar, sysconf};
use profinfer_wire::record::fact::FactScope::System;

use super::preemption::preemption;
use super::read;
use super::send::Sender;
use crate::sys::private_stack::private_stacks;

/// Kernel command line options that affect the speed of an engine. No others are sent, because the
/// line may contain secrets.
const OPTIONS: [&str; 25] = [
    // Memory placement. Raspberry Pi 5: `numa=fake=8` spreads pages over the memory banks.
    "numa",
    "numa_balancing",
    "numa_policy",
    "movablecore",
    "kernelcore",
    "cma",
    "mem",
    "SDRAM_BANKLOW",
    "transparent_hugepage",
    "hugepages",
    "hugepagesz",
    "default_hugepagesz",
    // CPU assignment.
    "isolcpus",
    "nohz",
    "nohz_full",
    "rcu_nocbs",
    "irqaffinity",
    "maxcpus",
    "nr_cpus",
    "mitigations",
    // Control groups.
    "cgroup_enable",
    "cgroup_disable",
    "cgroup_no_v1",
    "systemd.unified_cgroup_hierarchy",
    // The initial governor of the CPUs.
    "cpufreq.default_governor",
];
const MAX_OPTION: usize = 200;

pub(super) fn send(root: &Path, out: &mut Sender<'_>) {
    let line = read::text(root, "/proc/cmdline");
    out.text_or(System, "kernel.cmdline", line.map(|line| options(&line)));
    out.text_or(System, "kernel.preemption", preemption(root));
    out.number_or(System, "kernel.private_stacks", Ok(private_stacks().into()));
    out.number_or(System, "page.size", page_size());
    out.number_or(System, "numa.nodes", numa_nodes(root));
    out.text_or(System, "hugepages.policy", hugepages(root));
    out.text_or(System, "hypervisor", hypervisor(root));
    out.number_or(System, "load.average", load_average(root));
}

fn page_size() -> Result<u64, String> {
    let size = sysconf(SysconfVar::PAGE_SIZE).ok().flatten();
    size.and_then(|s| u64::try_from(s).ok()).ok_or_else(|| "sysconf does not report it".to_owned())
}

/// The known options, separated by spaces.
fn options(line: &str) -> String {
    let (mut found, mut quoted) = (Vec::new(), false);
    // A quoted value may contain spaces, which belong to its option.
    let parts = line.split(|c: char| {
        quoted ^= c == '"';
        c.is_whitespace() && !quoted
    });
    // Arguments after `--` are for init.
    for option in parts.take_while(|option| *option != "--") {
        let name = option.split('=').next().unwrap_or_default();
        // The kernel treats `-` and `_` as equal.
        let known = OPTIONS.iter().any(|known| name.replace('-', "_") == *known);
        if known && option.len() <= MAX_OPTION {
            found.push(option);
        }
    }
    found.join(" ")
}

fn numa_nodes(root: &Path) -> Result<u64, String> {
    const NODES: &str = "/sys/devices/system/node";
    let entries = std::fs::read_dir(read::at(root, NODES)).map_err(|e| read::why(NODES, &e))?;
    let names = entries.flatten().filter_map(|e| e.file_name().into_string().ok());
    let nodes =
        names.filter(|n| n.strip_prefix("node").is_some_and(|n| read::number(n.as_bytes()).is_some()));
    Ok(nodes.count() as u64)
}

/// The word in brackets of `always [madvise] never`.
fn hugepages(root: &Path) -> Result<String, String> {
    const ENABLED: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
    let text = read::text(root, ENABLED)?;
    let word = text.split_whitespace().find_map(|w| w.strip_prefix('[')?.strip_suffix(']'));
    word.map(str::to_owned).ok_or_else(|| format!("{ENABLED} names no policy"))
}

/// Load average of the last minute, thousandths.
fn load_average(root: &Path) -> Result<u64, String> {
    const LOADAVG: &str = "/proc/loadavg";
    thousandths(&read::text(root, LOADAVG)?).ok_or_else(|| format!("{LOADAVG} has no load average"))
}

/// The number at the beginning of a text, thousandths.
fn thousandths(text: &str) -> Option<u64> {
    let (whole, part) = text.split_whitespace().next()?.split_once('.')?;
    let part = format!("{part:0<3}");
    let (whole, part) = (whole.parse::<u64>().ok()?, part.get(..3)?.parse::<u64>().ok()?);
    whole.checked_mul(1000)?.checked_add(part)
}

/// Name of the hypervisor, if the kernel reports it.
fn hypervisor(root: &Path) -> Result<String, String> {
    for path in ["/sys/hypervisor/type", "/proc/device-tree/hypervisor/compatible"] {
        if let Ok(name) = read::text(root, path)
            && !name.is_empty()
        {
            return Ok(name);
        }
    }
    let cpu = read::text(root, "/proc/cpuinfo")?;
    let flags = read::field(cpu.as_bytes(), "flags").unwrap_or_default();
    if !read::words(flags).any(|flag| flag == b"hypervisor") {
        return Err("the kernel reports none".to_owned());
    }
    let vendor = ["sys_vendor", "product_name"].map(|f| read::text(root, &format!("/sys/class/dmi/id/{f}")));
    let vendor: Vec<String> = vendor.into_iter().flatten().filter(|t| !t.is_empty()).collect();
    Ok(if vendor.is_empty() { "not named".to_owned() } else { vendor.join(" ") })
}

#[cfg(test)]
mod tests {
    use super::{options, thousandths};

    #[test]
    fn only_known_options_are_sent() {
        let line = "BOOT_IMAGE=/boot/k root=UUID=1 numa=fake=8 isolcpus=2,3 token=geheim nohz-full=3 quiet";
        assert_eq!(options(line), "numa=fake=8 isolcpus=2,3 nohz-full=3");
        // Excludes text inside another option's quotes, arguments for init, and options with the
        // same beginning.
        let line = "cloud=\"a numa=geheim b\" numactl=1 memtest=1 cma=64M -- numa=geheim";
        assert_eq!(options(line), "cma=64M");
        assert_eq!(options(&format!("numa={}", "x".repeat(300))), "");
        assert_eq!(options(""), "");
    }

    #[test]
    fn the_load_average_has_two_decimals() {
        assert_eq!(thousandths("12.05 0.38 0.20 2/341 7010"), Some(12_050));
        assert_eq!(["", "1", "1.x", ".5", "99999999999999999999.00"].map(thousandths), [None; 5]);
    }
}
