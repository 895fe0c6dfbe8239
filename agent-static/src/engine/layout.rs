//! Struct offsets, read from the engine's own accessors.
//!
//! Stage: before attaching. From: exported functions such as `ggml_get_name`, whose whole body is an offset.
//! To: [`Layout`]. From December 2023 to autumn 2026 `ggml_tensor` has had three layouts; the offset of the
//! name tells which, every other accessor must agree, and only fields that no accessor shows are filled in. A fork with
//! a longer struct is believed when accessors show all that matters. Promises: an accessor that disagrees means no
//! layout, for a wrong offset would give wrong numbers.

use std::fmt::Write as _;

use super::calls::Calls;
use super::trace::{Trace, Value};
use super::{Layout, Offset};

/// `GGML_OBJECT_SIZE`: what `ggml_tensor_overhead` counts besides the tensor.
const OBJECT_SIZE: u32 = 32;

/// Shows what tells the layouts apart, where there is nothing better.
pub(crate) const ALLOCATES: &str = "ggml_backend_tensor_alloc";

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

/// Largest tensor that is believed.
const MOST_SIZE: u32 = 1024;

const NAME: Field = ("name", |l| l.tensor_name);
const DATA: Field = ("data", |l| l.tensor_data);
const SIZE: Field = ("size", |l| l.tensor_size);
const SRC: Field = ("src", |l| l.tensor_src);
const N_NODES: Field = ("n_nodes", |l| l.graph_n_nodes);
const NODES: Field = ("nodes", |l| l.graph_nodes);

/// All fields that are read, but for those of `ggml_compute_params`.
const ALL: [Field; 14] = [
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

/// Functions that cannot do what they do without the field, and which of their arguments is the tensor.
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

/// A layout that was read, and where each offset in it comes from.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) layout: Layout,
    pub(crate) fields: Vec<Offset>,
    pub(crate) note: String,
}

/// The layout, and how it was obtained; or why there is none.
pub(crate) fn read(calls: &Calls<'_, '_>) -> Result<Found, String> {
    let evidence = Evidence::of(calls);
    if calls.function("ggml_get_name").is_none() {
        return without_name(&evidence);
    }
    let Some(Value::Argument(0, name)) = evidence.returned("ggml_get_name") else {
        return Err("ggml_get_name is not understood, so the offsets of ggml_tensor are not known".into());
    };
    let size = evidence.tensor_size();
    if let Some(family) = families().into_iter().find(|f| i64::from(f.layout.tensor_name) == name) {
        let mut layout = family.layout;
        let whole = layout.tensor_size;
        // A fork may have put fields behind the name.
        layout.tensor_size = size.filter(|size| *size > whole).unwrap_or(whole);
        let seen = evidence.seen(&layout, family.releases)?;
        let mut found = found(layout, family.releases, &seen);
        if layout.tensor_size > whole {
            let _ = write!(found.note, "; {} bytes more at the end", layout.tensor_size - whole);
        }
        return Ok(found);
    }
    let unknown = format!("ggml_tensor::name is at offset {name} here, as in no release known");
    grown(&evidence, name, size).map_err(|reason| format!("{unknown}, and {reason}"))
}

/// The layout of a program that was linked as one (LTO), where most accessors are gone: the only one that agrees with what is
/// left of them, which has to show what tells the layouts apart.
fn without_name(evidence: &Evidence<'_, '_>) -> Result<Found, String> {
    let mut agreeing: Vec<Found> = Vec::new();
    for family in families() {
        let Ok(seen) = evidence.seen(&family.layout, family.releases) else { continue };
        if ["data", "view_src", "buffer"].iter().all(|field| seen.iter().any(|(name, _)| name == field)) {
            agreeing.push(found(family.layout, family.releases, &seen));
        }
    }
    let gone = "ggml_get_name is not there";
    match agreeing.pop() {
        Some(only) if agreeing.is_empty() => Ok(only),
        Some(_) | None => Err(format!("{gone}, and {ALLOCATES} does not tell the layout of ggml_tensor")),
    }
}

/// The layout of a fork that has put fields into a known struct: one of the known ones, moved from some field on, that
/// every accessor agrees with, and in which accessors show all that matters.
fn grown(evidence: &Evidence<'_, '_>, name: i64, size: Option<u32>) -> Result<Found, String> {
    let mut found: Vec<Found> = Vec::new();
    for family in families() {
        let more = name - i64::from(family.layout.tensor_name);
        let Ok(more) = u32::try_from(more) else { continue };
        if more % 8 != 0 || more > MOST_ADDED {
            continue;
        }
        for moved in 1..=MOVING.len() {
            let mut layout = family.layout;
            MOVING[..moved].iter().for_each(|field| *field(&mut layout) += more);
            layout.tensor_size = size.unwrap_or(family.layout.tensor_size + more);
            if layout.tensor_size < layout.tensor_name + NAME_BYTES {
                continue;
            }
            let Ok(seen) = evidence.seen(&layout, family.releases) else { continue };
            let complete = NEEDED.iter().all(|field| seen.iter().any(|(name, _)| name == field));
            if complete && !found.iter().any(|f| f.layout == layout) {
                let releases = format!("{} with {more} bytes more", family.releases);
                found.push(self::found(layout, &releases, &seen));
            }
        }
    }
    match found.pop() {
        Some(only) if found.is_empty() => Ok(only),
        Some(_) => Err("its accessors fit more than one layout".into()),
        None => Err("its accessors do not show the other fields".into()),
    }
}

/// Fields in the order in which they can move when some are put in before them: the last one first.
const MOVING: [fn(&mut Layout) -> &mut u32; 4] =
    [|l| &mut l.tensor_name, |l| &mut l.tensor_data, |l| &mut l.tensor_view_src, |l| &mut l.tensor_src];
/// What accessors must show before a layout is believed that no release has.
const NEEDED: [&str; 9] = ["name", "data", "view_src", "src", "type", "ne", "nb", "op", "op_params"];
/// Most bytes that a fork is believed to have added.
const MOST_ADDED: u32 = 256;
/// `GGML_MAX_NAME`.
const NAME_BYTES: u32 = 64;

/// Puts a layout together with where its offsets come from.
fn found(layout: Layout, releases: &str, seen: &[(&'static str, &'static str)]) -> Found {
    let by = |field: &str| seen.iter().find(|(name, _)| *name == field).map(|(_, function)| *function);
    let assumed = format!("as in {releases}");
    let mut fields: Vec<Offset> = Vec::new();
    for (name, offset) in ALL {
        let how = by(name).map_or_else(|| assumed.clone(), |function| format!("seen in {function}"));
        fields.push(Offset { field: name, offset: offset(&layout), how });
    }
    let mut rest: Vec<_> = ALL.iter().map(|(name, _)| *name).filter(|name| by(name).is_none()).collect();
    rest.extend(["params.ith", "params.type"]);
    let seen: Vec<_> = seen.iter().map(|(name, _)| *name).collect();
    let note = format!("seen in accessors: {}; {assumed}: {}", seen.join(", "), rest.join(", "));
    Found { layout, fields, note }
}

/// What the accessors of a file show.
struct Evidence<'c, 'd> {
    calls: &'c Calls<'c, 'd>,
}

impl<'c, 'd> Evidence<'c, 'd> {
    const fn of(calls: &'c Calls<'c, 'd>) -> Self {
        Self { calls }
    }

    fn trace(&self, function: &str) -> Option<Trace> {
        Some(Trace::of(self.calls.image, self.calls.function(function)?, 48))
    }

    fn returned(&self, function: &str) -> Option<Value> {
        self.trace(function)?.returned
    }

    /// Size of a tensor by `ggml_tensor_overhead`.
    fn tensor_size(&self) -> Option<u32> {
        match self.returned("ggml_tensor_overhead")? {
            Value::Constant(whole) => {
                let size = u32::try_from(whole).ok()?.checked_sub(OBJECT_SIZE)?;
                (size % 8 == 0 && size <= MOST_SIZE).then_some(size)
            }
            _ => None,
        }
    }

    /// The fields that accessors show to be where the layout has them, each with its accessor; or the one that does not.
    fn seen(&self, layout: &Layout, releases: &str) -> Result<Vec<(&'static str, &'static str)>, String> {
        let name = self.calls.function("ggml_get_name");
        let mut seen: Vec<_> = name.map(|_| (NAME.0, "ggml_get_name")).into_iter().collect();
        let mut see = |function: &'static str, field: Field, agrees: bool| {
            if !agrees {
                let (name, offset) = (field.0, (field.1)(layout));
                return Err(format!("{function} does not find {name} at {offset}, as in {releases}"));
            }
            if !seen.iter().any(|(name, _)| *name == field.0) {
                seen.push((field.0, function));
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
            // A function that could not be followed to any field says nothing.
            if let Some(trace) =
                self.trace(function).filter(|t| t.touched.iter().any(|(a, _)| *a == argument))
            {
                see(function, field, trace.touches(argument, (field.1)(layout).into()))?;
            }
        }
        Ok(seen)
    }
}
