//! End-to-end tests: a real, unmodified llama.cpp, the real agent, a real kernel.
//!
//! The oracle is the engine itself: its evaluation callback lists every node with operator, name,
//! type, dimensions and sources, and its driver stamps every `llama_decode` call with the same
//! clock.
//!
//! Needs root, BPF, and the environment of `scripts/test.sh`: PROFINFER_AGENT, PROFINFER_ENGINE_DIR
//! and its variants, PROFINFER_MODELS_DIR. Without them, the tests are skipped with the reason.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod adapters;
mod asked;
mod attach;
mod backends;
mod backends_profile;
mod backends_waits;
mod board;
mod board_bench;
mod board_counters;
mod bounded;
mod budget;
mod ceilings;
mod compare;
mod compat;
mod controller;
mod cost;
mod counters;
mod cpu_use;
mod deep;
mod diffusion;
mod direct;
mod doctor;
mod duty;
mod ending;
mod ends;
mod engine_list;
mod engine_log;
mod engines;
mod engines_direct;
mod errors;
mod experts;
mod fact;
mod filters;
mod gauges;
mod group;
mod keys;
mod kv;
mod limits;
mod links;
mod metrics;
mod mishaps;
mod nodes;
mod packed;
mod phases;
mod planted;
mod predict;
mod privacy;
mod privileges;
mod push;
mod reasons;
mod remedies;
mod requests;
mod restart;
mod router;
mod runners;
mod sched;
mod serve;
mod server;
mod several;
mod slots;
mod speculative;
mod speed;
mod standin;
mod start_up;
mod starved;
mod support;
mod tune;
mod watch;
mod weights;
mod whisper;
mod whisper_model;
mod work;
