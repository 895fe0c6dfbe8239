//! Census: what a token of a model reads, every weight by its use, and the KV cache.

use std::collections::{BTreeMap, BTreeSet};

use super::layer::{of_experts, of_weight};
use super::window::Windows;
use profinfer_trace::model::{Blueprint, Tensor};

/// A matrix in a product with a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    /// Name of its tensor.
    pub name: String,
    /// Element type.
    pub dtype: String,
    /// Bytes that a token reads; for routed experts, only those of the experts used.
    pub bytes: u64,
    /// Elements that a token reads.
    pub elements: u64,
    /// Rows that a token reads: output values of the product.
    pub rows: u64,
    /// It holds experts, of which a token uses some.
    pub experts: bool,
}

/// What a token reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Census {
    pub architecture: String,
    pub layers: u64,
    /// In the file's order.
    pub matrices: Vec<Matrix>,
    /// Bytes of vectors: norms, biases. Each is read once.
    pub vector_bytes: u64,
    /// Bytes of a row of the embeddings, and of other tables of which a token reads a row.
    pub embedding_bytes: u64,
    /// Bytes of the tables in the file of which a token reads rows only: the embeddings, unless they are
    /// also the output, and others. Pages of other rows stay on storage.
    pub table_bytes: u64,
    /// The output uses the embedding matrix.
    pub tied: bool,
    /// Experts per layer; 0 for a model without experts.
    pub experts: u64,
    /// Experts that a token uses.
    pub experts_used: u64,
    /// Bytes of one KV cell over all layers, with elements of two bytes.
    pub cell_bytes: u64,
    /// Number of cells that the census assumes.
    pub cells: u64,
    /// Bytes of the cache that a token reads with that many cells, as flash attention does. Layers
    /// that use the cache of another read it, too.
    pub cache_bytes: u64,
    /// Bytes of the cache in memory with that many cells.
    pub held_bytes: u64,
    pub file_bytes: u64,
    /// Elements of all weights, used by a token or not.
    pub parameters: u64,
    /// Layers keep a state that is not counted.
    pub recurrent: bool,
}

/// Why there is no census.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoCensus {
    /// One of several files of a model.
    Split(u64),
    /// No embeddings or no layers: not a model that generates text.
    NoLanguageModel,
    /// Its attention is not causal, or its outputs are pooled, so it generates nothing token by token:
    /// embeddings, reranking, diffusion.
    NotCausal,
    /// An encoder and a decoder.
    EncoderDecoder,
    /// It has experts, but not the number that a token uses.
    ExpertsUsed,
}

const EMBEDDINGS: &str = "token_embd.weight";
const OUTPUT: &str = "output.weight";
/// Tables of which a token reads a row, besides the embeddings.
const TABLES: [&str; 3] = ["per_layer_token_embd.weight", "position_embd.weight", "token_types.weight"];

/// Parts of the names of weights that compute with a state.
const STATES: [&str; 3] = [".ssm_", ".time_mix_", ".shortconv."];

/// Architectures whose attention llama.cpp makes bidirectional whatever the file has.
const BIDIRECTIONAL: [&str; 2] = ["dream", "gemma-embedding"];

/// Bytes of a cache element by the engine's default: f16.
const CACHE_ELEMENT: u64 = 2;

impl Census {
    /// What a token of this model reads with `cells` cells in its context.
    ///
    /// # Errors
    ///
    /// When the file lacks a tensor that a token reads, or the data to tell how it is used.
    pub fn new(blueprint: &Blueprint, cells: u64) -> Result<Self, NoCensus> {
        if blueprint.files() > 1 {
            return Err(NoCensus::Split(blueprint.files()));
        }
        let pools = blueprint.number("pooling_type").is_some_and(|kind| kind > 0);
        let bidirectional = blueprint.number("attention.causal") == Some(0)
            || BIDIRECTIONAL.contains(&blueprint.architecture.as_str());
        if pools || bidirectional {
            return Err(NoCensus::NotCausal);
        }
        if blueprint.tensors.iter().any(|t| t.name.starts_with("dec.blk.")) {
            return Err(NoCensus::EncoderDecoder);
        }
        let tensor = |name: &str| blueprint.tensors.iter().find(|t| t.name == name);
        let row = |t: &Tensor| t.bytes / (t.elements() / t.ne[0].max(1)).max(1);
        let embeddings = tensor(EMBEDDINGS).ok_or(NoCensus::NoLanguageModel)?;
        let tied = tensor(OUTPUT).is_none();
        let highest = blueprint.tensors.iter().filter_map(|t| of_weight(&t.name).0).max();
        let in_file = highest.map(|l| l.saturating_add(1)).ok_or(NoCensus::NoLanguageModel)?;
        let tables = || TABLES.iter().filter_map(|name| tensor(name));
        // Layers that predict further tokens are in the file, but in no token's graph.
        let predicting = blueprint.number("nextn_predict_layers").unwrap_or(0);
        let layers =
            blueprint.number("block_count").unwrap_or(in_file).min(in_file).saturating_sub(predicting);
        let mut census = Self {
            architecture: blueprint.architecture.clone(),
            layers,
            tied,
            embedding_bytes: tables().map(row).fold(row(embeddings), u64::saturating_add),
            table_bytes: tables()
                .chain((!tied).then_some(embeddings))
                .fold(0, |sum, table| sum.saturating_add(table.bytes)),
            file_bytes: blueprint.file_bytes,
            recurrent: blueprint.tensors.iter().any(|t| STATES.iter().any(|part| t.name.contains(part))),
            ..Self::default()
        };
        let has_experts = blueprint.tensors.iter().any(|t| of_experts(&t.name));
        if has_experts {
            let of = |key| blueprint.number(key).filter(|n| *n > 0).ok_or(NoCensus::ExpertsUsed);
            (census.experts, census.experts_used) = (of("expert_count")?, of("expert_used_count")?);
        }
        let own_cache = own_cache(blueprint, layers);
        for tensor in &blueprint.tensors {
            census.parameters = census.parameters.saturating_add(tensor.elements());
            if reads(tensor, own_cache) {
                census.take(tensor);
            }
        }
        census.cache(blueprint, cells);
        Ok(census)
    }

    fn take(&mut self, tensor: &Tensor) {
        let (layer, _) = of_weight(&tensor.name);
        if layer.is_some_and(|l| l >= self.layers) || (tensor.name == EMBEDDINGS && !self.tied) {
            return;
        }
        if tensor.ne[1..] == [1, 1, 1] {
            self.vector_bytes = self.vector_bytes.saturating_add(tensor.bytes);
            return;
        }
        let experts = of_experts(&tensor.name);
        let used = |n: u64| if experts { part(n, self.experts_used, self.experts) } else { n };
        self.matrices.push(Matrix {
            name: tensor.name.clone(),
            dtype: tensor.dtype.to_owned(),
            bytes: used(tensor.bytes),
            elements: used(tensor.elements()),
            rows: used(tensor.elements() / tensor.ne[0].max(1)),
            experts,
        });
    }

    /// The cache: keys and values of each layer's heads.
    fn cache(&mut self, blueprint: &Blueprint, cells: u64) {
        self.cells = cells.max(1);
        // Count layers with keys in the file, not the number that its header states: recurrent
        // layers have no keys. Those of linear attention have one matrix for all three, and a state.
        let layers_with = |of: &dyn Fn(&str) -> bool| {
            let named = blueprint.tensors.iter().map(|t| of_weight(&t.name));
            named.filter_map(|(layer, name)| layer.filter(|_| of(name))).collect::<BTreeSet<u64>>()
        };
        let (states, fused) = (
            layers_with(&|name| name.starts_with("ssm_")),
            layers_with(&|name| name.starts_with("attn_qkv")),
        );
        let mut own = layers_with(&|name| name.starts_with("attn_k"));
        own.extend(fused.difference(&states));
        let own_cache = own_cache(blueprint, self.layers);
        own.retain(|l| *l < own_cache);
        let windows = Windows::new(blueprint);
        let bytes_of = |layer: u64, cells: u64| {
            cell_elements(blueprint, &windows, layer).saturating_mul(CACHE_ELEMENT).saturating_mul(cells)
        };
        let held = |layer: u64| bytes_of(layer, windows.cells(layer, self.cells));
        self.cell_bytes = own.iter().fold(0, |sum, l| bytes_of(*l, 1).saturating_add(sum));
        self.held_bytes = own.iter().fold(0, |sum, l| held(*l).saturating_add(sum));
        // The others read the cache of the last layer before them of the same kind.
        let lender = |l: u64| own.iter().rev().find(|o| windows.has(**o) == windows.has(l));
        let borrowed = (own_cache..self.layers).filter_map(lender);
        self.cache_bytes = borrowed.fold(self.held_bytes, |sum, l| held(*l).saturating_add(sum));
    }

    /// Bytes that must stay in memory so that no token waits for storage: the file without its tables, and
    /// the cache.
    #[must_use]
    pub const fn resident_bytes(&self) -> u64 {
        self.file_bytes.saturating_sub(self.table_bytes).saturating_add(self.held_bytes)
    }

    /// Bytes of all matrices that a token reads.
    #[must_use]
    pub fn matrix_bytes(&self) -> u64 {
        self.matrices.iter().fold(0, |sum, m| sum.saturating_add(m.bytes))
    }

    /// Bytes of weights that a token reads: matrices, vectors, its row of the embeddings.
    #[must_use]
    pub fn weight_bytes(&self) -> u64 {
        self.matrix_bytes().saturating_add(self.vector_bytes).saturating_add(self.embedding_bytes)
    }

    /// Bytes that come from memory for every token: weights and cache.
    #[must_use]
    pub fn streamed_bytes(&self) -> u64 {
        self.weight_bytes().saturating_add(self.cache_bytes)
    }

    /// Bytes of the matrices that a token reads, by type.
    #[must_use]
    pub fn by_type(&self) -> BTreeMap<&str, u64> {
        let mut sums = BTreeMap::new();
        for m in &self.matrices {
            let sum: &mut u64 = sums.entry(m.dtype.as_str()).or_default();
            *sum = sum.saturating_add(m.bytes);
        }
        sums
    }
}

/// Elements of keys and values of one cell of a layer.
fn cell_elements(blueprint: &Blueprint, windows: &Windows<'_>, layer: u64) -> u64 {
    // Latent attention keeps one row of this many elements for keys and values together.
    if let Some(rank) = blueprint.number("attention.kv_lora_rank") {
        return rank.saturating_add(blueprint.number("rope.dimension_count").unwrap_or(0));
    }
    let heads = blueprint.of_layer("attention.head_count", layer).unwrap_or(1).max(1);
    let groups = blueprint.of_layer("attention.head_count_kv", layer).unwrap_or(heads);
    let embd = blueprint.number("embedding_length").unwrap_or(0);
    let length = |key: &str, of_window: &str| {
        let own = windows.has(layer).then(|| blueprint.number(of_window)).flatten();
        own.or_else(|| blueprint.number(key)).unwrap_or(embd / heads)
    };
    let keys = length("attention.key_length", "attention.key_length_swa");
    groups.saturating_mul(keys.saturating_add(length("attention.value_length", "attention.value_length_swa")))
}

/// Layers with keys and values of their own, from the first one on; the others use the cache of one before.
fn own_cache(blueprint: &Blueprint, layers: u64) -> u64 {
    layers.saturating_sub(blueprint.number("attention.shared_kv_layers").unwrap_or(0))
}

/// Whether a token's graph has the weight: not the tables, and no keys or values of a layer that uses the
/// cache of another.
fn reads(tensor: &Tensor, own_cache: u64) -> bool {
    let (layer, name) = of_weight(&tensor.name);
    let table = TABLES.contains(&tensor.name.as_str());
    let of_cache = name.starts_with("attn_k") || name.starts_with("attn_v");
    let unused = of_cache && layer.is_some_and(|l| l >= own_cache);
    !table && !unused
}

/// `n × part / whole`; the product may exceed 64 bits.
fn part(n: u64, part: u64, whole: u64) -> u64 {
    let part = u128::from(n) * u128::from(part.min(whole)) / u128::from(whole.max(1));
    u64::try_from(part).unwrap_or(u64::MAX)
}
