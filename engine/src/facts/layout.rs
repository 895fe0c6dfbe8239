//! Struct offsets, with the source of each.
//!
//! From December 2023 to autumn 2026 `ggml_tensor` has had three layouts.
//! [`fitting`](super::fitting) finds out which one an engine has, and what a fork has inserted.

/// Offsets in bytes of the fields that are read from the engine's memory. Field names are the
/// engine's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    pub tensor_size: u32,
    pub tensor_type: u32,
    pub tensor_buffer: u32,
    pub tensor_ne: u32,
    pub tensor_nb: u32,
    pub tensor_op: u32,
    pub tensor_op_params: u32,
    pub tensor_flags: u32,
    pub tensor_src: u32,
    pub tensor_view_src: u32,
    pub tensor_data: u32,
    pub tensor_name: u32,
    pub graph_n_nodes: u32,
    pub graph_nodes: u32,
    /// Offset of `ggml_cgraph::uid`, where the engine has it: equal non-zero values mean equal
    /// graphs.
    pub graph_uid: Option<u32>,
    pub params_ith: u32,
    /// Old builds run every node in three phases, distinguished by the first field: only 1
    /// (COMPUTE) is work.
    pub params_phase: bool,
}

/// Source of one offset of a [`Layout`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offset {
    /// The engine's name of the field.
    pub field: &'static str,
    /// Its offset in bytes (for `size`: the struct's size).
    pub offset: u32,
    /// Its source.
    pub origin: Origin,
}

/// The source of a field's offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// This function of the engine.
    Accessor(&'static str),
    /// The releases that have the other fields where this engine has them.
    Releases,
}

/// A layout that was found, with the source of each offset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLayout {
    /// The layout.
    pub layout: Layout,
    /// Its offsets, except those of `ggml_compute_params`, which no accessor reveals.
    pub offsets: Vec<Offset>,
    /// Fields that accessors reveal, in the order of the accessors.
    pub seen: Vec<&'static str>,
    /// The releases that have this layout, or that a fork is based on.
    pub releases: &'static str,
    /// Bytes that a fork has inserted before the fields that it moved.
    pub put_in: u32,
    /// Bytes that a fork has inserted after the last field.
    pub at_end: u32,
}

/// Why there is no layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoLayout {
    /// No file defines `ggml_get_name`.
    NoAccessor,
    /// It exists, but could not be followed.
    NameNotUnderstood,
    /// It does not exist, and the remaining accessors do not determine the layout.
    NameGone,
    /// An accessor does not find its field where the releases with that name have it.
    Disagrees {
        /// The accessor.
        accessor: &'static str,
        /// The field.
        field: &'static str,
        /// Expected offset.
        offset: u32,
        /// The releases with that offset.
        releases: &'static str,
    },
    /// The name is where no release has it.
    Unknown {
        /// Its offset.
        name: i64,
        /// Why it is not a fork's layout either.
        why: Unfitting,
    },
}

/// Why a fork's layout is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unfitting {
    /// More than one would agree with its accessors.
    Several,
    /// Its accessors do not reveal all fields that matter.
    Hidden,
}

/// A known layout.
pub(crate) struct Family {
    pub(crate) releases: &'static str,
    pub(crate) layout: Layout,
}

/// Compiled from the sources of 24 releases: `offsetof` for each field.
pub(crate) const fn families() -> [Family; 3] {
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
