//! The timeline: one walk over its rows, and the formats in which it is written.
//!
//! Stage: view. From: the `track` analysis and the model. To: the file of one format.
//! Promises: [`walk`] alone decides what a timeline contains and in which order, and [`item::label`]
//! alone names it. All formats therefore show the same slices with the same names.

mod buffer;
pub mod chrome;
pub mod ftrace;
mod gauge;
mod item;
mod label;
mod metadata;
pub(crate) mod page;
pub mod perfetto;
mod probes;
mod row;
mod rows;
mod state;
mod walk;
