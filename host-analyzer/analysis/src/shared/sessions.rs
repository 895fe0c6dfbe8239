//! How far sessions of the same setup lie apart.

/// Assumed spread between two sessions of the same setup, as a share of their time, where nothing
/// better is known about the board. An environment variable alone caused 7.8 % (`docs/compare.md`).
pub const SPREAD: f64 = 0.078;
