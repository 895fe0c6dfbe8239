//! What options and filters excluded, and the cost of capturing. Nothing here is lost, but a reader
//! of any figure must know it.

use super::remark::Remark;
use crate::results::capture::Capture;
use crate::results::duty::Slowdown;
use profinfer_trace::model::{Ends, Model};

pub(super) fn left_out(model: &Model, capture: &Capture, slowdown: &Slowdown, found: &mut Vec<Remark>) {
    let c = &model.capture;
    found.extend(c.refused.iter().map(|(option, why)| Remark::OptionRefused(*option, *why)));
    for filter in &c.filters {
        found.push(match filter.refused {
            Some(why) => Remark::FilterRefused { filter: filter.clone(), why },
            None => Remark::Filtered(filter.clone()),
        });
    }
    if capture.spans_filtered > 0 {
        found.push(Remark::LeftOut { spans: capture.spans_filtered });
    }
    if c.ends == Ends::None && !model.spans.is_empty() {
        found.push(Remark::WithoutEnds);
    }
    let parts: Vec<_> = capture.coverage.iter().filter(|c| c.coverage.partial()).copied().collect();
    if !parts.is_empty() {
        found.push(Remark::PartOfTokens(parts));
    }
    if let Slowdown::Measured(measured) = slowdown {
        found.push(Remark::Slowdown(*measured));
    }
    if !capture.steps.is_empty() {
        found.push(Remark::Controller(capture.steps.clone()));
    }
}
