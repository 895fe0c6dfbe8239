//! What the figures of a context say, in a sentence for people: figures only, and beside a share what it would be by chance.

use super::size;
use profinfer_analysis::expert::Routing;
use profinfer_analysis::phase::Phase;

/// The sentence; `None` when the figures say nothing.
#[must_use]
pub fn sentence(routing: &Routing) -> Option<String> {
    let f = &routing.whole;
    if routing.phase != Phase::Decode || f.uses == 0 {
        return None;
    }
    let mut parts = Vec::new();
    if let Some(bytes) = f.bytes_per_batch {
        parts.push(format!("a token reads {} of experts' weights", size(bytes.round() as u64)));
    }
    let reuse = f.reuse.as_ref().and_then(|r| r.share.zip(r.even_share));
    if let Some((share, even)) = reuse {
        parts.push(format!(
            "{} of a token's experts are those of the token before (by chance {})",
            percent(share),
            percent(even)
        ));
    }
    // The largest of the pins, by experts that were picked before the uses that they are measured by.
    let pin = f.pins.last().and_then(|p| Some((p, p.ahead_share?, p.even_share?)));
    if let Some((pin, share, even)) = pin {
        let bytes = pin.bytes.map_or(String::new(), |b| format!(" ({})", size(b)));
        parts.push(format!(
            "half of each layer's experts{bytes}, those that the first half of the tokens used most, served {} of the uses \
             of the second (by chance {})",
            percent(share),
            percent(even)
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
