//! `report.html`: one page with everything in it.
//!
//! Stage: view. From: the other views' bytes and the built page. To: HTML. Promises: the data is embedded as
//! JSON in which no `<` occurs, so that no text from the traced process can end its element or open another;
//! the page loads nothing. Its program is in `report/`, built into `report/dist/report.html`.

mod pack;

use std::io::{self, Write};

use super::foreign::Embedded;
use super::report_timeline;
use profinfer_analysis::Analysis;
use profinfer_trace::model::Model;

/// The page, with a mark where the data goes. `report/tools/build.mjs` makes it.
const PAGE: &str = include_str!("../../page/dist/report.html");
const MARK: &str = "<!--profinfer:data-->";

/// One of the JSON views.
type View = fn(&Model, &Analysis, &mut dyn Write) -> io::Result<()>;

/// Writes the report.
///
/// # Errors
/// Those of `out`.
pub fn report(model: &Model, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    let (head, tail) = PAGE.split_once(MARK).unwrap_or((PAGE, ""));
    out.write_all(head.as_bytes())?;
    // The timeline is as short as it can be already.
    let blocks: [(&str, View, bool); 3] = [
        ("summary", super::summary::summary, true),
        ("dag", super::dag::dag, true),
        ("timeline", report_timeline::report_timeline, false),
    ];
    for (id, view, tables) in blocks {
        write!(out, "<script type=\"application/json\" id=\"{id}\">")?;
        if tables {
            let mut bytes = Vec::new();
            view(model, analysis, &mut bytes)?;
            pack::pack(&bytes, Embedded(out))?;
        } else {
            view(model, analysis, &mut Embedded(out))?;
        }
        out.write_all(b"</script>\n")?;
    }
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
