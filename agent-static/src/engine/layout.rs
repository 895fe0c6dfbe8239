//! Struct offsets, read from the engine's own accessors.
//!
//! Stage: before attaching. From: exported functions such as `ggml_get_name`, whose whole body is an offset.
//! To: [`Layout`]. From December 2023 to autumn 2026 `ggml_tensor` has had three layouts; the offset of the
//! name tells which, every other accessor must agree, and only fields that no accessor shows are filled in.
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

/// The engine's name of a field, and where a layout has it.
type Field = (&'static str, fn(&Layout) -> u32);

const NAME: Field = ("name", |l| l.tensor_name);
const DATA: Field = ("data", |l| l.tensor_data);
const SIZE: Field = ("size", |l| l.tensor_size);
const SRC: Field = ("src", |l| l.tensor_src);
const N_NODES: Field = ("n_nodes", |l| l.graph_n_nodes);
const NODES: Field = ("nodes", |l| l.graph_nodes);

/// Functions that cannot do what they do without the field, and which of their arguments is the tensor.
const TOUCHING: [(&str, u8, Field); 11] = [
    ("ggml_element_size", 0, ("type", |l| l.tensor_type)),
    ("ggml_nelements", 0, ("ne", |l| l.tensor_ne)),
    ("ggml_is_transposed", 0, ("nb", |l| l.tensor_nb)),
    ("ggml_get_unary_op", 0, ("op", |l| l.tensor_op)),
    ("ggml_get_unary_op", 0, ("op_params", |l| l.tensor_op_params)),
    ("ggml_set_input", 0, ("flags", |l| l.tensor_flags)),
    // They check that the three are empty before they set the first two.
    ("ggml_backend_tensor_alloc", 1, ("buffer", |l| l.tensor_buffer)),
    ("ggml_backend_tensor_alloc", 1, DATA),
    ("ggml_backend_tensor_alloc", 1, ("view_src", |l| l.tensor_view_src)),
    ("ggml_backend_view_init", 0, ("view_src", |l| l.tensor_view_src)),
    // Compares the first source with the new third one.
    ("ggml_soft_max_add_sinks", 0, SRC),
];

/// The layout, and how it was obtained; or why there is none.
pub(crate) fn read(calls: &Calls<'_, '_>) -> Result<(Layout, String), String> {
    let trace = |function: &str| Some(Trace::of(calls.image, calls.function(function)?, 48));
    let returned = |function: &str| trace(function)?.returned;
    let Some(Value::Argument(0, name)) = returned("ggml_get_name") else {
        return Err("ggml_get_name is not understood, so the offsets of ggml_tensor are not known".into());
    };
    let family = families()
        .into_iter()
        .find(|f| i64::from(f.layout.tensor_name) == name)
        .ok_or_else(|| format!("ggml_tensor::name is at offset {name} here, as in no release known"))?;
    let mut seen = vec![NAME.0];
    let mut see = |function: &str, field: Field, agrees: bool| {
        if !agrees {
            let (name, offset) = (field.0, (field.1)(&family.layout));
            return Err(format!("{function} does not find {name} at {offset}, as in {}", family.releases));
        }
        if !seen.contains(&field.0) {
            seen.push(field.0);
        }
        Ok(())
    };
    for (function, field) in
        [("ggml_get_data", DATA), ("ggml_graph_n_nodes", N_NODES), ("ggml_graph_nodes", NODES)]
    {
        if let Some(value) = returned(function) {
            see(function, field, value == Value::Field(0, (field.1)(&family.layout).into()))?;
        }
    }
    if let Some(value) = returned("ggml_tensor_overhead") {
        let whole = family.layout.tensor_size + OBJECT_SIZE;
        see("ggml_tensor_overhead", SIZE, value == Value::Constant(whole.into()))?;
    }
    for (function, argument, field) in TOUCHING {
        // A function that could not be followed to any field says nothing.
        if let Some(trace) = trace(function).filter(|t| t.touched.iter().any(|(a, _)| *a == argument)) {
            see(function, field, trace.touches(argument, (field.1)(&family.layout).into()))?;
        }
    }
    let all = TOUCHING.iter().map(|(_, _, field)| field.0).chain([SIZE.0, N_NODES.0, NODES.0]);
    let mut assumed: Vec<_> = all.filter(|field| !seen.contains(field)).collect();
    assumed.dedup();
    assumed.extend(["params.ith", "params.type"]);
    let note =
        format!("seen in accessors: {}; as in {}: {}", seen.join(", "), family.releases, assumed.join(", "));
    Ok((family.layout, note))
}
