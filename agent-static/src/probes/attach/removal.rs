//! Removing probes: operator probes for a while, or all probes of a process.

use std::thread::JoinHandle;

use libbpf_rs::Link;

use super::{Attached, switchable};
use crate::bpf::Bpf;
use crate::error::{Result, log};
use crate::probes::operators::Operators;
use crate::target::watch::Watch;

/// Threads that remove operator probes.
pub(super) type Leaving = Vec<JoinHandle<()>>;

/// Most threads that remove probes: enough for a link each. An engine has two or three probed
/// places, and switches are prepared with several more. From Linux 6.13 on, each wait for a link lets
/// a worker of the kernel spin for milliseconds while a call that is probed at its return runs (SRCU);
/// waits at the same time share that.
pub(super) const LEAVING: usize = 12;
/// Stack of a thread that removes probes: it only makes a few system calls.
const LEAVING_STACK: usize = 64 << 10;

impl Attached {
    /// Starts to remove the probes on CPU operators, and returns their number. Probes on functions
    /// of other backends stay: they are few. Separate threads wait for the kernel, which releases a
    /// probe when no CPU can be executing it any more. All are removed at once, so that one wait is
    /// enough for all and no place keeps its trap in the meantime.
    pub fn take_out_operators(&mut self) -> u16 {
        let (mut gone, n) = self.uprobes.take_out(switchable);
        // Last: each waits for the kernel once more.
        gone.append(&mut self.spare);
        self.drop_on_threads(gone);
        u16::try_from(n).unwrap_or(u16::MAX)
    }

    /// Keeps the links of a probe until the next removal.
    pub fn spare(&mut self, links: Vec<Link>) {
        self.spare.extend(links);
    }

    fn drop_on_threads(&mut self, gone: Vec<Link>) {
        self.operators_out();
        let mut parts: [Vec<Link>; LEAVING] = Default::default();
        for (at, link) in gone.into_iter().enumerate() {
            parts[at % LEAVING].push(link);
        }
        for some in parts.into_iter().filter(|part| !part.is_empty()) {
            let thread = std::thread::Builder::new().name("take-out".to_owned()).stack_size(LEAVING_STACK);
            // If no thread can be started, the links are dropped here.
            self.leaving.extend(thread.spawn(move || drop(some)));
        }
    }

    /// Whether the operator probes are completely removed.
    pub fn operators_out(&mut self) -> bool {
        for left in self.leaving.extract_if(.., |l| l.is_finished()) {
            let _ = left.join();
        }
        self.leaving.is_empty()
    }

    /// Attaches the operator probes again and returns their number.
    ///
    /// # Errors
    /// What the kernel answered; in that case no operator probe is attached.
    pub fn put_in_operators(&mut self, bpf: &Bpf<'_>) -> Result<u16> {
        match self.uprobes.put_in(bpf, self.pid, &self.files, switchable) {
            Ok(put) => Ok(u16::try_from(put).unwrap_or(u16::MAX)),
            Err(e) => {
                self.take_out_operators();
                Err(e)
            }
        }
    }

    /// Removes the probes of a process that has ended, on separate threads: the next process of its
    /// name may start right now and must not run untraced while the kernel releases these probes.
    pub fn ended(&mut self, bpf: &Bpf<'_>, watch: &mut Watch) {
        self.take_out_direct(watch);
        let (mut gone, _) = self.uprobes.take_out(|_| true);
        self.uprobes.clear();
        gone.append(&mut self.library_events);
        gone.append(&mut self.spare);
        self.drop_on_threads(gone);
        bpf.remove_engine(self.pid);
    }

    pub fn detach(&mut self, bpf: &Bpf<'_>, watch: &mut Watch) {
        self.take_out_direct(watch);
        self.uprobes.clear();
        for leaving in self.leaving.drain(..) {
            let _ = leaving.join();
        }
        self.library_events.clear();
        self.spare.clear();
        bpf.remove_engine(self.pid);
    }

    fn take_out_direct(&mut self, watch: &mut Watch) {
        if let Operators::Direct(installed) = std::mem::replace(&mut self.operators, Operators::Uprobes) {
            match installed.take_out(watch) {
                Ok(back) if back.left > 0 => log(&format!(
                    "process {}: {} places of direct probes were modified by another program in the meantime and stay modified",
                    self.pid, back.left
                )),
                Ok(_) => {}
                Err(e) => log(&format!(
                    "cannot remove the direct probes from process {}: {e}\n  they stay, but record nothing; to remove them: profinfer-agent \
                     repair --pid {}",
                    self.pid, self.pid
                )),
            }
        }
    }
}
