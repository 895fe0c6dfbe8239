//! A model that no session has run, from the header of its file.

use std::collections::BTreeMap;

/// A model's tensors and settings.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Blueprint {
    /// Bytes of the file.
    pub file_bytes: u64,
    /// Architecture, for example `llama`; empty when the file has none.
    pub architecture: String,
    /// Tensors, in the file's order; no two with one name.
    pub tensors: Vec<Tensor>,
    /// Integer settings of the file, by key; a list where each layer has one.
    pub numbers: BTreeMap<String, Vec<u64>>,
}

/// A tensor of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tensor {
    /// Name.
    pub name: String,
    /// Element type as the engine names it.
    pub dtype: &'static str,
    /// Elements per dimension, the fastest first; 1 beyond the last.
    pub ne: [u64; 4],
    /// Bytes of its elements.
    pub bytes: u64,
}

impl Tensor {
    /// Elements.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.ne.iter().fold(1_u64, |product, n| product.saturating_mul(*n))
    }
}

impl Blueprint {
    /// A setting of the architecture: `block_count` stands for `llama.block_count`.
    #[must_use]
    pub fn number(&self, key: &str) -> Option<u64> {
        self.of_layer(key, 0)
    }

    /// As [`Self::number`] for one layer, where each layer has a value.
    #[must_use]
    pub fn of_layer(&self, key: &str, layer: u64) -> Option<u64> {
        let values = self.numbers.get(&format!("{}.{key}", self.architecture))?;
        let at = usize::try_from(layer).unwrap_or(usize::MAX);
        values.get(at).or_else(|| values.last().filter(|_| values.len() == 1)).copied()
    }

    /// Number of files that the model is split into.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.numbers.get("split.count").and_then(|n| n.first()).copied().unwrap_or(1).max(1)
    }
}
