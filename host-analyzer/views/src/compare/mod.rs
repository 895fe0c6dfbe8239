//! `compare.json` and `compare.html`: two sides of runs, with verdict, gate, runs and rows.
//!
//! Stage: view. From: a comparison and the user's names. To: `profinfer_schema::Comparison`, and a
//! page that contains it. Promises: the codes are stable; the page loads nothing.

mod json;

use std::io::{self, Write};

use super::page_data;
use profinfer_analysis::compare::Comparison;

pub use json::document;

/// What a person called the sides and their runs.
#[derive(Debug, Clone, Default)]
pub struct Names {
    pub sides: [String; 2],
    /// By side.
    pub runs: [Vec<String>; 2],
}

/// The page, with a mark for the data. `page/tools/build.mjs` builds it.
const PAGE: &str = include_str!("../../page/dist/compare.html");
const MARK: &str = "<!--profinfer:data-->";

/// Writes `compare.json`.
///
/// # Errors
/// Those of `out`.
pub fn json(comparisons: &[Comparison], names: &Names, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &json::document(comparisons, names))?;
    out.write_all(b"\n")
}

/// Writes `compare.html`.
///
/// # Errors
/// Those of `out`.
pub fn page(comparisons: &[Comparison], names: &Names, out: &mut dyn Write) -> io::Result<()> {
    let (head, tail) = PAGE.split_once(MARK).unwrap_or((PAGE, ""));
    out.write_all(head.as_bytes())?;
    let document = json::document(comparisons, names);
    page_data::element("comparison", out, |to| Ok(serde_json::to_writer(to, &document)?))?;
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
