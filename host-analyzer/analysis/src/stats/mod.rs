//! Statistics of plain numbers: percentiles, intervals, rank tests.
//!
//! Uses nothing else of this crate and knows no recording.

pub mod blocking;
pub mod estimate;
pub(crate) mod fit;
pub(crate) mod mean;
pub mod percentile;
pub mod rank;
pub(crate) mod student;
