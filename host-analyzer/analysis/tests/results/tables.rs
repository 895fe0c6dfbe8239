//! Parquet and CSV contain the rows of the model.

use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt32Type};
use arrow_array::{Array, RecordBatch};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use profinfer_trace::model::*;
use profinfer_views::tables;

use crate::models::{routed, small};
use crate::views::{View, bytes, hostile};
use profinfer_trace::test_support::tables::{self as synthetic, Spec};

fn parquet(view: View, model: &Model) -> Vec<RecordBatch> {
    let file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut &file, &bytes(view, model)).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    reader.collect::<Result<_, _>>().unwrap()
}

/// All cells as text, empty where null, the names first.
fn cells(batches: &[RecordBatch], names: Vec<String>) -> Vec<Vec<String>> {
    let mut rows = vec![names];
    for b in batches {
        for i in 0..b.num_rows() {
            rows.push(b.columns().iter().map(|c| cell(c.as_ref(), i)).collect());
        }
    }
    rows
}

fn cell(column: &dyn Array, i: usize) -> String {
    use arrow_schema::DataType as T;
    if column.is_null(i) {
        return String::new();
    }
    match column.data_type() {
        T::Int64 => column.as_primitive::<Int64Type>().value(i).to_string(),
        T::UInt64 => column.as_primitive::<arrow_array::types::UInt64Type>().value(i).to_string(),
        T::UInt32 => column.as_primitive::<UInt32Type>().value(i).to_string(),
        T::UInt16 => column.as_primitive::<arrow_array::types::UInt16Type>().value(i).to_string(),
        T::Int32 => column.as_primitive::<arrow_array::types::Int32Type>().value(i).to_string(),
        T::Boolean => column.as_boolean().value(i).to_string(),
        T::Utf8 => column.as_string::<i32>().value(i).to_owned(),
        T::Dictionary(..) => {
            let d = column.as_dictionary::<UInt32Type>();
            d.values().as_string::<i32>().value(d.keys().value(i) as usize).to_owned()
        }
        other => panic!("{other}"),
    }
}

/// Reads CSV by RFC 4180, written independently of the writer.
fn csv(text: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let mut chars = text.chars().peekable();
    let mut in_quotes = false;
    while let Some(c) = chars.next() {
        let row = rows.last_mut().unwrap();
        let cell = row.last_mut().unwrap();
        match c {
            '"' if in_quotes && chars.peek() == Some(&'"') => cell.push(chars.next().unwrap()),
            '"' => in_quotes = !in_quotes,
            ',' if !in_quotes => row.push(String::new()),
            '\n' if !in_quotes => rows.push(vec![String::new()]),
            c => cell.push(c),
        }
    }
    assert_eq!(rows.pop().unwrap(), [""]);
    rows
}

/// The cells as CSV has them: text that a spreadsheet would take for a formula has a mark before
/// it.
fn in_csv(mut rows: Vec<Vec<String>>) -> Vec<Vec<String>> {
    let formula =
        |text: &str| text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<i64>().is_err();
    for text in rows.iter_mut().flatten().filter(|text| formula(text)) {
        text.insert(0, '\'');
    }
    rows
}

#[test]
fn both_formats_hold_the_same() {
    let views: [(View, View); 4] = [
        (tables::ops_parquet, tables::ops_csv),
        (tables::tokens_parquet, tables::tokens_csv),
        (tables::threads_parquet, tables::threads_csv),
        (tables::experts_parquet, tables::experts_csv),
    ];
    for m in
        [small::model(), hostile(), routed::small(), synthetic::model(&Spec::default()), Model::default()]
    {
        for (p, c) in views {
            let batches = parquet(p, &m);
            let from_csv = csv(&String::from_utf8(bytes(c, &m)).unwrap());
            assert_eq!(in_csv(cells(&batches, from_csv[0].clone())), from_csv);
            for b in &batches {
                assert!(b.schema().fields().iter().map(|f| f.name()).eq(&from_csv[0]));
            }
        }
    }
}

#[test]
fn ops_of_the_small_session() {
    let rows = csv(&String::from_utf8(bytes(tables::ops_csv, &small::model())).unwrap());
    assert_eq!(rows.len(), 1 + 18);
    assert_eq!(
        rows[0].join(" "),
        "call graph_call phase backend pid tid node last_node name op desc dtype ne0 ne1 ne2 ne3 start_ns work_ns \
         wait_ns cpu migrated read_bytes written_bytes operations"
    );
    assert_eq!(
        rows[1].join(" "),
        "0 1 prefill CPU 7 100 0 0 Qcur-0 MUL_MAT MUL_MAT f32 64 3 1 1 1100 300 100 0 false 17152 768 24576"
    );
    // The wait of this one was not recorded.
    assert_eq!(rows[6][14..21], ["1", "1", "1561", "49", "", "1", "true"]);
    assert_eq!(rows[18][..10].join(" "), "2 5 decode CPU 7 101 4 4 norm-0 RMS_NORM");
}

#[test]
fn tokens_and_threads_of_the_small_session() {
    let rows = csv(&String::from_utf8(bytes(tables::tokens_csv, &small::model())).unwrap());
    assert_eq!(rows[0][..4], ["id", "phase", "function", "context"]);
    assert_eq!(rows[3].join(" "), "2 decode llama_decode 0x5500 100 2600 420 1 4  310 179 0 whole");
    let rows = csv(&String::from_utf8(bytes(tables::threads_csv, &small::model())).unwrap());
    assert_eq!(rows[2].join(" "), "101 7 engine 9 3 800 41 487 10 313 31 0 0");
}

#[test]
fn experts_of_the_routed_session() {
    let rows = csv(&String::from_utf8(bytes(tables::experts_csv, &routed::small())).unwrap());
    assert_eq!(rows[0].join(" "), "call graph_call phase pid layer node name token rank expert");
    assert_eq!(rows.len(), 1 + 12 + 4 * 4);
    assert_eq!(rows[1].join(" "), "0 0 prefill 7 0 1 ffn_moe_gate-0 0 0 0");
    assert_eq!(rows[6].join(" "), "0 0 prefill 7 0 1 ffn_moe_gate-0 2 1 2");
    assert_eq!(rows[7].join(" "), "0 0 prefill 7 1 6 ffn_moe_gate-1 0 0 3");
    assert_eq!(rows[28].join(" "), "4 4 decode 7 1 6 ffn_moe_gate-1 0 1 3");
    // For a model without experts the table has its columns and no row.
    let rows = csv(&String::from_utf8(bytes(tables::experts_csv, &small::model())).unwrap());
    assert_eq!(rows.len(), 1);
}

#[test]
fn tables_longer_than_a_part_are_whole() {
    // 5 layers of 13 operators, 8 threads: 520 spans per call; a part has 131072.
    let m = synthetic::model(&Spec { tokens: 600, layers: 5, threads: 8, ..Spec::default() });
    assert!(m.spans.len() > 2 << 17);
    let batches = parquet(tables::ops_parquet, &m);
    let all = |column: &str| -> Vec<i64> {
        let of =
            |b: &RecordBatch| b.column_by_name(column).unwrap().as_primitive::<Int64Type>().values().to_vec();
        batches.iter().flat_map(of).collect()
    };
    let want = |values: &[u64], less: u64| values.iter().map(|v| (v - less) as i64).collect::<Vec<_>>();
    assert_eq!(all("work_ns"), want(&m.spans.work_ns, 0));
    assert_eq!(all("start_ns"), want(&m.spans.start_ns, m.session.start_ns));
    let nulls: usize = batches.iter().map(|b| b.column_by_name("wait_ns").unwrap().null_count()).sum();
    assert_eq!(nulls, m.spans.wait_ns.iter().filter(|w| **w == WAIT_UNKNOWN).count());
    assert!(nulls > 0);
}

#[test]
fn times_beyond_the_signed_range_do_not_turn_negative() {
    let mut m = small::model();
    m.spans.start_ns[0] = u64::MAX - 5;
    m.spans.work_ns[0] = 3;
    let rows = csv(&String::from_utf8(bytes(tables::ops_csv, &m)).unwrap());
    assert_eq!(rows[1][16], i64::MAX.to_string());
}
