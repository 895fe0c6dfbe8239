//! The keys of a JSON document, for the tests that hold them to docs/output-schema.md.

use std::collections::BTreeSet;

use serde_json::Value;

/// Adds the keys of all objects in a value.
pub(crate) fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                found.insert(key.clone());
                keys(value, found);
            }
        }
        Value::Array(rows) => rows.iter().for_each(|row| keys(row, found)),
        _ => {}
    }
}
