//! `analyze-fleet` as a person runs it, on real recordings and on summaries that are made for a question.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

mod add;
mod common;
mod hostile;
mod ready;
mod s3;
mod sums;
