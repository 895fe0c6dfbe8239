//! What the agent gives up of its privileges, so that whoever takes it over by hostile bytes gets little.
//!
//! ```text
//! start (nothing is to be started) ─▶ begin: what no session needs, new privileges, dangerous system calls
//! engine started, probes in place  ─▶ attached: what only the beginning needs, if this is the only session
//! ```
//! A kernel or a container may refuse each part. Then the session goes on without it, and says so. All holds for the calling thread and
//! those that it makes later.

pub mod calls;
pub mod capabilities;

use crate::sys::privilege::{self, Sets};
use capabilities::{ATTACHED, SESSION, SYS_ADMIN};

/// What is in force.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confined {
    /// Capabilities that the agent still has, or why they could not be given up.
    pub capabilities: Result<Sets, String>,
    /// No program that it begins has more.
    pub no_new_privileges: bool,
    /// Dangerous system calls are refused; or why they are not.
    pub calls: Result<(), String>,
}

/// Gives up what no session needs. Nothing can be started afterwards.
#[must_use]
pub fn begin() -> Confined {
    confine(SESSION, SESSION, false)
}

/// Gives up what only the beginning of a session needs; `admin`: probes need CAP_SYS_ADMIN here. Else it is effective only for the moments in
/// which the statistics of BPF programs are switched on, for which the kernel has no other capability.
#[must_use]
pub fn attached(admin: bool) -> Confined {
    confine(ATTACHED | if admin { SYS_ADMIN } else { 0 }, SYS_ADMIN, true)
}

fn confine(keep: u64, at_hand: u64, attached: bool) -> Confined {
    let capabilities = capabilities::keep(keep, at_hand).map_err(|e| format!("giving up capabilities: {e}"));
    let no_new_privileges = nix::sys::prctl::set_no_new_privs().is_ok();
    let calls = calls::refuse(attached);
    Confined { capabilities, no_new_privileges, calls }
}

/// Whether `trial` works without CAP_SYS_ADMIN, which newer capabilities stand for since Linux 5.9 and not on every vendor's kernel. Everything
/// is as before afterwards.
pub fn needs_admin(trial: impl FnOnce() -> bool) -> bool {
    let Ok(before) = privilege::sets() else { return true };
    if before.effective & SYS_ADMIN == 0 {
        return false;
    }
    if privilege::bounding(capabilities::CHECKPOINT_RESTORE).is_none() {
        return true;
    }
    let without = Sets { effective: before.effective & ATTACHED, ..before };
    if privilege::set(without).is_err() {
        return true;
    }
    let works = trial();
    // What is permitted can always be made effective again.
    let _ = privilege::set(before);
    !works
}
