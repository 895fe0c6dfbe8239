//! Reads a ProfInfer recording: from the bytes of a stream, cut or damaged anywhere, to tables.
//!
//! ```text
//! bytes ─▶ decode ─▶ ingest ─▶ model
//!          records    order,    tables
//!          or damage  meaning
//! ```
//!
//! [`read`] takes all bytes of a recording. For a stream that still grows, feed a
//! [`decode::Decoder`] and an [`ingest::Ingest`]. `examples/operators.rs` prints the time of each
//! operator type of a recording in 25 lines.
//!
//! * [`decode`] uses only the wire and never opens a file.
//! * [`ingest`] gives the records their order and meaning.
//! * [`model`] has the tables, in columns. It uses no other module and not the wire, so that a
//!   second version of the wire cannot reach an analysis.
//! * [`gguf`] reads the header of a model's file into the tables of [`model`], for predictions.
//!
//! # Units
//!
//! A name ends with its unit: `_ns` nanoseconds, `_bytes`, `_permille` thousandths, `_milli`
//! thousandths of the unit, `_ppm` millionths. Times are of the session's CLOCK_MONOTONIC. Tables
//! are structs of columns of equal length; row `i` of a table is element `i` of every column.
//!
//! # Errors
//!
//! Only the beginning of a stream can fail, with [`decode::OpenError`]. All damage after it is in
//! [`model::Health`], and rows that depend on lost records are left out. Foreign bytes never panic.
//!
//! # Stability
//!
//! From the first release on the crate follows semantic versioning:
//!
//! * Every version reads the recordings of all earlier releases.
//! * A new record, table, column, field or variant is a minor version. Construct structs with
//!   `..Default::default()` where they have one, and match enums with a `_` arm.
//! * A removed or renamed item, or another meaning, type or unit, is a major version.
//! * Not covered: `test_support`, `Debug` output, the order of rows that a table does not state,
//!   and texts for people such as [`model::totals::Reason`]'s.
//!
//! # Synthetic recordings
//!
//! The feature `test-support` has `test_support`, which makes recordings and tables for tests. Add
//! it to the dev-dependencies:
//!
//! ```toml
//! [dev-dependencies]
//! profinfer-trace = { version = "0.1", features = ["test-support"] }
//! ```

#![warn(missing_docs)]

pub mod decode;
pub mod gguf;
pub mod ingest;
pub mod model;
#[cfg(feature = "test-support")]
pub mod test_support;

use decode::{Decoder, OpenError};
use ingest::Ingest;
use model::Model;

/// Reads a complete stream.
///
/// # Errors
/// [`OpenError`] when the bytes are not a stream that this build reads. Damage after the hello is
/// not an error: it is in [`model::Health`].
pub fn read(bytes: &[u8]) -> Result<Model, OpenError> {
    let mut decoder = Decoder::new();
    let mut ingest = Ingest::new();
    decoder.feed(bytes, &mut |found| ingest.found(&found))?;
    decoder.finish(&mut |found| ingest.found(&found))?;
    Ok(ingest.finish())
}
