//! Reads one tensor from the bytes of the engine's struct.

use profinfer_wire::record::graph::{MAX_SRC, Role};

use crate::lower::{EngineFacts, Lower};
use crate::request::capture::filter::{layer_of, nameless};

/// `GGML_TENSOR_FLAG_INPUT` and `GGML_TENSOR_FLAG_PARAM`, unchanged since they were introduced.
const FLAG_INPUT: u32 = 1;
const FLAG_PARAM: u32 = 4;

/// Operator, type and shape. The layers of a model have the same few.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Kind {
    pub(super) op: u32,
    pub(super) desc: u32,
    pub(super) dtype: u32,
    pub(super) ne: [u64; 4],
    pub(super) bytes: u64,
}

/// One tensor as read, with its sources by slot; 0 for an empty slot.
pub(super) struct Read {
    pub(super) raw: Raw,
    pub(super) kind: Kind,
    pub(super) src: [u64; MAX_SRC],
}

/// The other fields of one tensor.
#[derive(Debug, Clone, Copy)]
pub(super) struct Raw {
    pub(super) address: u64,
    pub(super) name: u32,
    /// Number of its kind in its topology.
    pub(super) kind: u32,
    pub(super) input: bool,
    pub(super) param: bool,
    pub(super) buffer: u64,
    pub(super) data: u64,
    pub(super) view_src: u64,
    /// Place of its sources among those of its topology, and a bit mask of the slots that they fill.
    pub(super) first_source: u32,
    pub(super) slots: u16,
    pub(super) named_weight: bool,
    pub(super) named_cache: bool,
    /// Filters on type and name keep it.
    pub(super) passes: bool,
    /// Layer number in its name.
    pub(super) layer: Option<u32>,
    /// It has no meaningful name.
    pub(super) nameless: bool,
}

impl Raw {
    /// The tensor's role in its graph; `weight_buffers` are sorted.
    pub(super) fn role(&self, node: bool, weight_buffers: &[u64]) -> Role {
        let r = self;
        match () {
            () if node => Role::Node,
            () if r.named_cache => Role::Cache,
            () if r.named_weight || r.param => Role::Weight,
            () if r.input => Role::Input,
            // A weight without the usual suffix is in the same buffer as those with the suffix.
            () if weight_buffers.binary_search(&r.buffer).is_ok() => Role::Weight,
            () => Role::Other,
        }
    }
}

impl Lower {
    /// Reads the tensor with the engine's layout.
    pub(super) fn raw(&mut self, facts: usize, address: u64, bytes: &[u8]) -> Read {
        let EngineFacts { layout: l, tables, .. } = &self.engines[facts];
        let u32_at = |at: u32| get(bytes, at).map_or(0, u32::from_ne_bytes);
        let u64_at = |at: u32| get(bytes, at).map_or(0, u64::from_ne_bytes);
        let name = bytes.get(l.tensor_name as usize..).unwrap_or_default();
        let name = &name[..name.len().min(64)];
        let name = &name[..name.iter().position(|b| *b == 0).unwrap_or(name.len())];
        let name = String::from_utf8_lossy(name).into_owned();
        let op = u32_at(l.tensor_op);
        let parameter = u32_at(l.tensor_op_params) as usize;
        let op = tables.ops.get(op as usize).cloned().unwrap_or_else(|| format!("op {op}"));
        let function = match op.as_str() {
            "UNARY" => tables.unary.get(parameter),
            "GLU" => tables.glu.get(parameter),
            _ => None,
        };
        let desc = function.unwrap_or(&op);
        let dtype = u32_at(l.tensor_type);
        let known_type = tables.types.get(dtype as usize);
        let ne = [0, 8, 16, 24].map(|d| u64_at(l.tensor_ne + d));
        let size = known_type.and_then(|t| {
            let elements = ne.iter().try_fold(1u64, |n, d| n.checked_mul(*d))?;
            elements.checked_div(t.block_elements.into())?.checked_mul(t.block_bytes.into())
        });
        let dtype = match known_type {
            Some(t) if !t.name.is_empty() => t.name.clone(),
            _ => format!("type {dtype}"),
        };
        let mut src = [0; MAX_SRC];
        for (slot, at) in src.iter_mut().zip((l.tensor_src..).step_by(8)) {
            *slot = u64_at(at);
        }
        let (flags, buffer) = (u32_at(l.tensor_flags), u64_at(l.tensor_buffer));
        let (data, view_src) = (u64_at(l.tensor_data), u64_at(l.tensor_view_src));
        let passes = self.filters.pass_node(&op, desc, &name);
        let emit = &mut self.emit;
        let name_id = self.texts.id(emit, &name);
        let kind = Kind {
            op: self.texts.id(emit, &op),
            desc: self.texts.id(emit, desc),
            dtype: self.texts.id(emit, &dtype),
            ne,
            bytes: size.unwrap_or(0),
        };
        let raw = Raw {
            address,
            name: name_id,
            kind: 0,
            input: flags & FLAG_INPUT != 0,
            param: flags & FLAG_PARAM != 0,
            buffer,
            data,
            view_src,
            first_source: 0,
            slots: 0,
            // Names set by llama.cpp: weights as in the GGUF file, `cache_k_l0`, `cache_s_l0`, ….
            named_weight: [".weight", ".bias", ".lora_a", ".lora_b"].iter().any(|end| name.ends_with(end)),
            named_cache: name.starts_with("cache_"),
            passes,
            layer: layer_of(&name),
            nameless: nameless(&name),
        };
        Read { raw, kind, src }
    }
}

fn get<const N: usize>(bytes: &[u8], at: u32) -> Option<[u8; N]> {
    let at = at as usize;
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}
