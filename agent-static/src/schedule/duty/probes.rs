//! Operator probes that are attached and removed while their process runs.

use std::path::Path;

use crate::bpf::{AttachPoint, Bpf, Window};
use crate::clock;
use crate::error::Result;
use crate::probes::attach::Attached;
use crate::probes::operators::Operators;

/// The probes on the operators of one process, of any kind. They are attached initially.
///
/// Probes do not decide whether a call is captured completely: the programs capture or skip all
/// operators of a call, see `bpf/include/capture.h`. Probes are attached before the first captured
/// call and removed after the last one.
pub trait OpProbes {
    /// Makes a switch fast that follows within a few milliseconds.
    fn prepare(&mut self);

    /// Attaches all probes and returns their number.
    ///
    /// # Errors
    /// What the system answered; in that case no probe is attached.
    fn put_in(&mut self) -> Result<u16>;

    /// Starts to remove all probes and returns their number. Does not wait: on a busy machine the
    /// kernel may need a second.
    fn take_out(&mut self) -> u16;

    /// Whether the removal has finished.
    fn is_out(&mut self) -> bool;

    /// Hits of operator probes so far, of all engines.
    fn hits(&self) -> u64;

    /// Captures calls that begin in this window. Returns the time at which the setting took effect,
    /// ns.
    fn capture(&mut self, window: Window) -> u64;
}

/// The probes of a process: uprobes, which are attached and removed, or direct probes, which stay
/// and stop recording.
#[derive(Debug)]
pub struct Switched<'a, 's> {
    pub(crate) attached: &'a mut Attached,
    pub(crate) bpf: &'a Bpf<'s>,
    /// A place in the program of the agent that no thread passes any more, if it was found.
    pub(crate) spare_place: Option<u64>,
}

impl OpProbes for Switched<'_, '_> {
    /// Inserting or removing a trap takes microseconds, but the kernel first waits some 10 ms for
    /// all CPUs, unless it has just done so (`dup_mmap_sem` in `kernel/events/uprobes.c`). So the
    /// agent probes itself before.
    fn prepare(&mut self) {
        if let (Some(at), Operators::Uprobes) = (self.spare_place, &self.attached.operators) {
            let (own, exe) = (std::process::id(), Path::new("/proc/self/exe"));
            if let Ok(links) = self.bpf.attach(AttachPoint::LibraryEvent, own, exe, &[at]) {
                self.attached.spare(links);
            }
        }
    }

    fn put_in(&mut self) -> Result<u16> {
        if let Operators::Direct(installed) = &self.attached.operators {
            installed.resume();
            return Ok(u16::try_from(installed.places()).unwrap_or(u16::MAX));
        }
        self.attached.put_in_operators(self.bpf)
    }

    fn take_out(&mut self) -> u16 {
        if let Operators::Direct(installed) = &self.attached.operators {
            installed.pause();
            return u16::try_from(installed.places()).unwrap_or(u16::MAX);
        }
        self.attached.take_out_operators()
    }

    fn is_out(&mut self) -> bool {
        matches!(self.attached.operators, Operators::Direct(_)) || self.attached.operators_out()
    }

    fn hits(&self) -> u64 {
        self.bpf.op_hits()
    }

    fn capture(&mut self, window: Window) -> u64 {
        self.attached.capture(self.bpf, window);
        clock::monotonic_ns()
    }
}
