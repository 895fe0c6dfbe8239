//! What the engine's own accessors reveal about its structs.
//!
//! Stage: before attaching. From: exported functions such as `ggml_get_name`, whose complete body
//! is an offset. To: [`Accessors`]. Promises: if an accessor disagrees with a layout, the layout is
//! not the engine's, because a wrong offset would give wrong numbers.

use super::layout::{Layout, NoLayout};
use crate::code::dataflow::{Trace, Value};
use crate::symbols::calls::Calls;

/// `GGML_OBJECT_SIZE`: what `ggml_tensor_overhead` counts besides the tensor.
const OBJECT_SIZE: u32 = 32;

/// Functions that distinguish the layouts, where there is nothing better.
pub(crate) const ALLOCATES: &str = "ggml_backend_tensor_alloc";

/// The engine's name of a field, and its place in the layout.
pub(super) type Field = (&'static str, fn(&Layout) -> u32);

/// Largest accepted tensor, in bytes.
const MOST_SIZE: u32 = 1024;

const NAME: Field = ("name", |l| l.tensor_name);
const DATA: Field = ("data", |l| l.tensor_data);
const SIZE: Field = ("size", |l| l.tensor_size);
const SRC: Field = ("src", |l| l.tensor_src);
const N_NODES: Field = ("n_nodes", |l| l.graph_n_nodes);
const NODES: Field = ("nodes", |l| l.graph_nodes);

/// All fields that are read, except those of `ggml_compute_params`.
pub(super) const ALL: [Field; 14] = [
    ("type", |l| l.tensor_type),
    ("buffer", |l| l.tensor_buffer),
    ("ne", |l| l.tensor_ne),
    ("nb", |l| l.tensor_nb),
    ("op", |l| l.tensor_op),
    ("op_params", |l| l.tensor_op_params),
    ("flags", |l| l.tensor_flags),
    SRC,
    ("view_src", |l| l.tensor_view_src),
    DATA,
    NAME,
    SIZE,
    N_NODES,
    NODES,
];

/// Functions that need the field for their work, and which of their arguments is the tensor.
const TOUCHING: [(&str, u8, Field); 11] = [
    ("ggml_element_size", 0, ("type", |l| l.tensor_type)),
    ("ggml_nelements", 0, ("ne", |l| l.tensor_ne)),
    ("ggml_is_transposed", 0, ("nb", |l| l.tensor_nb)),
    ("ggml_get_unary_op", 0, ("op", |l| l.tensor_op)),
    ("ggml_get_unary_op", 0, ("op_params", |l| l.tensor_op_params)),
    ("ggml_set_input", 0, ("flags", |l| l.tensor_flags)),
    // They check that the three are empty before they set the first two.
    (ALLOCATES, 1, ("buffer", |l| l.tensor_buffer)),
    (ALLOCATES, 1, DATA),
    (ALLOCATES, 1, ("view_src", |l| l.tensor_view_src)),
    ("ggml_backend_view_init", 0, ("view_src", |l| l.tensor_view_src)),
    // Compares the first source with the new third one.
    ("ggml_soft_max_add_sinks", 0, SRC),
];

/// A field and the accessor that reveals it.
pub(super) type Seen = (&'static str, &'static str);

/// Results of the accessors of a file.
pub(super) struct Accessors<'c, 'd> {
    calls: &'c Calls<'c, 'd>,
}

impl<'c, 'd> Accessors<'c, 'd> {
    pub(super) const fn new(calls: &'c Calls<'c, 'd>) -> Self {
        Self { calls }
    }

    fn trace(&self, function: &str) -> Option<Trace> {
        Some(Trace::new(self.calls.image, self.calls.function(function)?, 48))
    }

    pub(super) fn returned(&self, function: &str) -> Option<Value> {
        self.trace(function)?.returned
    }

    /// Size of a tensor by `ggml_tensor_overhead`.
    pub(super) fn tensor_size(&self) -> Option<u32> {
        match self.returned("ggml_tensor_overhead")? {
            Value::Constant(whole) => {
                let size = u32::try_from(whole).ok()?.checked_sub(OBJECT_SIZE)?;
                (size % 8 == 0 && size <= MOST_SIZE).then_some(size)
            }
            _ => None,
        }
    }

    /// The fields that accessors confirm in the layout, each with its accessor; or the one that
    /// contradicts it.
    pub(super) fn seen(&self, layout: &Layout, releases: &'static str) -> Result<Vec<Seen>, NoLayout> {
        let name = self.calls.function("ggml_get_name");
        let mut seen: Vec<Seen> = name.map(|_| (NAME.0, "ggml_get_name")).into_iter().collect();
        let mut see = |accessor: &'static str, (field, offset): Field, agrees: bool| {
            if !agrees {
                return Err(NoLayout::Disagrees { accessor, field, offset: offset(layout), releases });
            }
            if !seen.iter().any(|(name, _)| *name == field) {
                seen.push((field, accessor));
            }
            Ok(())
        };
        for (function, field) in
            [("ggml_get_data", DATA), ("ggml_graph_n_nodes", N_NODES), ("ggml_graph_nodes", NODES)]
        {
            if let Some(value) = self.returned(function) {
                see(function, field, value == Value::Field(0, (field.1)(layout).into()))?;
            }
        }
        if let Some(value) = self.returned("ggml_tensor_overhead") {
            let whole = layout.tensor_size + OBJECT_SIZE;
            see("ggml_tensor_overhead", SIZE, value == Value::Constant(whole.into()))?;
        }
        for (function, argument, field) in TOUCHING {
            // A function that could not be followed to any field proves nothing.
            if let Some(trace) =
                self.trace(function).filter(|t| t.touched.iter().any(|(a, _)| *a == argument))
            {
                see(function, field, trace.touches(argument, (field.1)(layout).into()))?;
            }
        }
        Ok(seen)
    }
}
