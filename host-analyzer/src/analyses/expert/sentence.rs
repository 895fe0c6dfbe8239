//! What the figures of a context say, in a sentence for people: figures only, and beside each what it would be without a pattern.

use super::Figures;
use crate::analyses::phase::Phase;
use crate::analyses::words::size;

pub(super) fn sentence(phase: Phase, f: &Figures) -> Option<String> {
    if phase != Phase::Decode || f.uses == 0 {
        return None;
    }
    let mut parts = Vec::new();
    if let Some(bytes) = f.bytes_per_batch {
        parts.push(format!("a token reads {} of experts' weights", size(bytes.round() as u64)));
    }
    if let Some(share) = f.reuse.as_ref().and_then(|r| r.share) {
        parts.push(format!("{} of a token's experts are those of the token before", percent(share)));
    }
    // The largest of the pins: what half of the memory would be worth.
    let pin = f.pins.last().and_then(|p| Some((p, p.share?, p.even_share?)));
    if let Some((pin, share, even)) = pin {
        let bytes = pin.bytes.map_or(String::new(), |b| format!(" ({})", size(b)));
        parts.push(format!(
            "the most used half of each layer's experts{bytes} served {} of the uses, of an even choice it would be {}",
            percent(share),
            percent(even)
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
