//! `kv`: growth of a decode call with the context.

use super::Publish;
use profinfer_analysis::kv;

fields! {
    kv::Kv => Kv { pid, context, steps, limit_cells, token, at_limit, types, names }
    kv::Step => KvStep { cells, tokens, median_ns }
    kv::Growth => Growth { ns_per_1000_cells, low_ns, high_ns, grows, median_ns, share }
    kv::Operators => GrowingOperators { name, op, desc, backend, growth }
    kv::Limit => KvAtLimit { token_ns, low_ns, high_ns }
}
