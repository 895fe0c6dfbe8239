//! Where the stream goes. A link takes bytes and never blocks the drain of the kernel's ring buffer for
//! long: what a slow link cannot take is dropped in whole frames and counted.

pub mod output;
pub mod tcp;

pub use output::Output;
