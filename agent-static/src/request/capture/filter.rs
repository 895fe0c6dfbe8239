//! Parsed filters.

use profinfer_wire::options::{parts, range};
use profinfer_wire::record::filter::FilterOn;

use super::glob;

/// Inclusive ranges of numbers.
pub type Ranges = Vec<(u32, u32)>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Threads {
    /// The first N threads of a graph, by their index in it.
    Most(u32),
    /// Threads with these IDs.
    Tids(Vec<u32>),
}

/// All filters of a session. An empty filter matches everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filters {
    ops: Vec<String>,
    names: Vec<String>,
    layers: Ranges,
    pub threads: Option<Threads>,
    /// Numbers of decode calls, from 1.
    pub tokens: Ranges,
    /// Numbers of requests, from 1.
    pub requests: Ranges,
}

/// True if a range contains the number, or if there are no ranges.
#[must_use]
pub fn passes(ranges: &Ranges, number: u32) -> bool {
    ranges.is_empty() || ranges.iter().any(|(from, to)| (*from..=*to).contains(&number))
}

impl Filters {
    /// Parses valid texts; see [`profinfer_wire::options::filter`].
    #[must_use]
    pub(super) fn new(texts: &[(FilterOn, String)]) -> Self {
        let mut filters = Self::default();
        for (on, text) in texts {
            let words = || parts(text).map(str::to_owned).collect();
            let ranges = || parts(text).filter_map(range).collect();
            match on {
                FilterOn::Op => filters.ops = words(),
                FilterOn::Name => filters.names = words(),
                FilterOn::Layer => filters.layers = ranges(),
                FilterOn::Token => filters.tokens = ranges(),
                FilterOn::Request => filters.requests = ranges(),
                FilterOn::Thread => {
                    filters.threads = Some(match text.as_str() {
                        "first" => Threads::Most(1),
                        tids if tids.starts_with("tid:") => {
                            Threads::Tids(parts(tids).filter_map(|p| p.parse().ok()).collect())
                        }
                        most => Threads::Most(most.parse().unwrap_or(u32::MAX)),
                    });
                }
            }
        }
        filters
    }

    /// True if some nodes of a graph may be left out.
    #[must_use]
    pub fn of_nodes(&self) -> bool {
        !self.ops.is_empty() || !self.names.is_empty() || !self.layers.is_empty()
    }

    /// True if complete `llama_decode` calls may be left out.
    #[must_use]
    pub fn of_calls(&self) -> bool {
        !self.tokens.is_empty() || !self.requests.is_empty()
    }

    /// True if a node with this type and name matches. `op` is a type such as `UNARY`, `desc` the
    /// description of the engine, such as `SILU`. The layer is tested separately: an unnamed node
    /// is in the layer of its sources.
    #[must_use]
    pub fn pass_node(&self, op: &str, desc: &str, name: &str) -> bool {
        let of_type = |o: &String| o.eq_ignore_ascii_case(op) || o.eq_ignore_ascii_case(desc);
        let named = |pattern: &String| glob::matches(pattern.as_bytes(), name.as_bytes());
        (self.ops.is_empty() || self.ops.iter().any(of_type))
            && (self.names.is_empty() || self.names.iter().any(named))
    }

    #[must_use]
    pub fn pass_layer(&self, layer: Option<u32>) -> bool {
        self.layers.is_empty() || layer.is_some_and(|l| passes(&self.layers, l))
    }

    /// True if the operators of this call are captured. `token` is its number among the decode
    /// calls; `None` for a prompt.
    #[must_use]
    pub fn pass_call(&self, token: Option<u32>, request: u32) -> bool {
        let by_token = self.tokens.is_empty() || token.is_some_and(|n| passes(&self.tokens, n));
        by_token && passes(&self.requests, request)
    }
}

/// The layer in the name of a tensor: `blk.3.attn_q.weight`, `ffn_out-3`, `cache_k_l3 (view)`.
#[must_use]
pub fn layer_of(name: &str) -> Option<u32> {
    // ggml appends how the tensor was derived.
    let base = name.split(" (").next().unwrap_or(name);
    let number = |text: &str| text.parse().ok();
    if let Some(rest) = base.strip_prefix("blk.") {
        return number(rest.split('.').next()?);
    }
    if let Some(rest) = base.strip_prefix("cache_") {
        return number(rest.rsplit_once("_l")?.1);
    }
    number(base.rsplit_once('-')?.1)
}

/// True if the name carries no information: ggml numbered the node itself.
#[must_use]
pub fn nameless(name: &str) -> bool {
    let base = name.split(" (").next().unwrap_or(name);
    base.is_empty() || base.strip_prefix("node_").is_some_and(|n| n.bytes().all(|b| b.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(on: FilterOn, text: &str) -> Filters {
        Filters::new(&[(on, text.to_owned())])
    }

    #[test]
    fn layers_of_names() {
        let told = [
            ("blk.3.attn_q.weight", Some(3)),
            ("ffn_out-12", Some(12)),
            ("Qcur-0 (reshaped)", Some(0)),
            ("cache_k_l7 (view)", Some(7)),
            ("result_output", None),
            ("node_12", None),
            ("output.weight", None),
            ("", None),
        ];
        told.into_iter().for_each(|(name, layer)| assert_eq!(layer_of(name), layer, "{name}"));
        let of = ["node_3", "", " (view)", "node_7 (reshaped)", "norm-3", "node_x"].map(nameless);
        assert_eq!(of, [true, true, true, true, false, false]);
    }

    #[test]
    fn what_passes() {
        let none = Filters::default();
        assert!(none.pass_node("ADD", "ADD", "x") && none.pass_layer(None) && none.pass_call(None, 0));
        assert!(!none.of_nodes() && !none.of_calls());
        let ops = of(FilterOn::Op, "mul_mat,SILU");
        assert!(
            ops.of_nodes() && ops.pass_node("MUL_MAT", "MUL_MAT", "x") && ops.pass_node("UNARY", "SILU", "x")
        );
        assert!(!ops.pass_node("ADD", "ADD", "x"));
        let names = of(FilterOn::Name, "ffn_*,l_out-?");
        assert!(names.pass_node("ADD", "ADD", "l_out-3") && !names.pass_node("ADD", "ADD", "Qcur-3"));
        let layers = of(FilterOn::Layer, "0-1,4");
        assert_eq!(
            [Some(1), Some(2), Some(4), None].map(|l| layers.pass_layer(l)),
            [true, false, true, false]
        );
        let calls = of(FilterOn::Token, "2-3");
        assert!(calls.of_calls() && calls.pass_call(Some(2), 1));
        assert!(!calls.pass_call(Some(1), 1) && !calls.pass_call(None, 1));
        let requests = of(FilterOn::Request, "2");
        assert!(requests.pass_call(None, 2) && !requests.pass_call(Some(5), 1));
        assert_eq!(of(FilterOn::Thread, "first").threads, Some(Threads::Most(1)));
        assert_eq!(of(FilterOn::Thread, "tid:5,6").threads, Some(Threads::Tids(vec![5, 6])));
    }
}
