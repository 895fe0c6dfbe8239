//! What is read of the board, the kernel and the processes without probing the engine.

#[cfg(feature = "bench")]
pub mod bench;
pub mod cost;
pub mod counter;
pub mod fact;
pub mod gauge;
pub mod placement;
pub mod sched;
