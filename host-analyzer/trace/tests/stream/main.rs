//! From bytes to a model: streams made by hand from docs/wire-format.md: intact, out of order,
//! damaged in every way that links damage them, and hostile.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod ceilings;
mod cpu_use;
mod cut;
mod duty;
mod experts;
mod facts;
mod faults;
mod gauges;
mod graphs;
mod hostile;
mod lossy;
mod newer;
mod noise;
mod older;
mod open;
mod order;
mod partial;
mod parts;
mod real;
mod reasons;
mod received;
mod sched;
mod weights;
mod whole;
mod whole_session;

use profinfer_trace::decode::{Decoder, Found, OpenError};
use profinfer_trace::ingest::Ingest;
use profinfer_trace::model::Model;

/// The model of a stream that is passed in pieces of `piece` bytes.
fn read(bytes: &[u8], piece: usize) -> Result<Model, OpenError> {
    let (mut decoder, mut ingest) = (Decoder::new(), Ingest::new());
    for part in bytes.chunks(piece) {
        decoder.feed(part, &mut |found: Found<'_>| ingest.found(&found))?;
    }
    decoder.finish(&mut |found| ingest.found(&found))?;
    Ok(ingest.finish())
}

/// The end of the last frame or damage: zeros after it belong to nothing.
fn without_last_zeros(bytes: &[u8]) -> u64 {
    let zeros = bytes.iter().rev().take_while(|b| **b == 0).count() as u64;
    // The first of them ends the bytes before it.
    bytes.len() as u64 - zeros.saturating_sub(1)
}

/// All views that are written for every session, to memory.
fn write_views(model: &Model) {
    use profinfer_views as views;
    let analysis = profinfer_analysis::Analysis::compute(model);
    assert!(!analysis.health.remarks.is_empty(), "health is never silent");
    let mut bytes = Vec::new();
    let out = &mut bytes;
    views::summary::summary(model, &analysis, out).unwrap();
    views::dag::dag(model, &analysis, out).unwrap();
    views::dot::dot(model, &analysis, out).unwrap();
    views::chrome::chrome(model, &analysis, out).unwrap();
    views::perfetto::perfetto(model, &analysis, out).unwrap();
    views::terminal::terminal(model, &analysis, out).unwrap();
    views::report::report(model, &analysis, out).unwrap();
    assert!(!bytes.is_empty());
}
