//! From a model to results and views: figures computed by hand, sums computed differently, and
//! bytes read by other programs.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod accelerator;
mod bounds;
mod budget;
mod capture;
mod ceilings;
mod compare;
mod critical_path;
mod duty;
mod ending;
mod engines;
mod estimated;
mod experts;
mod findings;
mod gauges;
mod health;
mod invariants;
mod kv;
mod ladder_sums;
mod models;
mod phases;
mod predict;
mod replay;
mod requests;
mod sched;
mod schema;
mod server;
mod slowdown;
mod small;
mod speculative;
mod steps;
mod tables;
mod tune;
mod views;
mod weight;
mod work;
