//! Notes on a table of operators: the tokens it covers, what was left out, and the time that probes
//! add.

use std::io;

use super::style::Sheet;
use crate::words;
use profinfer_analysis::Analysis;
use profinfer_analysis::capture::Capture;
use profinfer_analysis::phase::Phase;

/// Writes what a table of `phase` covers, if that is less than all operators of all tokens.
pub(super) fn write_part(analysis: &Analysis, phase: Phase, out: &mut Sheet<'_>) -> io::Result<()> {
    let capture = &analysis.capture;
    if let Some(part) = capture.part(phase) {
        out.sentence(&format!(
            "{}; sums cover these only and are not scaled",
            words::capture::from_part(part)
        ))?;
    }
    write_filters(capture, out)?;
    if capture.ends == "none" {
        out.sentence(words::capture::WITHOUT_ENDS)?;
    }
    Ok(())
}

/// Writes what passed the filters: everything else is missing in the table above, and is not 0.
pub(super) fn write_filters(capture: &Capture, out: &mut Sheet<'_>) -> io::Result<()> {
    for filter in capture.filters.iter().filter(|f| f.refused.is_none()) {
        out.sentence(&words::capture::only(filter))?;
    }
    Ok(())
}

/// Writes the time that its probe adds to each operator, and the types for which it matters.
pub(super) fn write_bias(analysis: &Analysis, out: &mut Sheet<'_>) -> io::Result<()> {
    let Some(ns) = analysis.cost.probe_inside_ns.filter(|ns| *ns > 0) else { return Ok(()) };
    if analysis.op.types.is_empty() {
        return Ok(());
    }
    out.sentence(&words::capture::bias(ns, &analysis.op.types))
}
