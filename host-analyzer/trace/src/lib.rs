//! Reads a ProfInfer recording: from the bytes of a stream, cut or damaged anywhere, to tables.
//!
//! ```text
//! bytes ─▶ decode ─▶ ingest ─▶ model
//!          records    order,    tables
//!          or damage  meaning
//! ```
//!
//! `examples/operators.rs` prints the time of each operator type of a recording in 30 lines.
//!
//! `decode` uses the wire only and never opens a file; `model` uses nothing of ours, so that a second version of the wire cannot leak into an
//! analysis; `gguf` reads the header of a model's file into the tables of `model`, for predictions.

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
/// When the bytes are not a stream that this build reads. Damage after the hello is no error: it is in
/// [`model::Health`].
pub fn read(bytes: &[u8]) -> Result<Model, OpenError> {
    let mut decoder = Decoder::new();
    let mut ingest = Ingest::new();
    decoder.feed(bytes, &mut |found| ingest.found(&found))?;
    decoder.finish(&mut |found| ingest.found(&found))?;
    Ok(ingest.finish())
}
