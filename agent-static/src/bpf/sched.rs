//! The programs of the scheduler level.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, IntoRawFd};

use libbpf_rs::{Link, ProgramMut};

use super::Bpf;
use super::skel::OpenProfinferSkel;
use super::tracepoint::Tracepoint;
use crate::sys::perf;

impl<'s> Bpf<'s> {
    /// Attaches the program of `tracepoint` by its id. Not by name, because libbpf looks names up
    /// in tracefs, and only at the usual mount point. `cpu` may be any online CPU: the program runs
    /// for events on all CPUs.
    ///
    /// # Errors
    /// What the kernel answered.
    pub fn attach_tracepoint(&self, tracepoint: Tracepoint, id: u64, cpu: u32) -> Result<Link, String> {
        let event = perf::Event { pmu_type: perf::TRACEPOINT, config: id, user_only: false };
        let fd = perf::open(event, cpu, None).map_err(|e| format!("opening it: {e}"))?;
        let program = self.sched_program(tracepoint);
        let link = program.attach_perf_event(fd.as_raw_fd()).map_err(|e| format!("attaching to it: {e}"))?;
        // The link owns the descriptor now and closes it.
        let _ = fd.into_raw_fd();
        Ok(link)
    }

    fn sched_program(&self, tracepoint: Tracepoint) -> &ProgramMut<'s> {
        let p = &self.skel.progs;
        match tracepoint {
            Tracepoint::Switch => &p.sched_on_switch,
            Tracepoint::Waking => &p.sched_on_waking,
            Tracepoint::Wakeup => &p.sched_on_wakeup,
            Tracepoint::WakeupNew => &p.sched_on_wakeup_new,
            Tracepoint::Migrate => &p.sched_on_migrate,
            Tracepoint::Irq => &p.sched_on_irq,
            Tracepoint::IrqExit => &p.sched_on_irq_exit,
            Tracepoint::Softirq => &p.sched_on_softirq,
            Tracepoint::SoftirqExit => &p.sched_on_softirq_exit,
            Tracepoint::PageAdd => &p.page_on_add,
        }
    }

    /// Descriptors of the programs that were loaded for the level.
    pub fn sched_programs(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        let loaded = if self.sched { Tracepoint::ALL.as_slice() } else { &[] };
        loaded.iter().map(|t| self.sched_program(*t).as_fd())
    }
}

/// Disables programs and maps that only this level needs.
pub(super) fn leave_out(open: &mut OpenProfinferSkel<'_>) -> libbpf_rs::Result<()> {
    let p = &mut open.progs;
    for program in [
        &mut p.sched_on_switch,
        &mut p.sched_on_waking,
        &mut p.sched_on_wakeup,
        &mut p.sched_on_wakeup_new,
        &mut p.sched_on_migrate,
        &mut p.sched_on_irq,
        &mut p.sched_on_irq_exit,
        &mut p.sched_on_softirq,
        &mut p.sched_on_softirq_exit,
        &mut p.page_on_add,
    ] {
        program.set_autoload(false);
    }
    let m = &mut open.maps;
    for map in [&mut m.sched_threads, &mut m.sched_waiting, &mut m.sched_cpus] {
        map.set_autocreate(false)?;
    }
    Ok(())
}
