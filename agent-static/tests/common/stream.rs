//! The agent's stream into a file.

use std::fs::{self, File};
use std::path::Path;

use profinfer_agent::link::Output;
use profinfer_agent::link::emit::Emitter;
use profinfer_agent::link::output::Kind;
use profinfer_trace::model::Model;

/// Starts a stream into a new file.
pub(crate) fn begin(out: &Path) -> Emitter {
    let output = Output::new(File::create(out).unwrap(), Kind::File, "the test").unwrap();
    Emitter::begin(output, [7; 16])
}

/// Flushes the stream and reads the file as the host does.
pub(crate) fn finish(mut emit: Emitter, out: &Path) -> Model {
    emit.flush();
    profinfer_trace::read(&fs::read(out).unwrap()).unwrap()
}
