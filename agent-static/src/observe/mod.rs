//! Data about the board, the kernel and the processes that needs no probes in the engine.

#[cfg(feature = "bench")]
pub mod bench;
pub mod cost;
pub mod counter;
pub mod fact;
pub mod gauge;
pub mod placement;
pub mod sched;
pub mod start_up;
