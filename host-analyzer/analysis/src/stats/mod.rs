//! Statistics of plain numbers: percentiles, confidence intervals, rank tests.
//!
//! Uses no other module of this crate and knows nothing about recordings.

pub(crate) mod blocking;
pub mod estimate;
pub(crate) mod fit;
pub(crate) mod mean;
pub mod percentile;
pub(crate) mod rank;
pub(crate) mod slope;
pub(crate) mod student;
