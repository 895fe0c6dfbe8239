//! Results that a user knows, one module per part of the report: tokens, budget, operators,
//! threads.
//!
//! Uses the model, `shared` and `stats`. No module here compares recordings or judges a result.

pub mod accelerator;
pub(crate) mod batch_probes;
pub mod bound;
pub mod budget;
pub mod capture;
pub mod ceiling;
pub mod cost;
pub mod counter;
pub mod critical_path;
pub mod dag;
pub mod duty;
pub mod ending;
pub mod engine;
pub mod excerpt;
pub mod expert;
pub mod fact;
pub mod gauge;
pub mod graph;
pub mod health;
pub mod kv;
pub mod module;
pub mod nested;
pub mod op;
pub mod request;
pub mod roof;
pub mod sched;
pub mod server;
pub mod speculative;
pub mod steps;
pub mod thread;
pub mod token;
pub mod track;
pub mod weight;
pub mod work;
