//! Checked-in files that are generated from the structs: the JSON Schema, the types of the report
//! page, the reference. `PROFINFER_BLESS=1 cargo test -p profinfer-schema` updates them.

mod reference;
mod shape;
mod typescript;

use std::path::{Path, PathBuf};
use std::{env, fs};

use profinfer_schema::{Backends, Comparison, Dag, Prediction, Summary, Tuning};
use schemars::generate::{SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value};

/// A file of `analyze` and its root type.
struct Root {
    /// Name of the output file.
    file: &'static str,
    /// Type name.
    name: &'static str,
    /// Adds the type to a generator.
    add: fn(&mut SchemaGenerator) -> schemars::Schema,
}

const ROOTS: [Root; 6] = [
    Root { file: "summary.json", name: "Summary", add: SchemaGenerator::subschema_for::<Summary> },
    Root { file: "dag.json", name: "Dag", add: SchemaGenerator::subschema_for::<Dag> },
    Root { file: "compare.json", name: "Comparison", add: SchemaGenerator::subschema_for::<Comparison> },
    Root { file: "tune.json", name: "Tuning", add: SchemaGenerator::subschema_for::<Tuning> },
    Root { file: "predict.json", name: "Prediction", add: SchemaGenerator::subschema_for::<Prediction> },
    Root { file: "backends.json", name: "Backends", add: SchemaGenerator::subschema_for::<Backends> },
];

/// Schema of the output: a field that is always written is required.
fn generator() -> SchemaGenerator {
    SchemaSettings::draft2020_12().for_serialize().into_generator()
}

/// The types of these roots.
fn definitions(roots: &[Root]) -> Map<String, Value> {
    let mut generator = generator();
    for root in roots {
        (root.add)(&mut generator);
    }
    generator.take_definitions(true)
}

/// The JSON Schema of one file, one line per type.
fn json_schema(root: &Root) -> String {
    let mut types = definitions(std::slice::from_ref(root));
    let own = types.remove(root.name).unwrap_or_default();
    let line = |(key, value): (&str, &Value)| format!("{}: {value}", Value::from(key));
    let draft = Value::from("https://json-schema.org/draft/2020-12/schema");
    let title = Value::from(root.file);
    let head = [("$schema", &draft), ("title", &title)];
    let own = own.as_object().into_iter().flatten().map(|(key, value)| (key.as_str(), value));
    let head: Vec<String> = head.into_iter().chain(own).map(line).collect();
    let types: Vec<String> = types.iter().map(|(key, value)| line((key, value))).collect();
    format!("{{\n{},\n\"$defs\": {{\n{}\n}}\n}}\n", head.join(",\n"), types.join(",\n"))
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a file with its expected content, or writes it.
fn fresh(path: &str, content: &str) {
    let file = repository().join(path);
    if env::var_os("PROFINFER_BLESS").is_some_and(|v| v == "1") {
        fs::create_dir_all(file.parent().expect("a folder")).expect("makes the folder");
        fs::write(&file, content).expect("writes");
        return;
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found == content,
        "{path} differs from the structs of profinfer-schema: update it with \
         PROFINFER_BLESS=1 cargo test -p profinfer-schema"
    );
}

#[test]
fn the_json_schema_is_fresh() {
    for root in &ROOTS {
        let name = root.file.replace(".json", ".schema.json");
        fresh(&format!("host-analyzer/schema/json/{name}"), &json_schema(root));
    }
}

#[test]
fn the_types_of_the_report_page_are_fresh() {
    let types = definitions(&ROOTS);
    fresh("host-analyzer/views/page/src/data/schema.ts", &typescript::file(&types));
}

#[test]
fn the_reference_is_fresh() {
    fresh("docs/output-keys.md", &reference::page(&definitions(&ROOTS)));
}

#[test]
fn every_field_is_documented() {
    let types = definitions(&ROOTS);
    for (name, schema) in &types {
        for field in shape::fields(schema) {
            assert!(!field.doc.is_empty(), "{name}.{}", field.name);
            assert!(!field.doc.contains("`None`") && !field.doc.contains("[`"), "{name}.{}", field.name);
        }
    }
}
