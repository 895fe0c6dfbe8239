//! The folders of a capture, in the layout of Hive: `board=B/engine=E/model=M/date=D`.

use datafusion::arrow::temporal_conversions::timestamp_ns_to_datetime;
use profinfer_schema::Summary;

use super::column::text;
use super::{captures, identity};

/// Columns that are folders, from the outer to the inner one.
pub(crate) const COLUMNS: [&str; 4] = ["board", "engine", "model", "date"];

/// Maximum size of an escaped value, bytes: a folder name has at most 255, with the name of the
/// column.
const LONGEST: usize = 120;

/// The folders of a capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Partition([String; 4]);

impl Partition {
    pub(super) fn from_summary(summary: &Summary) -> Self {
        let start = i64::try_from(summary.session.start_unix_ns).ok();
        let date = start.and_then(timestamp_ns_to_datetime);
        let values = [
            text(&summary.session.board),
            captures::engine_label(summary),
            identity::model_file(summary),
            date.map(|d| d.date().to_string()),
        ];
        Self(values.map(|v| escape(v.as_deref().unwrap_or("unknown"))))
    }

    /// The path below a table, without `/` at the ends.
    pub(crate) fn path(&self) -> String {
        let folders = COLUMNS.iter().zip(&self.0).map(|(column, value)| format!("{column}={value}"));
        folders.collect::<Vec<_>>().join("/")
    }
}

/// A value as a folder name. Bytes other than ASCII letters, digits, `.`, `_` and `-` become `!`
/// and two hex digits; a long value ends in a digest. No reader of the Hive layout decodes that, so
/// all readers show the same, and two values stay different.
pub(crate) fn escape(value: &str) -> String {
    use std::fmt::Write;
    let mut escaped = String::new();
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' => escaped.push(char::from(byte)),
            _ => drop(write!(escaped, "!{byte:02X}")),
        }
    }
    if escaped.len() > LONGEST {
        escaped = format!("{}!!{}", &escaped[..LONGEST - 34], identity::digest(value.as_bytes()));
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_value_is_the_name_of_one_folder() {
        assert_eq!(escape("rk3588"), "rk3588");
        assert_eq!(escape("0.7.0+dfsg-2 (b11669)"), "0.7.0!2Bdfsg-2!20!28b11669!29");
        assert_eq!(escape("../../etc"), "..!2F..!2Fetc");
        assert_eq!(escape("a=b/%2F\0'"), "a!3Db!2F!252F!00!27");
        assert_eq!(escape("ü"), "!C3!BC");
        let (long, other) = ("ü".repeat(500), format!("{}x", "ü".repeat(500)));
        assert!(escape(&long).len() <= LONGEST && escape(&long) != escape(&other));
    }
}
