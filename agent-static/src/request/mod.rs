//! What to capture: the [`plan::Plan`] from the command line or the records of a host, the limits
//! of a plan, and the part of it that takes effect.

pub mod boards;
pub mod capture;
pub mod limits;
pub mod plan;
pub mod plan_builder;
