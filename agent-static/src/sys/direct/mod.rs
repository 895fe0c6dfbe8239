//! What direct probes need of the system: code that is copied into an engine, memory shared with it, and what ptrace(2) offers beyond
//! what `nix` has.

#[cfg_attr(target_arch = "x86_64", path = "x86.rs")]
#[cfg_attr(target_arch = "aarch64", path = "arm64.rs")]
mod arch;
pub mod clock;
mod code;
pub mod layout;
pub mod own;
#[cfg(target_arch = "aarch64")]
pub mod regset;
pub mod shared;

pub use code::{boot, stubs};

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
