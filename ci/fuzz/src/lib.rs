//! Properties that must hold for any bytes: one function per target, which panics where a property
//! is violated.
//!
//! The functions do not depend on a fuzzer. `fuzz/fuzz_targets` passes them libFuzzer's inputs for
//! long runs (`ci/fuzz.sh`), and `tests/smoke.rs` those of the kept corpus and of [`mutate`], in
//! the test command. `docs/fuzzing.md` lists what each reads.

#[cfg(feature = "all")]
pub mod accelerator;
#[cfg(feature = "all")]
pub mod agent;
#[cfg(feature = "all")]
pub mod board;
#[cfg(feature = "all")]
pub mod engine;
#[cfg(feature = "all")]
pub mod gguf;
#[cfg(feature = "all")]
pub mod handshake;
pub mod mutate;
#[cfg(feature = "all")]
pub mod views;
pub mod wire;

/// A target.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name: that of the module, of the program in `fuzz/fuzz_targets`, and of the folder in
    /// `fuzz/corpus`.
    pub name: &'static str,
    /// Panics where a property is violated.
    pub run: fn(&[u8]),
    /// Share of the smoke run's inputs: mutations per thousand of the cheapest target's.
    pub share: u32,
}

const fn target(name: &'static str, share: u32, run: fn(&[u8])) -> Target {
    Target { name, run, share }
}

/// All targets.
pub const TARGETS: &[Target] = &[
    target("accumulator", 500, wire::accumulator::accumulator),
    target("hello", 1000, wire::hello::hello),
    target("records", 1000, wire::records::records),
    target("span", 1000, wire::span::span),
    target("count", 1000, wire::count::count),
    target("expert", 1000, wire::expert::expert),
    target("part", 1000, wire::part::part),
    target("gauge", 1000, wire::gauge::gauge),
    target("predicted", 200, wire::predicted::predicted),
    #[cfg(feature = "all")]
    target("board", 50, board::board),
    #[cfg(feature = "all")]
    target("engine", 100, engine::engine),
    #[cfg(feature = "all")]
    target("gguf", 500, gguf::gguf),
    #[cfg(feature = "all")]
    target("handshake", 20, handshake::handshake),
    #[cfg(feature = "all")]
    target("plan", 200, agent::plan::plan),
    #[cfg(feature = "all")]
    target("ring", 1000, agent::ring::ring),
    #[cfg(feature = "all")]
    target("format", 200, agent::format::format),
    #[cfg(feature = "all")]
    target("system", 200, agent::system::system),
    #[cfg(feature = "all")]
    target("accelerator", 200, accelerator::accelerator),
    #[cfg(feature = "all")]
    target("views", 2, views::views),
];
