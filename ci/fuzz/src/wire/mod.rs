//! The bytes on the wire.

pub mod accumulator;
pub mod count;
pub mod expert;
pub mod gauge;
pub mod hello;
pub mod part;
pub mod predicted;
pub mod records;
pub mod span;
