//! Reads the generated JSON Schema, for TypeScript and the reference.

use serde_json::Value;

/// A key of an object.
pub(crate) struct Field<'a> {
    pub(crate) name: &'a str,
    pub(crate) schema: &'a Value,
    /// It is always present.
    pub(crate) required: bool,
    pub(crate) doc: String,
}

/// The keys of an object, in output order, which is the order of its list of required keys.
pub(crate) fn fields(schema: &Value) -> Vec<Field<'_>> {
    let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
    let required: Vec<&str> = list(&schema["required"]).iter().filter_map(Value::as_str).collect();
    let place = |name: &str| required.iter().position(|r| *r == name).unwrap_or(usize::MAX);
    let mut names: Vec<&str> = properties.keys().map(String::as_str).collect();
    names.sort_by_key(|name| place(name));
    let field = |name| {
        let schema = &properties[name];
        Field { name, schema, required: place(name) < usize::MAX, doc: doc(schema) }
    };
    names.into_iter().map(field).collect()
}

/// The description in paragraphs and list items, each on one line.
pub(crate) fn paragraphs(schema: &Value) -> String {
    let mut out = String::new();
    for line in schema["description"].as_str().unwrap_or_default().lines().map(str::trim) {
        out += match (line.is_empty() || line.starts_with("* "), out.ends_with('\n')) {
            _ if out.is_empty() => "",
            (false, false) => " ",
            (false, true) => "",
            (true, true) if !line.is_empty() => "",
            (true, _) => "\n",
        };
        out += line;
        if line.is_empty() {
            out.push('\n');
        }
    }
    out
}

/// The description, in one line.
pub(crate) fn doc(schema: &Value) -> String {
    schema["description"].as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Values of a text enum, with their meanings; `None` for other types.
pub(crate) fn texts(schema: &Value) -> Option<Vec<(&str, String)>> {
    let all = alternatives(schema).iter().map(|one| Some((one["const"].as_str()?, doc(one))));
    let all: Option<Vec<_>> = all.collect();
    let plain = list(&schema["enum"]).iter().map(|one| Some((one.as_str()?, String::new())));
    all.filter(|a| !a.is_empty()).or_else(|| plain.collect::<Option<Vec<_>>>().filter(|p| !p.is_empty()))
}

/// Name of the referenced type.
pub(crate) fn reference(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// The alternatives of a union; empty for other types.
pub(crate) fn alternatives(schema: &Value) -> &[Value] {
    let any = list(&schema["anyOf"]);
    if any.is_empty() { list(&schema["oneOf"]) } else { any }
}

/// Names of the JSON types.
pub(crate) fn kinds(schema: &Value) -> Vec<&str> {
    match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}
