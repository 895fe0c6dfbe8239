//! Operator probes that go in and out while their process runs.

use crate::bpf::{Bpf, Window};
use crate::clock;
use crate::error::Result;
use crate::probes::attach::Attached;
use crate::probes::operators::Operators;

/// The probes on the operators of one process, of whatever kind. They are in place when this begins.
///
/// What makes a call whole is not here: the programs take the operators of a call or leave them out, see `bpf/include/capture.h`.
/// Probes go in before the first such call and out behind the last one.
pub trait OpProbes {
    /// Puts all of them in; how many.
    ///
    /// # Errors
    /// What the system answered; then none is in.
    fn put_in(&mut self) -> Result<u16>;

    /// Begins to take all of them out; how many. It does not wait: the kernel may need a second for it on a machine that is busy.
    fn take_out(&mut self) -> u16;

    /// They are out.
    fn is_out(&mut self) -> bool;

    /// Captures calls that begin in this window. Returns when that was told, ns.
    fn capture(&mut self, window: Window) -> u64;
}

/// The probes of a process: uprobes, which go in and out, or direct ones, which stay and are told to record nothing.
#[derive(Debug)]
pub struct Switched<'a, 's> {
    pub(crate) attached: &'a mut Attached,
    pub(crate) bpf: &'a Bpf<'s>,
}

impl OpProbes for Switched<'_, '_> {
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

    fn capture(&mut self, window: Window) -> u64 {
        self.attached.capture(self.bpf, window);
        clock::monotonic_ns()
    }
}
