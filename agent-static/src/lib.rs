//! Agent.

pub mod engine;
