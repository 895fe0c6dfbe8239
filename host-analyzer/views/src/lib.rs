//! Bytes for people and programs.
//!
//! Stage: last. From: [`profinfer_trace::model`] and [`profinfer_analysis`]. To: bytes in a writer; `analyze` knows the files. Promises: a view
//! computes nothing that an analysis should; text from the traced process is always escaped.

pub mod backends;
pub mod compare;
pub mod dag;
pub mod dot;
pub mod expert_pins;
pub mod files;
mod foreign;
pub mod open_metrics;
mod page_data;
pub mod predict;
mod published;
pub mod report;
pub mod rules;
pub mod summary;
pub mod tables;
pub mod terminal;
mod timeline;
pub mod tune;
pub mod watch;
pub mod words;

pub use profinfer_schema::SCHEMA;
pub use timeline::{chrome, ftrace, perfetto};
