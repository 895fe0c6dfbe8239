//! The host: from the bytes of a stream to views.
//!
//! ```text
//! bytes ─▶ decode ─▶ ingest ─▶ model ─▶ analyses ─▶ findings ─▶ views ─▶ files, terminal
//!          records    order,    tables   pure         rules        bytes
//!          or damage  meaning            functions
//! ```
//!
//! `gguf` reads the header of a model's file into the tables of `model`, for predictions.
//!
//! Borders, held by `tests/borders.rs`: `decode` uses the wire only and never opens a file; `ingest`
//! uses wire, decode and model; `model` uses nothing of ours, so a second wire version cannot leak into
//! a view; `analyses` use the model; `findings` judge by model and analyses; `views` use these three and compute
//! nothing that they should; only `commands` knows clap, files, sockets and the terminal.

pub mod analyses;
pub mod commands;
pub mod decode;
pub mod findings;
pub mod gguf;
pub mod ingest;
pub mod model;
pub mod views;

use decode::{Decoder, OpenError};
use ingest::Ingest;
use model::Model;

/// Reads a whole stream.
///
/// # Errors
/// When the bytes are not a stream that this build reads. Damage behind the hello is no error: it is in
/// [`model::Health`].
pub fn read(bytes: &[u8]) -> Result<Model, OpenError> {
    let mut decoder = Decoder::new();
    let mut ingest = Ingest::new();
    decoder.feed(bytes, &mut |found| ingest.found(&found))?;
    decoder.finish(&mut |found| ingest.found(&found))?;
    Ok(ingest.finish())
}
