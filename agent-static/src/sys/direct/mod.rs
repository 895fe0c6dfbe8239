//! The system interfaces of direct probes: code that is copied into an engine, memory shared with
//! it, and what `nix` lacks of ptrace(2).

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

/// The stubs, at their offsets in the code page. Zeros up to [`layout::HEADER`].
#[derive(Debug, Clone, Copy)]
pub struct Stubs {
    pub bytes: &'static [u8],
    /// Offset of the stub for the start of an operator.
    pub start: usize,
    /// Offset of the stub for the start of fused operators.
    pub fused: usize,
    /// Offset of the stub for the end.
    pub end: usize,
}

#[derive(Debug, Clone, Copy)]
pub struct Boot {
    /// The code, followed by its arguments.
    pub bytes: &'static [u8],
    /// Offset of the arguments: address of the code page, flags for memfd_create(2), then where to
    /// continue: address, flags and registers.
    pub values: usize,
}
