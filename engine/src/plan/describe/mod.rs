//! A plan in words. Only here do findings become sentences.

mod direct;
mod files;
mod found;
mod json;
mod layout;
mod missing;
mod way;
mod whole;

pub use direct::{direct, no_direct};
pub use files::{Described, Examined, Given, examined, files, text};
pub use found::{kind, note, symbol};
pub use json::Engine;
pub use layout::{layout, unreadable};
pub use missing::{missing, reason};
pub use way::{level, way};
pub use whole::{plan, roles};
