//! `experts`: selections of experts.

use super::Publish;
use crate::words;
use profinfer_analysis::expert;
use profinfer_schema as schema;

fields! {
    expert::RoutedLayer => RoutedLayer {
        layer, name, weights, n_used, expert_bytes, expert_uses, figures,
    }
    expert::Figures => ExpertFigures {
        batches, tokens, left_out, all_used, uses, n_expert, never_used, distinct_per_batch,
        bytes_per_batch, balance, reuse, pins,
    }
    expert::Reuse => Reuse {
        uses, again, share, even_share, known, median_tokens, p90_tokens, never, unknown,
    }
    expert::Pin => Pin { rule, experts, bytes, hits, share, ahead_share, even_share }
}

impl Publish for expert::Routing {
    type Form = schema::Routing;

    fn publish(&self) -> Self::Form {
        let Self { phase, pid, context, whole, layers } = self;
        schema::Routing {
            phase: phase.publish(),
            pid: *pid,
            context: context.publish(),
            sentence: words::experts::sentence(self),
            all_layers: whole.publish(),
            layers: layers.publish(),
        }
    }
}
