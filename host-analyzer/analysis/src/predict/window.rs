//! Layers whose attention has a sliding window: they keep and read the last cells only.
//!
//! The file names the window, and often which layers have one. Where it does not, llama.cpp assumes a
//! period for the architecture (`load_arch_hparams` in its `src/models`, 0.8.0). An architecture that
//! is not known, or for which llama.cpp ignores the window, has none.

use profinfer_trace::model::Blueprint;

/// Architectures and the period that llama.cpp assumes: the last layer of a period attends to all cells.
const PERIODS: [(&str, u64); 14] = [
    ("afmoe", 4),
    ("cohere2", 4),
    ("cohere2moe", 4),
    ("exaone-moe", 4),
    ("exaone4", 4),
    ("gemma2", 2),
    ("gemma3", 6),
    ("gemma3n", 5),
    ("gpt-oss", 2),
    ("llama4", 4),
    ("mellum", 4),
    ("olmo2", 4),
    ("plamo3", 8),
    ("smallthinker", 4),
];

/// Of these it is the first layer of a period that attends to all cells.
const FULL_FIRST: [&str; 2] = ["cohere2moe", "smallthinker"];

/// Layers of the only exaone4 whose window llama.cpp uses.
const EXAONE4_LAYERS: u64 = 64;

/// Tokens of a micro-batch by the engine's default: the cache of a window has room for one.
const MICRO_BATCH: u64 = 512;

/// The engine makes caches of windows in steps of this many cells.
const STEP: u64 = 256;

/// The windows of a model.
pub(super) struct Windows<'a> {
    blueprint: &'a Blueprint,
    /// Cells; 0 without windows.
    window: u64,
}

impl<'a> Windows<'a> {
    pub(super) fn new(blueprint: &'a Blueprint) -> Self {
        Self { blueprint, window: blueprint.number("attention.sliding_window").unwrap_or(0) }
    }

    /// Whether a layer has one.
    pub(super) fn has(&self, layer: u64) -> bool {
        const PATTERN: &str = "attention.sliding_window_pattern";
        let architecture = self.blueprint.architecture.as_str();
        if self.window == 0 {
            return false;
        }
        let values = self.blueprint.numbers.get(&format!("{architecture}.{PATTERN}")).map(Vec::as_slice);
        let period = match values {
            Some([period]) => *period,
            Some(of_layers) if !of_layers.is_empty() => {
                // A short list is repeated.
                let at = layer % of_layers.len() as u64;
                return self.blueprint.of_layer(PATTERN, at).is_some_and(|has| has > 0);
            }
            _ if architecture == "exaone4"
                && self.blueprint.number("block_count") != Some(EXAONE4_LAYERS) =>
            {
                return false;
            }
            _ => match PERIODS.iter().find(|(name, _)| *name == architecture) {
                Some((_, period)) => *period,
                None => return false,
            },
        };
        match period {
            0 => true,
            n if FULL_FIRST.contains(&architecture) => !layer.is_multiple_of(n),
            n => layer % n < n - 1,
        }
    }

    /// The cells that a layer keeps and a token reads, of `cells` of the context.
    pub(super) fn cells(&self, layer: u64, cells: u64) -> u64 {
        if !self.has(layer) {
            return cells;
        }
        let kept = self.window.saturating_add(MICRO_BATCH).div_ceil(STEP).saturating_mul(STEP);
        cells.min(kept)
    }
}
