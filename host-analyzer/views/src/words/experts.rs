//! The sentence about the experts of a context: figures only, each share with its value by chance.

use super::size;
use profinfer_analysis::expert::Routing;
use profinfer_analysis::phase::Phase;

/// The sentence; `None` without figures.
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
            "{} of a token's experts are those of the previous token (by chance {})",
            percent(share),
            percent(even)
        ));
    }
    // The largest pin. Its experts were picked before the uses that measure it.
    let pin = f.pins.last().and_then(|p| Some((p, p.ahead_share?, p.even_share?)));
    if let Some((pin, share, even)) = pin {
        let bytes = pin.bytes.map_or(String::new(), |b| format!(" ({})", size(b)));
        parts.push(format!(
            "the half of each layer's experts{bytes} that the first half of the tokens used most served {} of the uses \
             of the second half (by chance {})",
            percent(share),
            percent(even)
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
