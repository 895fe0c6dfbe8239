//! Reads `summary.json` into the struct of `profinfer-schema`.
//!
//! Stage: first. From: foreign bytes. To: a [`Summary`]. Promises: never panics; names the missing
//! or wrong field of a file that it refuses.

use profinfer_schema::{SCHEMA, Summary};
use serde::Deserialize;

/// Why a file is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    #[error("not JSON: {0}")]
    NotJson(serde_json::Error),
    /// Other JSON.
    #[error("not a summary.json of `analyze`: {0}")]
    NotASummary(serde_json::Error),
    /// Another version.
    #[error("the schema is {0}, but this program reads {SCHEMA}")]
    Schema(u32),
}

/// The fields of every version.
#[derive(Deserialize)]
struct Head {
    schema: u32,
}

/// Parses the bytes of a `summary.json`.
///
/// # Errors
///
/// What the bytes are instead.
pub(crate) fn parse(bytes: &[u8]) -> Result<Summary, Refused> {
    let refused = |e: serde_json::Error| match e.classify() {
        serde_json::error::Category::Data => Refused::NotASummary(e),
        _ => Refused::NotJson(e),
    };
    // Check the version first: with another one, all other fields can differ.
    let head: Head = serde_json::from_slice(bytes).map_err(refused)?;
    if head.schema != SCHEMA {
        return Err(Refused::Schema(head.schema));
    }
    serde_json::from_slice(bytes).map_err(refused)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn says(bytes: &[u8]) -> String {
        parse(bytes).expect_err("refused").to_string()
    }

    fn empty() -> Value {
        serde_json::to_value(Summary { schema: SCHEMA, ..Summary::default() }).expect("JSON")
    }

    #[test]
    fn anything_else_is_refused_by_name() {
        assert!(says(b"\xff\x00").contains("not JSON"));
        assert!(says(&b"[".repeat(100_000)).contains("not a summary.json"));
        assert!(says(b"[]").contains("not a summary.json"));
        assert!(says(b"{\"schema\": 2, \"session\": 7}").contains("not a summary.json"));
        assert!(says(b"{\"schema\": 3, \"session\": {}}").contains("schema is 3"));
    }

    #[test]
    fn what_is_missing_or_of_another_type_is_named() {
        let mut summary = empty();
        assert!(parse(summary.to_string().as_bytes()).is_ok());
        summary["session"]["cpus"] = json!("4");
        assert!(says(summary.to_string().as_bytes()).contains("expected u16"));
        summary["session"].as_object_mut().expect("an object").remove("cpus");
        assert!(says(summary.to_string().as_bytes()).contains("missing field `cpus`"));
    }

    /// Current captures have no draft mark; those of later versions have more fields and values.
    #[test]
    fn older_and_newer_summaries_are_read() {
        let mut summary = empty();
        summary.as_object_mut().expect("an object").remove("draft");
        summary["later"] = json!([1, {"x": null}]);
        summary["ending"]["code"] = json!("vanished");
        summary["findings"]["headline"]["slowdown"] = json!({"kind": "guessed", "by": 7});
        let read = parse(summary.to_string().as_bytes()).expect("read");
        assert!(read.draft);
        assert_eq!(read.ending.code, profinfer_schema::EndingCode::Newer("vanished".to_owned()));
        assert_eq!(read.findings.headline.slowdown, profinfer_schema::Slowdown::Newer);
    }
}
