//! Experts: number, balance and reuse, and the most used experts of each layer.

use ratatui::text::Line;

use super::screen::Seen;
use super::table::Table;
use crate::terminal::style::{percent, wrapped};
use crate::words::{self, count, size};
use profinfer_analysis::expert::{Figures, RoutedLayer};

/// Maximum number of experts named per layer.
const NAMED: usize = 5;

/// A line per phase, then a line per layer of the first phase.
pub(super) fn lines(seen: &Seen, width: usize) -> Vec<Line<'static>> {
    let all = &seen.analysis.expert;
    let Some(first) = all.first() else {
        let text =
            "No router selected experts in this window: the model has none, or the expert level is off.";
        return vec![Line::raw(text)];
    };
    let mut t =
        Table::new(&["experts", "used of all", "per batch", "weights", "balance", "of previous token"]);
    for r in all {
        t.row([vec![words::phase_name(r.phase).to_owned()], figures(&r.whole)].concat());
    }
    for layer in &first.layers {
        let name = layer.layer.map_or_else(|| words::one_line(&layer.name), |n| format!("layer {n}"));
        t.row([vec![format!("  {name}")], figures(&layer.figures)].concat());
    }
    let mut lines = t.lines(width);
    // The most used experts, next to the figures of their layer.
    for (line, layer) in lines.iter_mut().skip(1 + all.len()).zip(&first.layers) {
        let text = format!("{line}  {}", most_used(layer));
        if text.chars().count() <= width {
            *line = Line::raw(text);
        }
    }
    for sentence in all.iter().filter_map(words::experts::sentence) {
        lines.extend(wrapped(&sentence, width).into_iter().map(Line::raw));
    }
    lines
}

fn figures(f: &Figures) -> Vec<String> {
    let none = || "–".to_owned();
    vec![
        format!("{} of {}", count(f.n_expert.saturating_sub(f.never_used)), count(f.n_expert)),
        f.distinct_per_batch.map_or_else(none, |n| format!("{n:.1}")),
        f.bytes_per_batch.map_or_else(none, |n| size(n.round() as u64)),
        f.balance.map_or_else(none, |b| format!("{b:.3}")),
        f.reuse.as_ref().and_then(|r| r.share).map_or_else(none, percent),
    ]
}

/// Numbers of the experts, the most used first.
fn most_used(layer: &RoutedLayer) -> String {
    let mut uses: Vec<(u64, usize)> =
        layer.expert_uses.iter().copied().zip(0..).filter(|u| u.0 > 0).collect();
    uses.sort_by_key(|(n, expert)| (std::cmp::Reverse(*n), *expert));
    let named: Vec<_> = uses.iter().take(NAMED).map(|(_, expert)| expert.to_string()).collect();
    format!("most: {}", named.join(" "))
}
