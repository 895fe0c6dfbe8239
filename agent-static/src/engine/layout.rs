//! Struct offsets, read from the engine's own accessors.
//!
//! Stage: before attaching. From: exported functions such as `ggml_get_name`, whose whole body is an offset.
//! To: [`Layout`]. In twelve years of releases `ggml_tensor` has had three layouts; the offset of the name
//! tells which, every other accessor must agree, and only fields that no accessor shows are filled in from it.
//! Promises: an accessor that disagrees means no layout, for a wrong offset would give wrong numbers.

use super::Layout;
use super::calls::Calls;
use super::trace::{Trace, Value};

/// `GGML_OBJECT_SIZE`: what `ggml_tensor_overhead` counts besides the tensor.
const OBJECT_SIZE: u32 = 32;

/// A known layout.
struct Family {
    releases: &'static str,
    layout: Layout,
}

/// Compiled from the sources of 24 releases: `offsetof` for each field.
const fn families() -> [Family; 3] {
    let current = Layout {
        tensor_size: 336,
        tensor_type: 0,
        tensor_buffer: 8,
        tensor_ne: 16,
        tensor_nb: 48,
        tensor_op: 80,
        tensor_op_params: 84,
        tensor_flags: 148,
        tensor_src: 152,
        tensor_view_src: 232,
        tensor_data: 248,
        tensor_name: 256,
        graph_n_nodes: 4,
        graph_nodes: 16,
        graph_uid: None,
        params_ith: 0,
        params_phase: false,
    };
    let with_gradient =
        Layout { tensor_src: 160, tensor_view_src: 240, tensor_data: 256, tensor_name: 264, ..current };
    let with_phases = Layout {
        tensor_size: 368,
        tensor_view_src: 264,
        tensor_data: 280,
        tensor_name: 288,
        params_ith: 4,
        params_phase: true,
        ..with_gradient
    };
    [
        Family { releases: "llama.cpp b4234 and later", layout: current },
        Family { releases: "llama.cpp b3658 to b3995", layout: with_gradient },
        Family { releases: "llama.cpp b1660 to b3166", layout: with_phases },
    ]
}

/// A field that some accessor shows.
struct Shown {
    field: &'static str,
    accessor: &'static str,
    offset: u32,
}

/// The layout, and how it was obtained; or why there is none.
pub(crate) fn read(calls: &Calls<'_, '_>) -> Result<(Layout, String), String> {
    let shown = shown(calls);
    let name = shown.iter().find(|s| s.field == "name").ok_or(
        "ggml_get_name is not exported or not understood, so the offsets of ggml_tensor are not known",
    )?;
    let family = families().into_iter().find(|f| f.layout.tensor_name == name.offset).ok_or_else(|| {
        format!("this engine has ggml_tensor::name at offset {}, as no release known here", name.offset)
    })?;
    for s in &shown {
        let known = family.value(s.field);
        if known != Some(s.offset) {
            let known = known.map_or_else(|| "unknown".to_owned(), |k| k.to_string());
            return Err(format!(
                "{} shows field {} at offset {}, but with the name at {} it should be at {known}",
                s.accessor, s.field, s.offset, name.offset
            ));
        }
    }
    let read: Vec<_> = shown.iter().map(|s| s.field).collect();
    let mut assumed: Vec<_> = FIELDS.iter().copied().filter(|f| !read.contains(f)).collect();
    assumed.extend(["params.ith", "params.type"]);
    let note = format!(
        "read from accessors: {}; as in {}: {}",
        read.join(", "),
        family.releases,
        assumed.join(", ")
    );
    Ok((family.layout, note))
}

const FIELDS: [&str; 14] = [
    "size",
    "type",
    "buffer",
    "ne",
    "nb",
    "op",
    "op_params",
    "flags",
    "src",
    "view_src",
    "data",
    "name",
    "n_nodes",
    "nodes",
];

impl Family {
    fn value(&self, field: &str) -> Option<u32> {
        let l = &self.layout;
        Some(match field {
            "size" => l.tensor_size,
            "type" => l.tensor_type,
            "buffer" => l.tensor_buffer,
            "ne" => l.tensor_ne,
            "nb" => l.tensor_nb,
            "op" => l.tensor_op,
            "op_params" => l.tensor_op_params,
            "flags" => l.tensor_flags,
            "src" => l.tensor_src,
            "view_src" => l.tensor_view_src,
            "data" => l.tensor_data,
            "name" => l.tensor_name,
            "n_nodes" => l.graph_n_nodes,
            "nodes" => l.graph_nodes,
            _ => return None,
        })
    }
}

/// What the accessors show.
fn shown(calls: &Calls<'_, '_>) -> Vec<Shown> {
    let mut shown = Vec::new();
    let mut show = |field, accessor, offset: Option<i64>| {
        let offset = offset.and_then(|o| u32::try_from(o).ok());
        shown.extend(offset.map(|offset| Shown { field, accessor, offset }));
    };
    let trace = |name: &str| Some(Trace::of(calls.image, calls.function(name)?, 48));
    let field = |name: &str| match trace(name)?.returned? {
        Value::Field(0, offset) => Some(offset),
        _ => None,
    };
    let touched = |name: &str, argument: u8| -> Vec<i64> {
        let all = trace(name).map(|t| t.touched).unwrap_or_default();
        all.into_iter().filter(|(a, _)| *a == argument).map(|(_, offset)| offset).collect()
    };
    let name = trace("ggml_get_name").and_then(|t| t.returned).and_then(|value| match value {
        Value::Argument(0, offset) => Some(offset),
        _ => None,
    });
    show("name", "ggml_get_name", name);
    show("data", "ggml_get_data", field("ggml_get_data"));
    show("n_nodes", "ggml_graph_n_nodes", field("ggml_graph_n_nodes"));
    show("nodes", "ggml_graph_nodes", field("ggml_graph_nodes"));
    let overhead = trace("ggml_tensor_overhead").and_then(|t| t.returned).and_then(|value| match value {
        Value::Constant(size) => i64::try_from(size).ok()?.checked_sub(OBJECT_SIZE.into()),
        _ => None,
    });
    show("size", "ggml_tensor_overhead", overhead);
    show("type", "ggml_element_size", touched("ggml_element_size", 0).first().copied());
    // `ne` and `nb` are read from their first element on, in any order.
    show("ne", "ggml_nelements", touched("ggml_nelements", 0).into_iter().min());
    show("nb", "ggml_is_transposed", touched("ggml_is_transposed", 0).into_iter().min());
    // Checks the operator, then returns its first parameter.
    if let [op, op_params] = touched("ggml_get_unary_op", 0)[..] {
        show("op", "ggml_get_unary_op", Some(op));
        show("op_params", "ggml_get_unary_op", Some(op_params));
    }
    show("flags", "ggml_set_input", touched("ggml_set_input", 0).last().copied());
    // Checks that the three are empty, in this order.
    if let [buffer, data, view_src] = touched("ggml_backend_tensor_alloc", 1)[..] {
        show("buffer", "ggml_backend_tensor_alloc", Some(buffer));
        show("data", "ggml_backend_tensor_alloc", Some(data));
        show("view_src", "ggml_backend_tensor_alloc", Some(view_src));
    }
    // Checks the operator, sets the third source, compares with the first.
    if let [_, third, first] = touched("ggml_soft_max_add_sinks", 0)[..]
        && third == first + 16
    {
        show("src", "ggml_soft_max_add_sinks", Some(first));
    }
    shown.dedup_by_key(|s| (s.field, s.offset));
    shown
}
