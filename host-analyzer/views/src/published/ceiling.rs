//! `ceilings`: the best performance of the board.

use super::Publish;
use profinfer_analysis::ceiling;
use profinfer_schema as schema;
use profinfer_trace::model::{self, CeilingSource};

impl Publish for ceiling::Ceiling {
    type Form = schema::Ceiling;

    fn publish(&self) -> Self::Form {
        let Self { kind, unit, core, threads, cpus, how, repeats, median, min, max, note, .. } = self;
        let Self { working_set_bytes, doubts, end, points, load, polluted, source, .. } = self;
        schema::Ceiling {
            kind: kind.publish(),
            unit: unit.publish(),
            core: core.publish(),
            threads: threads.publish(),
            cpus: cpus.publish(),
            how: how.publish(),
            repeats: repeats.publish(),
            median: median.publish(),
            min: min.publish(),
            max: max.publish(),
            note: note.publish(),
            working_set_bytes: working_set_bytes.publish(),
            doubts: doubts.publish(),
            end: end.publish(),
            points: points.publish(),
            source: Some(source.publish()),
            kept_unix_ns: kept(*source),
            polluted: Some(*polluted),
            load: load.publish(),
        }
    }
}

/// When the session began in which a kept ceiling was measured.
pub(super) const fn kept(source: CeilingSource) -> Option<u64> {
    match source {
        CeilingSource::Kept { unix_ns } => Some(unix_ns),
        _ => None,
    }
}

impl Publish for CeilingSource {
    type Form = schema::CeilingSource;

    fn publish(&self) -> Self::Form {
        match self {
            Self::Recording => schema::CeilingSource::Recording,
            Self::Given => schema::CeilingSource::Given,
            Self::Kept { .. } => schema::CeilingSource::Kept,
            Self::Profile => schema::CeilingSource::Profile,
            Self::BestSeen => schema::CeilingSource::BestSeen,
        }
    }
}

fields! {
    model::CeilingLoad => CeilingLoad { wall_ns, others_ns, pid, name, pid_ns }
    ceiling::Point => CurvePoint { working_set_bytes, repeats, median, min, max, doubts }
}

names! {
    model::CeilingKind => CeilingKind { Read, Copy, Int8, F32, F16, Barrier, WakeUp }
    model::Doubt => Doubt { Unstable, EngineRan, Noted, Unknown }
    model::CurveEnd => CurveEnd { Open, Cache, Memory, Time }
}
