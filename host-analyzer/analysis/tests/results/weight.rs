//! Memory of the weights.

use profinfer_analysis::Analysis;

use crate::replay::{COMPLETE, recording};

/// The call of the last graph is missing in a recording that was cut.
#[test]
fn the_weights_of_a_graph_without_its_call_count_once() {
    for name in COMPLETE {
        let mut m = recording(name);
        let whole = Analysis::compute(&m).weight;
        assert!(whole.iter().any(|w| w.context.is_some() && w.bytes > 0), "{name}");
        let last = m.graph_calls.decode.iter().rposition(Option::is_some).unwrap();
        m.graph_calls.decode[last] = None;
        assert_eq!(Analysis::compute(&m).weight, whole, "{name}");
    }
}
