//! `tracks`: contents of the timeline files.

use super::Publish;
use profinfer_analysis::track;

fields! {
    track::Track => Track {
        process, track, kind, tid, slices, total_ns,
    } - { thread, lane, order }
}

names! {
    track::TrackKind => TrackKind { Token, Graph, Thread }
}
