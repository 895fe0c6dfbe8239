//! What is to be captured: from the command line or a host's records to a [`plan::Plan`] that keeps to the limits, and what of it is effective.

pub mod boards;
pub mod capture;
pub mod limits;
pub mod plan;
pub mod plan_builder;
