//! `analyze-fleet` from the command line, on real recordings and on synthetic summaries.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod add;
mod common;
mod hostile;
mod ready;
mod s3;
mod sums;
