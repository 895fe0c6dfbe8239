use nix::unistd::Pid;

use super::Tracer;
use crate::error::Result;
use crate::sys::spawn::Spawned;
use crate::sys::tee::Tail;
use crate::sys::thread::{Exit, WaitStatus, poll, wait_status};
use crate::target::output;

#[derive(Debug)]
pub(super) struct Child {
    pub(super) pid: Pid,
    pub(super) command: String,
    /// The same bytes as in /proc/PID/cmdline.
    pub(super) cmdline: Vec<u8>,
    pub(super) spawned: Option<Spawned>,
    pub(super) exit: Option<Exit>,
    pub(super) tail: Option<Tail>,
}

impl Tracer<'_, '_> {
    /// Collects the exit status of the program that the agent started.
    pub(super) fn reap(&mut self) -> Result<()> {
        let Some(child) = &mut self.child else { return Ok(()) };
        if child.exit.is_some() {
            return Ok(());
        }
        // While the program is watched, the watch collects its status.
        child.exit = self.watch.take_exit(child.pid);
        if child.exit.is_none() && !self.watch.active() {
            child.exit = match poll(child.pid.as_raw()).map(|status| status.map(wait_status)) {
                Ok(Some(WaitStatus::Ended(exit))) => Some(exit),
                Ok(_) | Err(_) => None,
            };
        }
        if child.exit.is_some()
            && let Some(spawned) = child.spawned.take()
        {
            spawned.check(&child.command)?;
        }
        self.look_alive();
        Ok(())
    }

    /// Exit status of the program that the agent started.
    #[must_use]
    pub fn status(&self) -> Option<i32> {
        self.child.as_ref()?.exit.map(Exit::shell)
    }

    /// How the started program ended: its pid, its exit, and the part of its last output lines that
    /// may leave the board. Returned once.
    pub fn take_ending(&mut self) -> Option<(u32, Exit, String)> {
        let child = self.child.as_mut()?;
        let exit = child.exit?;
        let tail = child.tail.take().and_then(Tail::read).unwrap_or_default();
        Some((child.pid.as_raw().cast_unsigned(), exit, output::of_engine(&tail, &child.cmdline)))
    }
}
