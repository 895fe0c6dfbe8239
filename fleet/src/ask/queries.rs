//! Prepared SQL, for this engine and others: `fleet queries` prints it.
//!
//! Uses only what DataFusion and Spark both understand. Floats have an exponent, because `0.5` is a
//! decimal in Spark. The order of nulls is explicit. Texts have no characters that one of them
//! escapes.

use profinfer_cli::{Diagnostic, Result};

use crate::rows::{Table, partition};

pub(super) const NAMES: [&str; 4] = ["trend", "regressions", "ranking", "outliers"];

/// Queries that other engines need in addition: the captures of each series, and the visible
/// tables.
pub(super) const OTHERS: [&str; 3] = ["series", "operators", "findings"];

/// The text in each query where the selection of captures begins.
const CHOSEN: &str = "WHERE tokens_per_s";

/// A query by its name, for one board or for all.
///
/// # Errors
///
/// If no query has the name.
pub(super) fn sql(name: &str, board: Option<&str>) -> Result<String> {
    let text = match name {
        "trend" => include_str!("trend.sql").to_owned(),
        "regressions" => include_str!("regressions.sql").to_owned(),
        "ranking" => include_str!("ranking.sql").to_owned(),
        "outliers" => include_str!("outliers.sql").to_owned(),
        "series" => include_str!("series.sql").to_owned(),
        "operators" => visible(Table::Operators),
        "findings" => visible(Table::Findings),
        _ => {
            let known = NAMES.iter().chain(&OTHERS).copied().collect::<Vec<_>>().join(", ");
            return Err(Diagnostic::new(
                format!("looking for the query {name}"),
                "no query has this name",
                format!("use one of {known}"),
            ));
        }
    };
    let text = text.trim_end();
    Ok(match board {
        // An escaped value contains no quotes and no backslashes.
        Some(board) => {
            text.replace(CHOSEN, &format!("WHERE board = '{}' AND tokens_per_s", partition::escape(board)))
        }
        None => text.to_owned(),
    })
}

/// The table with the rows of all files. For captures, these are the visible rows.
pub(super) const fn files_of(table: Table) -> &'static str {
    match table {
        Table::Captures => "captures",
        Table::Operators => "operator_rows",
        Table::Findings => "finding_rows",
    }
}

/// Rows whose capture exists. Files of a killed writer, or of a second one, belong to no capture.
pub(super) fn visible(table: Table) -> String {
    let keys = partition::COLUMNS.iter().map(|c| format!("r.{c} = c.{c}")).collect::<Vec<_>>().join(" AND ");
    format!(
        "SELECT r.* FROM {} r LEFT SEMI JOIN captures c ON r.digest = c.digest AND {keys}",
        files_of(table)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_query_can_be_of_one_board() {
        for name in NAMES.iter().chain(&["series"]) {
            let all = sql(name, None).expect("a query");
            assert_eq!(all.matches(CHOSEN).count(), 1, "{name}");
            let one = sql(name, Some("a'b")).expect("a query");
            assert!(one.contains("WHERE board = 'a!27b' AND tokens_per_s > 0e0"), "{one}");
        }
        assert!(sql("drop", None).is_err());
    }
}
