//! `ceilings`: the best performance of the board.

use super::Publish;
use profinfer_analysis::ceiling;
use profinfer_trace::model;

fields! {
    ceiling::Ceiling => Ceiling {
        kind, unit, core, threads, cpus, how, repeats, median, min, max, note, working_set_bytes,
        doubts, end, points,
    }
    ceiling::Point => CurvePoint { working_set_bytes, repeats, median, min, max, doubts }
}

names! {
    model::CeilingKind => CeilingKind { Read, Copy, Int8, F32, F16, Barrier, WakeUp }
    model::Doubt => Doubt { Unstable, EngineRan, Noted, Unknown }
    model::CurveEnd => CurveEnd { Open, Cache, Memory, Time }
}
