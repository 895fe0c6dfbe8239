//! Lists of like objects as columns, so that the page carries each name once: a long session has thousands of rows.
//!
//! `report/src/data/unpack.ts` makes the same lists of it again. A list becomes `{"~": rows, "c": {name: column}}`. A column is a
//! list of its values, or the shortest of these that applies: `{"=": value}` for one value in all rows, `{"t": table}` for objects,
//! `{"l": lengths, "t": table}` for lists of objects, `{"d": texts, "i": positions}` for few different texts.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

/// Shorter lists stay as they are.
const LEAST: usize = 8;

/// The value, with every list of like objects in it packed.
pub(super) fn pack(value: Value) -> Value {
    match value {
        Value::Array(rows) if rows.len() >= LEAST && alike(&rows) => table(rows),
        Value::Array(rows) => Value::Array(rows.into_iter().map(pack).collect()),
        Value::Object(fields) => Value::Object(fields.into_iter().map(|(k, v)| (k, pack(v))).collect()),
        other => other,
    }
}

/// All are objects with the same fields.
fn alike(rows: &[Value]) -> bool {
    let Some(first) = rows.first().and_then(Value::as_object) else { return false };
    rows.iter().all(|row| row.as_object().is_some_and(|row| row.keys().eq(first.keys())))
}

fn table(rows: Vec<Value>) -> Value {
    let n = rows.len();
    let mut columns: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for row in rows {
        let Value::Object(fields) = row else { continue };
        for (name, value) in fields {
            columns.entry(name).or_insert_with(|| Vec::with_capacity(n)).push(value);
        }
    }
    let columns: Map<String, Value> =
        columns.into_iter().map(|(name, values)| (name, column(values))).collect();
    json!({ "~": n, "c": columns })
}

fn column(values: Vec<Value>) -> Value {
    if values.iter().all(|v| *v == values[0]) {
        return json!({ "=": values[0] });
    }
    if alike(&values) {
        return json!({ "t": table(values) });
    }
    if values.iter().all(Value::is_array) {
        let lengths: Vec<usize> = values.iter().map(|v| v.as_array().map_or(0, Vec::len)).collect();
        let flat: Vec<&Value> = values.iter().filter_map(Value::as_array).flatten().collect();
        if flat.iter().all(|v| v.is_object()) && flat.windows(2).all(|w| same_fields(w[0], w[1])) {
            let all = flat.into_iter().cloned().collect();
            return json!({ "l": lengths, "t": table(all) });
        }
    }
    texts(&values).unwrap_or(Value::Array(values))
}

fn same_fields(a: &Value, b: &Value) -> bool {
    a.as_object().zip(b.as_object()).is_some_and(|(a, b)| a.keys().eq(b.keys()))
}

/// Each text once, if that is worth it.
fn texts(values: &[Value]) -> Option<Value> {
    let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
    let mut known = Vec::new();
    let mut positions = Vec::with_capacity(values.len());
    for value in values {
        let text = value.as_str()?;
        positions.push(*ids.entry(text).or_insert_with(|| {
            known.push(text);
            known.len() - 1
        }));
    }
    (known.len() * 2 <= values.len()).then(|| json!({ "d": known, "i": positions }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_objects_become_columns() {
        let row = |n: u64| json!({"n": n, "op": if n.is_multiple_of(2) { "ADD" } else { "MUL" }, "pid": 7, "work": {"bytes": n * 2}, "src": [{"name": n}]});
        let rows: Vec<Value> = (0..8).map(row).collect();
        let columns = json!({
            "n": [0, 1, 2, 3, 4, 5, 6, 7],
            "op": {"d": ["ADD", "MUL"], "i": [0, 1, 0, 1, 0, 1, 0, 1]},
            "pid": {"=": 7},
            "work": {"t": {"~": 8, "c": {"bytes": [0, 2, 4, 6, 8, 10, 12, 14]}}},
            "src": {"l": [1, 1, 1, 1, 1, 1, 1, 1], "t": {"~": 8, "c": {"name": [0, 1, 2, 3, 4, 5, 6, 7]}}},
        });
        assert_eq!(pack(json!({ "rows": rows })), json!({"rows": {"~": 8, "c": columns}}));
    }

    #[test]
    fn what_is_not_alike_stays() {
        let mut rows: Vec<Value> = (0..9).map(|n| json!({ "n": n })).collect();
        rows.push(json!({"n": 1, "more": 2}));
        for value in [json!(rows), json!([1, 2, 3]), json!({"a": null}), json!([{"n": 1}])] {
            assert_eq!(pack(value.clone()), value);
        }
    }
}
