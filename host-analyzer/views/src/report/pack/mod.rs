//! Lists of like objects as columns, so that the page carries each name once: a long session has thousands of rows.
//!
//! `report/src/data/unpack.ts` makes the same lists of it again. A list becomes `{"~": rows, "c": {name: column}}`. A column is a
//! list of its values, or the shortest of these that applies: `{"=": value}` for one value in all rows, `{"t": table}` for objects,
//! `{"l": lengths, "t": table}` for lists of objects, `{"d": texts, "i": positions}` for few different texts.
//!
//! A view's text is read once, and rows go into columns while they are read (`read`), so that no tree of maps is made of them.

mod node;
mod read;
mod write;

use std::io::{self, Write};

/// Shorter lists stay as they are.
const LEAST: usize = 8;

/// Writes the JSON `text`, with every list of like objects in it packed.
///
/// # Errors
/// Those of `out`, and a text that is not JSON.
pub(super) fn pack(text: &[u8], out: impl Write) -> io::Result<()> {
    let mut lists = node::Lists::default();
    let root = read::read(text, &mut lists)?;
    write::Writer { lists: &lists, out }.packed(root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn packed(value: &Value) -> Value {
        let mut out = Vec::new();
        pack(value.to_string().as_bytes(), &mut out).unwrap_or_default();
        serde_json::from_slice(&out).unwrap_or_default()
    }

    #[test]
    fn like_objects_become_columns() {
        let row = |n: u64| json!({"n": n, "op": if n.is_multiple_of(2) { "ADD" } else { "MUL" }, "pid": 7, "work": {"bytes": n * 2}, "src": [{"name": n}], "dims": [n, 1], "same": [1, 2]});
        let rows: Vec<Value> = (0..8).map(row).collect();
        let columns = json!({
            "n": [0, 1, 2, 3, 4, 5, 6, 7],
            "op": {"d": ["ADD", "MUL"], "i": [0, 1, 0, 1, 0, 1, 0, 1]},
            "pid": {"=": 7},
            "work": {"t": {"~": 8, "c": {"bytes": [0, 2, 4, 6, 8, 10, 12, 14]}}},
            "src": {"l": [1, 1, 1, 1, 1, 1, 1, 1], "t": {"~": 8, "c": {"name": [0, 1, 2, 3, 4, 5, 6, 7]}}},
            "dims": [[0, 1], [1, 1], [2, 1], [3, 1], [4, 1], [5, 1], [6, 1], [7, 1]],
            "same": {"=": [1, 2]},
        });
        assert_eq!(packed(&json!({ "rows": rows })), json!({"rows": {"~": 8, "c": columns}}));
    }

    #[test]
    fn lists_of_lists_of_objects_and_empty_ones_become_one_table() {
        let rows: Vec<Value> =
            (0..8_u64).map(|n| json!({"parts": vec![json!({"ns": n}); n as usize % 3]})).collect();
        let expected = json!({"~": 8, "c": {"parts": {
            "l": [0, 1, 2, 0, 1, 2, 0, 1],
            "t": {"~": 7, "c": {"ns": [1, 2, 2, 4, 5, 5, 7]}},
        }}});
        assert_eq!(packed(&json!(rows)), expected);
    }

    #[test]
    fn what_is_not_alike_stays() {
        let mut rows: Vec<Value> = (0..9).map(|n| json!({ "n": n })).collect();
        rows.push(json!({"n": 1, "more": 2}));
        let mut fewer: Vec<Value> = (0..9).map(|n| json!({"m": [n, {"k": 1}], "n": n })).collect();
        fewer.push(json!({"m": 1}));
        let mut mixed: Vec<Value> = (0..9).map(|n| json!({ "n": n })).collect();
        mixed.insert(3, json!("text"));
        for value in
            [json!(rows), json!(fewer), json!(mixed), json!([1, 2, 3]), json!({"a": null}), json!([{"n": 1}])]
        {
            assert_eq!(packed(&value), value);
        }
        for value in [json!([]), json!([[], [1], [[2]], ["x\"<y", null, true, -1, 0.25]])] {
            assert_eq!(packed(&value), value);
        }
    }

    #[test]
    fn fields_in_another_order_are_the_same_fields() {
        let rows: Vec<String> = (0..8)
            .map(|n| if n == 5 { r#"{"b":1,"a":5}"#.to_owned() } else { format!(r#"{{"a":{n},"b":1}}"#) })
            .collect();
        let mut out = Vec::new();
        assert!(pack(format!("[{}]", rows.join(",")).as_bytes(), &mut out).is_ok());
        assert_eq!(String::from_utf8_lossy(&out), r#"{"c":{"a":[0,1,2,3,4,5,6,7],"b":{"=":1}},"~":8}"#);
    }

    #[test]
    fn a_text_that_is_no_json_is_an_error() {
        assert!(pack(br#"{"a": [1, 2"#, Vec::new()).is_err());
    }
}
