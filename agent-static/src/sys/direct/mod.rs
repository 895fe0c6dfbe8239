//! What direct probes need of the system: code that is copied into an engine, memory shared with it, and what ptrace(2) offers beyond
//! what `nix` has.

pub mod clock;
pub mod layout;
pub mod own;
pub mod shared;
pub mod thread;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "x86_64")]
pub use x86::{boot, stubs};

/// Stubs, at their offsets in the code page. Up to [`layout::HEADER`] they are zeros.
#[derive(Debug, Clone, Copy)]
pub struct Stubs {
    /// Header and stubs.
    pub bytes: &'static [u8],
    /// Offset of what records the start of an operator.
    pub start: usize,
    /// Offset of what records the start of operators that are computed together.
    pub fused: usize,
    /// Offset of what records the end.
    pub end: usize,
}

/// The bootstrap.
#[derive(Debug, Clone, Copy)]
pub struct Boot {
    /// Code, and behind it the values that it is given.
    pub bytes: &'static [u8],
    /// Offset of the values: address of the code page, flags for memfd_create(2), then where to go on: address, flags and registers.
    pub values: usize,
}

#[cfg(not(target_arch = "x86_64"))]
mod none {
    use super::{Boot, Stubs};

    /// There are none for this architecture.
    #[must_use]
    pub const fn stubs() -> Stubs {
        Stubs { bytes: &[], start: 0, fused: 0, end: 0 }
    }

    /// There is none for this architecture.
    #[must_use]
    pub const fn boot() -> Boot {
        Boot { bytes: &[], values: 0 }
    }
}
#[cfg(not(target_arch = "x86_64"))]
pub use none::{boot, stubs};
