//! `report.html`: one page that contains all results.
//!
//! Stage: view. From: the bytes of other views and the built page. To: HTML. Promises: the page loads
//! nothing. Its program is in `page/`, built into `page/dist/report.html`.

use std::io::{self, Write};

use super::{dag, page_data, summary, timeline};
use profinfer_analysis::Analysis;
use profinfer_trace::model::Model;

/// The page, with a mark for the data. `page/tools/build.mjs` builds it.
const PAGE: &str = include_str!("../page/dist/report.html");
const MARK: &str = "<!--profinfer:data-->";

/// Writes the report.
///
/// # Errors
/// Those of `out`.
pub fn report(model: &Model, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let (head, tail) = PAGE.split_once(MARK).unwrap_or((PAGE, ""));
    out.write_all(head.as_bytes())?;
    page_data::element("summary", out, |to| summary::summary(model, analysis, to))?;
    page_data::element("dag", out, |to| dag::dag(model, analysis, to))?;
    page_data::element("timeline", out, |to| timeline::page::page(model, analysis, to))?;
    out.write_all(tail.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_one_place_for_data() {
        assert_eq!(PAGE.matches(MARK).count(), 1);
    }
}
