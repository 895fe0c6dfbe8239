//! The types of the report page.

use serde_json::{Map, Value};

use super::shape::{alternatives, doc, fields, kinds, list, reference, texts};

/// Width of a line.
const WIDTH: usize = 100;

/// The file.
pub(crate) fn file(types: &Map<String, Value>) -> String {
    let mut out =
        "// Generated from profinfer-schema (host-analyzer/schema): PROFINFER_BLESS=1 cargo test -p\n\
                   // profinfer-schema. docs/output-keys.md has the meaning of each field.\n"
            .to_owned();
    for (name, schema) in types {
        let doc = doc(schema);
        // The reference has the rest.
        let first = doc.split_once(". ").map_or(doc.trim_end_matches('.'), |(first, _)| first);
        out += &format!("\n/** {first}. */\n{}", declaration(name, schema));
    }
    out
}

fn declaration(name: &str, schema: &Value) -> String {
    let own = fields(schema);
    if own.is_empty() || !alternatives(schema).is_empty() {
        let types = union(schema);
        let line = format!("export type {name} = {};\n", types.join(" | "));
        if line.len() <= WIDTH {
            return line;
        }
        return format!(
            "export type {name} =\n{};\n",
            types.iter().map(|t| format!("  | {t}")).collect::<Vec<_>>().join("\n")
        );
    }
    let lines = own.iter().map(|f| {
        let optional = if f.required { "" } else { "?" };
        format!("  {}{optional}: {};\n", f.name, union(f.schema).join(" | "))
    });
    format!("export interface {name} {{\n{}}}\n", lines.collect::<String>())
}

/// The alternatives of a type.
fn union(schema: &Value) -> Vec<String> {
    if let Some(texts) = texts(schema) {
        return texts.iter().map(|(text, _)| format!("\"{text}\"")).collect();
    }
    let several = alternatives(schema);
    if !several.is_empty() {
        return several.iter().flat_map(union).collect();
    }
    if let Some(text) = schema["const"].as_str() {
        return vec![format!("\"{text}\"")];
    }
    let own = fields(schema);
    if !own.is_empty() {
        let lines = own.iter().map(|f| {
            let optional = if f.required { "" } else { "?" };
            format!("{}{optional}: {}", f.name, union(f.schema).join(" | "))
        });
        let object = format!("{{ {} }}", lines.collect::<Vec<_>>().join("; "));
        return vec![reference(schema).map_or_else(|| object.clone(), |name| format!("({object} & {name})"))];
    }
    if let Some(name) = reference(schema) {
        return vec![name.to_owned()];
    }
    kinds(schema).into_iter().map(|kind| plain(kind, schema)).collect()
}

fn plain(kind: &str, schema: &Value) -> String {
    match kind {
        "integer" | "number" => "number".to_owned(),
        "array" => {
            let items = list(&schema["prefixItems"]);
            if !items.is_empty() {
                let items: Vec<_> = items.iter().map(|item| union(item).join(" | ")).collect();
                return format!("[{}]", items.join(", "));
            }
            let item = union(&schema["items"]);
            if item.len() == 1 { format!("{}[]", item[0]) } else { format!("({})[]", item.join(" | ")) }
        }
        other => other.to_owned(),
    }
}
