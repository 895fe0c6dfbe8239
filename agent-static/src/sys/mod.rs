//! The only files with `unsafe`: mapping files, mounting a file system, starting a program,
//! forwarding its output, the nice value, capabilities, counters, a function to probe, BPF
//! statistics, maps, links and the ring buffer, return probes under filters, serial lines, measurement loops, direct probes.

#![allow(
    unsafe_code,
    reason = "system interfaces without a safe wrapper; every block states why it is sound"
)]

#[cfg(feature = "bench")]
pub mod bench;
#[cfg(feature = "direct")]
pub mod direct;
pub mod file;
pub mod grace;
pub mod maps;
pub mod mount;
pub mod multi;
pub mod perf;
pub mod priority;
pub mod private_stack;
pub mod privilege;
pub mod probed;
pub mod return_probe;
pub mod ring;
pub mod serial;
pub mod spawn;
pub mod stats;
pub mod tee;
pub mod thread;
pub mod user;
