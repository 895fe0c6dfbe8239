//! Rows of operator probes and of the controller: the stretches that reach into the window.

use super::{Kind, Row, number};
use crate::timeline::label::Value;
use crate::timeline::probes::{label, tracks};
use profinfer_analysis::Analysis;
use profinfer_analysis::duty::stretches::What;
use profinfer_trace::model::Model;

/// One row for each track: start, which may lie before the window, length, text (index into `labels`), and 0 on, 1 switching, 2 step.
pub(super) fn rows(
    model: &Model,
    analysis: &Analysis,
    (from, to): (u64, u64),
    labels: &mut Vec<String>,
) -> Vec<Row> {
    let mut rows = Vec::new();
    for track in tracks(model, analysis, 0) {
        let mut slices = Vec::new();
        for s in track.stretches.iter().filter(|s| s.end_ns > from && s.start_ns < to) {
            let start = number(s.start_ns).saturating_sub(number(from));
            let code = match s.what {
                What::On(_) => 0,
                What::PuttingIn(_) | What::TakingOut(_) => 1,
                What::Step(_) => 2,
            };
            slices.extend([
                start,
                number(s.end_ns - s.start_ns),
                number(text(analysis, s.what, labels)),
                code,
            ]);
        }
        if !slices.is_empty() {
            let (process, track) = (track.process, track.name.to_owned());
            rows.push(Row { kind: Kind::Probes, process, track, slices });
        }
    }
    rows
}

/// The place of the words of a stretch among the labels.
fn text(analysis: &Analysis, what: What, labels: &mut Vec<String>) -> usize {
    let label = label(analysis, what);
    let why = label.args.iter().map(|(_, value)| match value {
        Value::Text(text) => text.clone(),
        Value::Number(n) => n.to_string(),
    });
    let text = std::iter::once(label.name.clone()).chain(why).collect::<Vec<_>>().join(": ");
    labels.iter().position(|l| *l == text).unwrap_or_else(|| {
        labels.push(text);
        labels.len() - 1
    })
}
