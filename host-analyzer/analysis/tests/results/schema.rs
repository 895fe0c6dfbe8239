//! Written files against profinfer-schema: they can be read again without a loss, an independent
//! validator accepts them and refuses damaged ones, and the tables have the listed columns.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use bytes::Bytes;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use profinfer_analysis::Analysis;
use profinfer_analysis::accelerator::{Accelerators, several};
use profinfer_schema::{Backends, Column, ColumnKind, Comparison, Dag, Prediction, Summary, TABLES, Tuning};
use profinfer_trace::model::Model;
use profinfer_views::{backends, dag, summary, tables};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::models::{calls, duty, planted, routed};
use crate::views::{View, bytes as written, everything};
use crate::{accelerator, compare, estimated, predict, server, tune};

const DEMO: &[u8] = include_bytes!("../../../tests/data/demo.pfi");

/// Sessions in which, together, every field has a value and is null.
fn sessions() -> Vec<Model> {
    vec![
        profinfer_trace::read(DEMO).unwrap(),
        everything(),
        Model::default(),
        routed::small(),
        planted::disturbed(),
        server::shared(),
        accelerator::everything(),
        duty::everything(),
        duty::timed(&duty::TIMES, 1),
        calls::model(&crate::speculative::calls(), true),
        calls::model(&crate::kv::calls(3), true),
    ]
}

fn side_by_side() -> Vec<u8> {
    let recordings = [crate::models::small::model(), accelerator::everything()];
    let recordings = recordings.map(|m| Accelerators::of_recording(&m));
    let mut bytes = Vec::new();
    let names = ["a", "b"].map(str::to_owned);
    backends::json(&names, &recordings, &several(&recordings), &mut bytes).unwrap();
    bytes
}

/// Everything that is written, by file name.
fn documents() -> Vec<(&'static str, Vec<Vec<u8>>)> {
    let of = |view: View| sessions().iter().map(|m| written(view, m)).collect();
    vec![
        ("summary", of(summary::summary)),
        ("dag", of(dag::dag)),
        ("compare", compare::schema::written()),
        ("tune", vec![estimated::written(), tune::written()]),
        ("predict", predict::schema::written()),
        ("backends", vec![side_by_side()]),
    ]
}

/// A reader that uses the structs loses nothing.
fn read_again<T: Serialize + DeserializeOwned>(document: &Value) -> Value {
    let read: T = serde_json::from_value(document.clone()).unwrap();
    serde_json::to_value(read).unwrap()
}

#[test]
fn what_is_written_is_read_without_a_loss() {
    for (name, documents) in documents() {
        for document in documents {
            let document: Value = serde_json::from_slice(&document).unwrap();
            let again = match name {
                "summary" => read_again::<Summary>(&document),
                "dag" => read_again::<Dag>(&document),
                "compare" => read_again::<Comparison>(&document),
                "tune" => read_again::<Tuning>(&document),
                "predict" => read_again::<Prediction>(&document),
                _ => read_again::<Backends>(&document),
            };
            assert!(again == document, "{name}: {document}");
            assert_eq!((&document["schema"], &document["draft"]), (&2.into(), &true.into()), "{name}");
        }
    }
}

#[test]
fn an_independent_validator_accepts_what_is_written_and_refuses_what_is_wrong() {
    let Some(venv) = profinfer_skip::needed_path("PROFINFER_VENV", "scripts/test.sh") else { return };
    let host = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for (name, documents) in documents() {
        let folder = tempfile::tempdir().unwrap();
        let files = documents.iter().enumerate().map(|(i, document)| {
            let file = folder.path().join(format!("{name}-{i}.json"));
            std::fs::write(&file, document).unwrap();
            file
        });
        let output = Command::new(venv.join("bin/python"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .arg(host.join("views/tests/python/validate_schema.py"))
            .arg(host.join(format!("schema/json/{name}.schema.json")))
            .args(files)
            .output()
            .unwrap();
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// The type of a column, in the words of the schema.
fn kind(name: &str) -> Option<ColumnKind> {
    Some(match name {
        "UInt16" => ColumnKind::U16,
        "UInt32" => ColumnKind::U32,
        "UInt64" => ColumnKind::U64,
        "Int32" => ColumnKind::I32,
        "Int64" => ColumnKind::I64,
        "Boolean" => ColumnKind::Bool,
        "Utf8" | "Dictionary(UInt32, Utf8)" => ColumnKind::Text,
        _ => return None,
    })
}

#[test]
fn tables_have_the_columns_that_are_listed() {
    let views: [View; 4] =
        [tables::ops_parquet, tables::tokens_parquet, tables::experts_parquet, tables::threads_parquet];
    let counted = everything();
    for model in [profinfer_trace::read(DEMO).unwrap(), routed::small(), counted] {
        let analysis = Analysis::compute(&model);
        for (table, view) in TABLES.iter().zip(views) {
            let mut bytes = Vec::new();
            view(&model, &analysis, &mut bytes).unwrap();
            let reader = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(bytes)).unwrap();
            let schema = Arc::clone(reader.schema());
            let found: Vec<_> = schema
                .fields()
                .iter()
                .map(|f| (f.name().as_str(), kind(&f.data_type().to_string()), f.is_nullable()))
                .collect();
            let listed = |c: &Column| (c.name, Some(c.kind), c.nullable);
            let mut expected: Vec<_> = table.columns.iter().map(listed).collect();
            let counts = &model.spans.counts;
            if table.name == "ops" && !counts.is_empty() {
                expected.push(("switches", Some(ColumnKind::U32), false));
                expected.extend(counts.names.iter().map(|n| (n.as_str(), Some(ColumnKind::U64), true)));
            }
            assert_eq!(found, expected, "{}", table.name);
        }
    }
}
