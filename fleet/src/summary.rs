//! `summary.json`: foreign bytes, of which any field may be absent or of another kind.
//!
//! Stage: first. From: bytes. To: values by path. Promises: never panics; what is not there or not of the kind is `None`.

use serde_json::Value;

/// The version of the file that is understood.
const SCHEMA: i64 = 2;

/// Why a file is not taken.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    /// Not JSON.
    #[error("it is not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
    /// JSON of something else.
    #[error("it has no session: it is not a summary.json of `analyze`")]
    NotASummary,
    /// Of another version.
    #[error("its schema is {0}, and this program reads {SCHEMA}")]
    Schema(i64),
}

/// Takes the bytes of a `summary.json`.
///
/// # Errors
/// What it is instead.
pub(crate) fn parse(bytes: &[u8]) -> Result<Value, Refused> {
    let json: Value = serde_json::from_slice(bytes)?;
    let schema = int(&json, "schema").ok_or(Refused::NotASummary)?;
    if schema != SCHEMA {
        return Err(Refused::Schema(schema));
    }
    if at(&json, "session").is_some_and(Value::is_object) { Ok(json) } else { Err(Refused::NotASummary) }
}

/// The value at a path of keys, separated by dots.
pub(crate) fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, key| value.get(key))
}

/// The integer there, if it fits.
pub(crate) fn int(value: &Value, path: &str) -> Option<i64> {
    at(value, path)?.as_i64()
}

/// The number there, if it is finite.
pub(crate) fn float(value: &Value, path: &str) -> Option<f64> {
    at(value, path)?.as_f64().filter(|f| f.is_finite())
}

/// The text there, if it is not empty. NUL, which some readers of Parquet end texts at, becomes a space.
pub(crate) fn text(value: &Value, path: &str) -> Option<String> {
    at(value, path)?.as_str().filter(|t| !t.is_empty()).map(|t| t.replace('\0', " "))
}

/// The truth there.
pub(crate) fn flag(value: &Value, path: &str) -> Option<bool> {
    at(value, path)?.as_bool()
}

/// The list there; empty if there is none.
pub(crate) fn list<'a>(value: &'a Value, path: &str) -> &'a [Value] {
    at(value, path).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn anything_else_is_refused_by_name() {
        let says = |bytes: &[u8]| parse(bytes).expect_err("refused").to_string();
        assert!(says(b"\xff\x00").contains("not JSON"));
        assert!(says(&b"[".repeat(100_000)).contains("not JSON"));
        assert!(says(b"[]").contains("no session"));
        assert!(says(b"{\"schema\": 2, \"session\": 7}").contains("no session"));
        assert!(says(b"{\"schema\": 3, \"session\": {}}").contains("schema is 3"));
    }

    #[test]
    fn other_kinds_are_not_there() {
        let json =
            parse(br#"{"schema": 2, "session": {"a": 1.5, "b": "", "c": 18446744073709551615, "d": [1]}}"#)
                .expect("taken");
        assert_eq!(int(&json, "session.a"), None);
        assert_eq!(float(&json, "session.a"), Some(1.5));
        assert_eq!(text(&json, "session.b"), None);
        assert_eq!(int(&json, "session.c"), None);
        assert_eq!(list(&json, "session.d").len(), 1);
        assert!(list(&json, "session.d.e").is_empty());
    }
}
