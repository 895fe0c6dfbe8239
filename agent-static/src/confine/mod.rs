//! The privileges that the agent drops, so that an attacker who takes it over gains little.
//!
//! ```text
//! start, without a command to run ─▶ begin: drops what no session needs, new privileges,
//!                                    dangerous system calls
//! engine started, probes in place ─▶ attached: drops what only the setup needs, if this is
//!                                    the only session
//! ```
//! A kernel or a container may refuse each part. Then the session continues without it and records
//! that. All parts apply to the calling thread and the threads that it creates later.

pub mod calls;
pub mod capabilities;

use crate::sys::privilege::{self, Sets};
pub use capabilities::may_trace;
use capabilities::{ATTACHED, SESSION, SYS_ADMIN};

/// The restrictions in effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confined {
    /// The remaining capabilities, or why they could not be dropped.
    pub capabilities: Result<Sets, String>,
    /// True if no program that the agent starts can gain privileges.
    pub no_new_privileges: bool,
    /// Whether dangerous system calls are refused, or why they are not.
    pub calls: Result<(), String>,
}

/// Drops what no session needs. The agent cannot start a program afterwards.
#[must_use]
pub fn begin() -> Confined {
    confine(SESSION, SESSION, false)
}

/// Drops what only the setup of a session needs. `admin`: probes need CAP_SYS_ADMIN on this kernel.
/// Otherwise CAP_SYS_ADMIN is effective only while the agent switches the statistics of BPF
/// programs on, for which the kernel has no other capability.
#[must_use]
pub fn attached(admin: bool) -> Confined {
    confine(ATTACHED | if admin { SYS_ADMIN } else { 0 }, SYS_ADMIN, true)
}

fn confine(keep: u64, at_hand: u64, attached: bool) -> Confined {
    let capabilities = capabilities::keep(keep, at_hand).map_err(|e| format!("dropping capabilities: {e}"));
    let no_new_privileges = nix::sys::prctl::set_no_new_privs().is_ok();
    let calls = calls::refuse(attached);
    Confined { capabilities, no_new_privileges, calls }
}

/// True if `trial` needs CAP_SYS_ADMIN. Since Linux 5.9, newer capabilities replace it, but not on
/// the kernels of every vendor. Restores the previous state.
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
    // A permitted capability can always become effective again.
    let _ = privilege::set(before);
    !works
}
