//! The reference: a table for each type.

use std::collections::BTreeSet;

use profinfer_schema::TABLES;
use serde_json::{Map, Value};

use super::shape::{Field, alternatives, doc, fields, kinds, list, paragraphs, reference, texts};
use super::{ROOTS, Root};

const HEAD: &str = "# Keys of the output\n\n\
    Generated from the crate `profinfer-schema`; to update it, run\n\
    `PROFINFER_BLESS=1 cargo test -p profinfer-schema`. [output-schema.md](output-schema.md) has the\n\
    rules. The JSON Schema of each file is in `host-analyzer/schema/json/`.\n\n\
    Every key is always present unless its type says \"or absent\". It is `null` only if its type says\n\
    so. Later versions may add values to a text that has a table of values, and keys to objects.\n";

/// The page.
pub(crate) fn page(types: &Map<String, Value>) -> String {
    let mut out = HEAD.to_owned();
    let mut shown = BTreeSet::new();
    for Root { file, name, .. } in &ROOTS {
        out += &format!("\n## {file}\n");
        let mut open = vec![(*name).to_owned()];
        while let Some(name) = open.pop() {
            if !shown.insert(name.clone()) {
                continue;
            }
            let schema = &types[&name];
            out += &section(&name, schema);
            let mut used = Vec::new();
            references(schema, &mut used);
            open.extend(used.into_iter().rev());
        }
    }
    out + &tables()
}

/// Types that a type uses, in the order of its keys.
fn references(schema: &Value, used: &mut Vec<String>) {
    used.extend(reference(schema).map(str::to_owned));
    fields(schema).iter().for_each(|f| references(f.schema, used));
    alternatives(schema).iter().for_each(|one| references(one, used));
    list(&schema["prefixItems"]).iter().for_each(|item| references(item, used));
    if schema["items"].is_object() {
        references(&schema["items"], used);
    }
}

fn section(name: &str, schema: &Value) -> String {
    let head = format!("\n### {name}\n\n{}\n\n", paragraphs(schema));
    if let Some(texts) = texts(schema) {
        let rows = texts.iter().map(|(text, doc)| format!("| `{text}` | {doc} |\n"));
        return format!("{head}| value | meaning |\n|---|---|\n{}", rows.collect::<String>());
    }
    let mut out = head;
    let several = alternatives(schema);
    if several.is_empty() {
        return out + &keys(&fields(schema));
    }
    for one in several {
        let name = if fields(one).is_empty() { kind(one) } else { alternative(one) };
        // `[text]: …` at the start of a line would define a link, for every other `[text]` of the page.
        let definition = name.starts_with('[') && !name.contains("](");
        out += &format!("* {}{name}", if definition { "\\" } else { "" });
        let text = doc(one);
        out += &if text.is_empty() { "\n".to_owned() } else { format!(": {text}\n") };
    }
    out
}

/// An object whose first key identifies the alternative.
fn alternative(schema: &Value) -> String {
    let key = |f: &Field<'_>| match f.schema["const"].as_str() {
        Some(text) => format!("`{}` `{text}`", f.name),
        None => format!("`{}` ({}; {})", f.name, kind(f.schema), f.doc.trim_end_matches('.')),
    };
    let own = fields(schema).iter().map(key).collect::<Vec<_>>().join(", ");
    reference(schema).map_or_else(|| own.clone(), |name| format!("{own}, and the keys of {}", link(name)))
}

fn keys(fields: &[Field<'_>]) -> String {
    let row = |f: &Field<'_>| {
        let absent = if f.required { "" } else { " or absent" };
        format!("| `{}` | {}{absent} | {} |\n", f.name, kind(f.schema), f.doc)
    };
    format!("| key | type | meaning |\n|---|---|---|\n{}", fields.iter().map(row).collect::<String>())
}

/// A type in words.
fn kind(schema: &Value) -> String {
    if let Some(name) = reference(schema) {
        return link(name);
    }
    if let Some(text) = schema["const"].as_str() {
        return format!("`{text}`");
    }
    let several = alternatives(schema);
    if !several.is_empty() {
        return several.iter().map(kind).collect::<Vec<_>>().join(" or ");
    }
    let one = |kind: &str| match kind {
        "string" => "text".to_owned(),
        "number" => "float".to_owned(),
        "boolean" => "bool".to_owned(),
        "array" => {
            let items = list(&schema["prefixItems"]);
            if items.is_empty() {
                format!("[{}]", self::kind(&schema["items"]))
            } else {
                format!("[{}]", items.iter().map(self::kind).collect::<Vec<_>>().join(", "))
            }
        }
        other => other.to_owned(),
    };
    kinds(schema).into_iter().map(one).collect::<Vec<_>>().join(" or ")
}

fn link(name: &str) -> String {
    format!("[{name}](#{})", name.to_lowercase())
}

/// The columns of the Parquet tables.
fn tables() -> String {
    let mut out = String::new();
    for table in TABLES {
        out += &format!(
            "\n## {}.parquet\n\n{}\n\n| column | type | meaning |\n|---|---|---|\n",
            table.name, table.doc
        );
        for column in table.columns {
            let null = if column.nullable { " or null" } else { "" };
            out += &format!("| `{}` | {}{null} | {} |\n", column.name, column.kind.name(), column.doc);
        }
    }
    out
}
