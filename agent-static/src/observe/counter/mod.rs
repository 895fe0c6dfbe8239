//! Counters: turns the plan's requests into events that count on every CPU, with a reason for each
//! that does not count.
//!
//! A wrong number is worse than none. Some kernels and emulators open unknown events without an
//! error and count 0, so an event that the PMU does not advertise is refused by name.

pub mod pmu;

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use profinfer_wire::record::control::ANY_CORE;
use profinfer_wire::record::counter::SLOTS;

use crate::bpf::CounterSlots;
use crate::bpf::layout::types::limit;
use crate::request::plan::CounterRequest;
use crate::sys::perf;
use pmu::Pmu;

/// Most hardware counters that are read together: the cycle counter and the six other counters of
/// Arm's cores.
pub const HARDWARE_SLOTS: usize = 7;
/// Software events that can be counted.
pub const SOFTWARE: [&str; 2] = ["minor-faults", "major-faults"];
/// Number of CPUs that the BPF programs support.
pub const CPUS: u32 = limit::COUNTER_CPUS.0;

/// One counter on one core type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counter {
    /// Index among the values.
    pub slot: usize,
    pub name: String,
    pub event: u32,
    /// PMU, or `software`.
    pub pmu: String,
    /// CPUs on which it counts.
    pub cpus: Vec<u32>,
    /// Why it does not count; empty if it does.
    pub refused: String,
}

#[derive(Debug, Default)]
pub struct Counters {
    /// All counters, whether they count or not.
    pub all: Vec<Counter>,
    /// Hardware slots in use, which come first.
    pub hardware: usize,
    pub slots: usize,
    /// Core type of each CPU, from 1; absent if no hardware counter counts there.
    pub cores: BTreeMap<u32, u32>,
    /// Open events: slot, CPU, descriptor. Closed when dropped.
    pub open: Vec<(usize, u32, OwnedFd)>,
}

impl Counters {
    /// Requests by name only, for every core type. The PMU provides the event numbers.
    #[must_use]
    pub fn by_name(names: &[String]) -> Vec<CounterRequest> {
        let midr = |name: &String| if SOFTWARE.contains(&name.as_str()) { 0 } else { ANY_CORE };
        names.iter().map(|n| CounterRequest { name: n.clone(), event: 0, midr: midr(n) }).collect()
    }

    /// Opens the counters that can be opened. `sysfs` is `/sys`.
    #[must_use]
    pub fn open(requests: &[CounterRequest], sysfs: &Path) -> Self {
        let mut counters = Self::default();
        if requests.is_empty() {
            return counters;
        }
        let mut online = match pmu::online(sysfs) {
            Ok(online) => online,
            Err(why) => {
                requests.iter().for_each(|r| counters.refuse(0, r, "", &[], &why));
                return counters;
            }
        };
        online.retain(|cpu| *cpu < CPUS);
        counters.hardware(requests, sysfs, &online);
        counters.software(requests, &online);
        counters
    }

    fn hardware(&mut self, requests: &[CounterRequest], sysfs: &Path, online: &[u32]) {
        let pmus = pmu::all(sysfs);
        let midrs: BTreeMap<u32, u32> =
            online.iter().filter_map(|cpu| Some((*cpu, pmu::midr(sysfs, *cpu)?))).collect();
        let mut by_core: BTreeMap<u32, Vec<&CounterRequest>> = BTreeMap::new();
        for request in requests.iter().filter(|w| w.midr != 0) {
            let mut types: Vec<u32> = midrs.values().copied().collect();
            types.sort_unstable();
            types.dedup();
            // Without any known core type, the request stays, so that it gets a reason.
            if request.midr != ANY_CORE || types.is_empty() {
                types = vec![request.midr & pmu::MIDR_MASK];
            }
            for midr in types {
                let requests = by_core.entry(midr).or_default();
                if !requests.iter().any(|w| w.name == request.name) {
                    requests.push(request);
                }
            }
        }
        let mut core = 0;
        for (midr, requests) in by_core {
            let mut cpus: Vec<u32> = online.iter().copied().filter(|c| midrs.get(c) == Some(&midr)).collect();
            if cpus.is_empty() {
                let none = "no online CPU has this core type";
                let why = if midrs.is_empty() {
                    "this is not an Arm machine, or it hides the MIDR of its cores"
                } else {
                    none
                };
                requests.iter().for_each(|w| self.refuse(0, w, "", &[], why));
            }
            // One PMU may cover cores of several types (`armv8_pmuv3` for all), and cores of one
            // type may have several PMUs (clusters of one kind).
            for pmu in &pmus {
                let covered: Vec<u32> = cpus.extract_if(.., |c| pmu.cpus.contains(c)).collect();
                if !covered.is_empty() {
                    core += 1;
                    self.core(core, &requests, pmu, &covered);
                }
            }
            if !cpus.is_empty() {
                requests
                    .iter()
                    .for_each(|w| self.refuse(0, w, "", &cpus, "the kernel has no PMU for these CPUs"));
            }
        }
    }

    /// Opens one group of counters on each CPU of one type.
    fn core(&mut self, core: u32, requests: &[&CounterRequest], pmu: &Pmu, cpus: &[u32]) {
        let mut leaders: BTreeMap<u32, OwnedFd> = BTreeMap::new();
        let mut slot = 0;
        for request in requests {
            let advertised = pmu.events.get(&request.name.to_ascii_lowercase());
            if let Some(why) = unsuitable(request, pmu, slot) {
                self.refuse(slot, request, &pmu.name, cpus, &why);
                continue;
            }
            let config = advertised.copied().unwrap_or(0);
            let event = perf::Event { pmu_type: pmu.pmu_type, config, user_only: true };
            let opened: io::Result<Vec<(u32, OwnedFd)>> = cpus
                .iter()
                .map(|cpu| Ok((*cpu, perf::open(event, *cpu, leaders.get(cpu).map(AsFd::as_fd))?)))
                .collect();
            match opened {
                Ok(opened) => {
                    for (cpu, fd) in opened {
                        if slot == 0
                            && let Ok(leader) = fd.try_clone()
                        {
                            leaders.insert(cpu, leader);
                        }
                        self.open.push((slot, cpu, fd));
                        self.cores.insert(cpu, core);
                    }
                    self.accept(slot, request, &pmu.name, cpus);
                    slot += 1;
                    self.hardware = self.hardware.max(slot);
                }
                Err(e) => self.refuse(slot, request, &pmu.name, cpus, &answer(&e)),
            }
        }
        self.slots = self.hardware;
    }

    fn software(&mut self, requests: &[CounterRequest], online: &[u32]) {
        for request in requests.iter().filter(|w| w.midr == 0) {
            let config = match request.name.as_str() {
                "minor-faults" => perf::MINOR_FAULTS,
                "major-faults" => perf::MAJOR_FAULTS,
                _ => {
                    self.refuse(
                        self.slots,
                        request,
                        "software",
                        &[],
                        "unknown event: the supported software events are minor-faults and major-faults",
                    );
                    continue;
                }
            };
            if self.slots >= SLOTS {
                self.refuse(self.slots, request, "software", online, "no slot is left");
                continue;
            }
            // The kernel counts a fault for the mode in which it occurred, so user mode covers the
            // operator's faults.
            let event = perf::Event { pmu_type: perf::SOFTWARE, config, user_only: true };
            let opened: io::Result<Vec<_>> =
                online.iter().map(|cpu| Ok((self.slots, *cpu, perf::open(event, *cpu, None)?))).collect();
            match opened {
                Ok(opened) => {
                    self.open.extend(opened);
                    self.accept(self.slots, request, "software", online);
                    self.slots += 1;
                }
                Err(e) => self.refuse(self.slots, request, "software", online, &answer(&e)),
            }
        }
    }

    fn accept(&mut self, slot: usize, request: &CounterRequest, pmu: &str, cpus: &[u32]) {
        self.refuse(slot, request, pmu, cpus, "");
    }

    fn refuse(&mut self, slot: usize, request: &CounterRequest, pmu: &str, cpus: &[u32], why: &str) {
        self.all.push(Counter {
            slot,
            name: request.name.clone(),
            event: request.event,
            pmu: pmu.to_owned(),
            cpus: cpus.to_vec(),
            refused: why.to_owned(),
        });
    }

    /// Slots in use, a constant of the programs that is set before loading.
    #[must_use]
    pub const fn in_use(&self) -> CounterSlots {
        CounterSlots { all: self.slots, hardware: self.hardware }
    }

    /// Refuses all working counters with one reason.
    pub fn give_up(&mut self, why: &str) {
        for counter in self.all.iter_mut().filter(|c| c.refused.is_empty()) {
            counter.refused = why.to_owned();
        }
        self.open.clear();
        self.cores.clear();
        (self.hardware, self.slots) = (0, 0);
    }
}

/// The events of the PMU whose names have the longest common prefix with `name`.
fn alike(name: &str, pmu: &Pmu) -> String {
    let wanted = name.to_ascii_lowercase();
    let common = |event: &String| event.bytes().zip(wanted.bytes()).take_while(|(a, b)| a == b).count();
    let mut events: Vec<&String> = pmu.events.keys().collect();
    events.sort_by_key(|e| std::cmp::Reverse(common(e)));
    let names: Vec<String> = events.iter().take(5).map(|e| e.to_ascii_uppercase()).collect();
    if names.is_empty() {
        "it lists no events".to_owned()
    } else {
        format!("it lists {} …", names.join(", "))
    }
}

/// Why an event is refused before it is opened.
fn unsuitable(request: &CounterRequest, pmu: &Pmu, slot: usize) -> Option<String> {
    match pmu.events.get(&request.name.to_ascii_lowercase()) {
        None => Some(format!("the PMU does not list this event in sysfs; {}", alike(&request.name, pmu))),
        Some(number) if request.event != 0 && *number != u64::from(request.event) => {
            Some(format!("the PMU lists it with number {number:#x}: the profile is wrong for this core"))
        }
        Some(_) if slot >= HARDWARE_SLOTS => {
            Some(format!("the agent reads at most {HARDWARE_SLOTS} hardware counters at the same time"))
        }
        Some(_) => None,
    }
}

/// The kernel's answer as a sentence.
fn answer(e: &io::Error) -> String {
    use nix::errno::Errno;
    match e.raw_os_error().map(Errno::from_raw) {
        Some(Errno::EINVAL) => "the core has no counter left for it (EINVAL)".to_owned(),
        Some(Errno::ENOENT | Errno::EOPNOTSUPP) => "the kernel has no such event here".to_owned(),
        Some(Errno::EACCES | Errno::EPERM) => {
            "not permitted: run the agent as root, or lower kernel.perf_event_paranoid".to_owned()
        }
        Some(Errno::EBUSY) => "another program uses the counters".to_owned(),
        Some(Errno::EMFILE) => "too many open files: raise the limit (ulimit -n)".to_owned(),
        _ => e.to_string(),
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    /// Cores of one type under two PMUs, as on the emulated board with two core types: each PMU
    /// gets its own CPUs. The PMUs of this tree do not exist in the kernel, so nothing opens, but
    /// both must be tried.
    #[test]
    fn one_type_of_core_may_have_several_pmus() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("devices/system/cpu/online", "0-2\n");
        for cpu in 0..3 {
            let file = format!("devices/system/cpu/cpu{cpu}/regs/identification/midr_el1");
            write(&file, "0x00000000414fd0b1\n");
        }
        for (pmu, pmu_type, cpus) in [("little", "3001", "0"), ("big", "3002", "1")] {
            let dir = format!("bus/event_source/devices/{pmu}");
            write(&format!("{dir}/type"), pmu_type);
            write(&format!("{dir}/cpus"), cpus);
            write(&format!("{dir}/events/cpu_cycles"), "event=0x11\n");
        }
        let request = |midr| CounterRequest { name: "CPU_CYCLES".to_owned(), event: 0x11, midr };
        let counters = Counters::open(&[request(0x4100_d0b0), request(0x4100_d050)], root.path());
        assert_eq!((counters.slots, counters.open.len()), (0, 0));
        let tried: Vec<(&str, &[u32])> = counters.all.iter().map(|c| (c.pmu.as_str(), &*c.cpus)).collect();
        // The tree has no A55, and CPU 2 has no PMU.
        assert_eq!(tried, [("", &[][..]), ("big", &[1]), ("little", &[0]), ("", &[2])]);
        let why: Vec<&str> = counters.all.iter().map(|c| c.refused.as_str()).collect();
        assert_eq!(why[0], "no online CPU has this core type");
        assert_eq!(why[3], "the kernel has no PMU for these CPUs");
    }
}
