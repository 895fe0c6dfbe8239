//! `health`: what is missing or damaged.

use super::Publish;
use crate::words;
use profinfer_analysis::health;
use profinfer_schema as schema;
use profinfer_trace::model::{ExpertLedger, Ledger};

fields! {
    health::Damaged => Damage { kind, count, bytes, first_offset }
    health::SkippedKind => SkippedKind { kind, count }
    health::SpanSum => SpanSum {
        kernel, received, dropped, left_out, empty, no_start, no_end, unaccounted,
    }
    health::RingStalls => RingStalls { count, longest_ns }
    health::Late => Late { pid, after_ns }
}

impl Publish for health::Health {
    type Form = schema::Health;

    fn publish(&self) -> Self::Form {
        let Self {
            perfect,
            // As sentences, in `lines`.
            remarks: _,
            dropped,
            damaged,
            skipped,
            cut_short,
            end_reason,
            refused,
            spans,
            experts,
            ring_stalls,
            late,
        } = self;
        schema::Health {
            perfect: *perfect,
            lines: words::health::lines(self),
            dropped: dropped.publish(),
            damaged: damaged.publish(),
            skipped: skipped.publish(),
            cut_short: *cut_short,
            end_reason: end_reason.publish(),
            refused: refused.as_ref().map(words::health::refused),
            spans: spans.publish(),
            experts: experts.publish(),
            ring_stalls: ring_stalls.publish(),
            late: late.publish(),
        }
    }
}

impl Publish for health::Dropped {
    type Form = schema::Dropped;

    fn publish(&self) -> Self::Form {
        let Self { spans, ledger } = *self;
        let Ledger {
            spans_ring_full,
            spans_queue_full,
            spans_no_graph,
            spans_too_large,
            spans_unreadable,
            spans_damaged,
            no_state,
            calls_ring_full,
            tensors_ring_full,
            frames_queue_full,
            bytes_queue_full,
            // Not losses. The losses of the sum are in `SpanSum`.
            at_ns: _,
            span_starts: _,
            span_ends: _,
            spans_sent: _,
            spans_empty: _,
            spans_no_start: _,
            spans_no_end: _,
            spans_filtered: _,
            spans_gated: _,
        } = ledger;
        schema::Dropped {
            spans,
            ring_full: spans_ring_full,
            queue_full: spans_queue_full,
            no_graph: spans_no_graph,
            graph_too_large: spans_too_large,
            graph_unreadable: spans_unreadable,
            damaged: spans_damaged,
            no_state,
            calls: calls_ring_full,
            tensors: tensors_ring_full,
            frames: frames_queue_full,
            frame_bytes: bytes_queue_full,
        }
    }
}

impl Publish for health::ExpertSum {
    type Form = schema::ExpertSum;

    fn publish(&self) -> Self::Form {
        let Self { chosen, kept, ledger, unaccounted, missing } = *self;
        let lost = |reason: fn(&ExpertLedger) -> u64| ledger.as_ref().map(reason);
        schema::ExpertSum {
            chosen,
            kept,
            ring_full: lost(|l| l.ring_full),
            queue_full: lost(|l| l.queue_full),
            unreadable: lost(|l| l.unreadable),
            no_graph: lost(|l| l.no_graph),
            unaccounted,
            missing,
        }
    }
}
