//! The use of the CPUs: when it is recorded, and the windows that are open at the end.

use std::mem::{offset_of, size_of};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use super::Bpf;
use super::layout::{View, field, length, types};
use super::ring::{CPU_USE_LEAST_NS, CpuUse, TASK_COMM, Who};
use crate::clock;
use crate::sys::grace::programs_ended;

const OF_CPU: usize = size_of::<types::cpu_use>();
const CPUS: usize = length(|bss| &bss.cpu_uses);

/// The windows that were open at the end.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Open {
    pub windows: Vec<CpuUse>,
    /// Time of other tasks in windows where they had too little to be sent, ns.
    pub small_ns: u64,
}

impl Bpf<'_> {
    /// The number of traced engines has changed. The programs record from the first one on.
    pub(super) fn cpu_use_engines(&self, engines: usize) {
        let of = self.word(offset_of!(types::bss, cpu_use_engines));
        of.iter().for_each(|word| word.store(engines as u64, Relaxed));
        let since = self.cpu_use_since();
        if engines > 0 && since.is_some_and(|since| since.load(Relaxed) == 0) {
            since.iter().for_each(|since| since.store(clock::monotonic_ns(), Release));
        }
    }

    /// Nothing is recorded until an engine is traced. Call it when the programs are attached: the
    /// first switch of a CPU shows which task has had it only since then.
    pub fn cpu_use_none(&self) {
        self.cpu_use_since().iter().for_each(|since| since.store(0, Release));
    }

    /// No engine is traced any more, but the use is still recorded.
    #[must_use]
    pub fn cpu_use_over(&self) -> bool {
        let engines = self.word(offset_of!(types::bss, cpu_use_engines));
        engines.is_some_and(|n| n.load(Relaxed) == 0)
            && self.cpu_use_since().is_some_and(|since| since.load(Relaxed) != 0)
    }

    /// Ends the recording of the use and returns the open windows, up to `to_ns`. Windows of CPUs
    /// without any switch are unknown. `name` returns the name of a task, by the kernel's id.
    pub fn end_cpu_use(&self, to_ns: u64, name: impl Fn(u32) -> [u8; TASK_COMM]) -> Open {
        let since_ns = self.cpu_use_since().map_or(0, |since| since.swap(0, Acquire));
        if since_ns == 0 {
            return Open::default();
        }
        // One that runs at this moment may still send the window that is read here.
        programs_ended();
        let several = self.word(offset_of!(types::bss, cpu_use_engines)).is_some_and(|n| n.load(Relaxed) > 1);
        let first = offset_of!(types::bss, cpu_uses);
        let mut all = Open::default();
        for cpu in 0..CPUS {
            let mut bytes = [0; OF_CPU];
            let words = self.shared.words(first + cpu * OF_CPU, OF_CPU / 8);
            for (word, bytes) in words.iter().zip(bytes.as_chunks_mut().0) {
                *bytes = word.load(Relaxed).to_ne_bytes();
            }
            all.add(u32::try_from(cpu).unwrap_or(u32::MAX), &bytes, (since_ns, to_ns), several, &name);
        }
        all
    }

    fn cpu_use_since(&self) -> Option<&AtomicU64> {
        self.word(offset_of!(types::bss, cpu_use_since))
    }

    fn word(&self, offset: usize) -> Option<&AtomicU64> {
        self.shared.words(offset, 1).first()
    }
}

impl Open {
    /// Adds the open window of a CPU, with the task that has the CPU. Nothing if no switch was seen
    /// there.
    fn add(
        &mut self,
        cpu: u32,
        bytes: &[u8; OF_CPU],
        (since_ns, to_ns): (u64, u64),
        several: bool,
        name: &impl Fn(u32) -> [u8; TASK_COMM],
    ) -> Option<()> {
        let view = View::<types::cpu_use>::new(bytes)?;
        let at_ns = field!(view, cpu_use.at_ns).filter(|at| *at >= since_ns)?;
        let (pid, tid) = (field!(view, cpu_use.running)?, field!(view, cpu_use.running_tid)?);
        let tgid = field!(view, cpu_use.running_tgid)?;
        let to_ns = to_ns.max(at_ns);
        let busy_ns = to_ns - at_ns;
        let (who, foreign_ns) = match (tgid, pid) {
            (0, 0) => (Who::Other(0, [0; TASK_COMM]), 0),
            (0, _) => (Who::Other(tid, name(pid)), busy_ns),
            _ => (Who::Engine(tgid, tid), if several { busy_ns } else { 0 }),
        };
        let foreign_ns = foreign_ns + field!(view, cpu_use.foreign_ns)?;
        if foreign_ns < CPU_USE_LEAST_NS {
            self.small_ns += foreign_ns;
            return Some(());
        }
        let mut window = CpuUse::read(cpu, &bytes[offset_of!(types::cpu_use, out)..])?;
        window.to_ns = to_ns;
        window.add(who, busy_ns);
        self.windows.push(window);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bpf::layout::Plain;

    const NAME: [u8; TASK_COMM] = *b"busy\0\0\0\0\0\0\0\0\0\0\0\0";

    fn state(running: (u32, u32, u32), at_ns: u64, foreign_ns: u64) -> [u8; OF_CPU] {
        let mut bytes = [0; OF_CPU];
        let mut put = |at: usize, value: u64| value.write(&mut bytes[at..]);
        put(offset_of!(types::cpu_use, at_ns), at_ns);
        put(offset_of!(types::cpu_use, foreign_ns), foreign_ns);
        let out = offset_of!(types::cpu_use, out);
        put(out + offset_of!(types::event_cpu_use, from_ns), 1_000_000);
        put(out + offset_of!(types::event_cpu_use, idle_ns), 7);
        running.0.write(&mut bytes[offset_of!(types::cpu_use, running)..]);
        running.1.write(&mut bytes[offset_of!(types::cpu_use, running_tid)..]);
        running.2.write(&mut bytes[offset_of!(types::cpu_use, running_tgid)..]);
        bytes
    }

    fn at_the_end(bytes: &[u8; OF_CPU], several: bool) -> Open {
        let mut open = Open::default();
        open.add(3, bytes, (1_000_000, 9_000_000), several, &|_| NAME);
        open
    }

    #[test]
    fn the_task_that_never_left_has_the_rest_of_the_window() {
        let window = at_the_end(&state((77, 77, 0), 2_000_000, 0), false).windows[0];
        assert_eq!((window.cpu, window.from_ns, window.to_ns, window.idle_ns), (3, 1_000_000, 9_000_000, 7));
        assert_eq!(window.tasks().collect::<Vec<_>>(), [(Who::Other(77, NAME), 7_000_000)]);
    }

    #[test]
    fn an_engine_alone_is_not_sent_but_two_are() {
        let engine = state((88, 8, 6), 2_000_000, 40_000);
        assert_eq!(at_the_end(&engine, false), Open { windows: Vec::new(), small_ns: 40_000 });
        let window = at_the_end(&engine, true).windows[0];
        assert_eq!(window.tasks().collect::<Vec<_>>(), [(Who::Engine(6, 8), 7_000_000)]);
        let window = at_the_end(&state((0, 0, 0), 2_000_000, 60_000), false).windows[0];
        assert_eq!((window.idle_ns, window.tasks().count()), (7_000_007, 0));
    }

    #[test]
    fn a_cpu_without_a_switch_is_unknown() {
        assert_eq!(at_the_end(&state((77, 77, 0), 999_999, 0), false), Open::default());
    }
}
