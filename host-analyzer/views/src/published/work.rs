//! `work`: bytes, operations, and the ceilings of the board.

use super::Publish;
use profinfer_analysis::phase::Phase;
use profinfer_analysis::roof::{self, Roof};
use profinfer_analysis::{Analysis, work};
use profinfer_schema as schema;

fields! {
    work::Done => Done {
        read_bytes, weight_bytes, cache_bytes, written_bytes, operations, accuracy, bytes_per_s,
        operations_per_s, intensity,
    }
    roof::Utilisation => Utilisation { phase, tokens, bytes_per_token, accuracy, bytes_per_s, mbu }
}

names! {
    work::Accuracy => Accuracy { Counted, AtMost, Estimated, AtLeast }
}

/// `work`.
pub(crate) fn work(analysis: &Analysis) -> schema::Work {
    let with = |phase: &Phase| analysis.roof.phase(*phase).threads > 0;
    schema::Work {
        decode: analysis.roof.decode.publish(),
        roofs: Phase::ALL.iter().filter(|p| with(p)).map(|p| roof(*p, analysis.roof.phase(*p))).collect(),
        modules: super::module::modules(&analysis.module.modules),
        layers: analysis.module.layers.publish(),
    }
}

fn roof(phase: Phase, roof: &Roof) -> schema::Roof {
    let Roof { threads, cpus, reads_bytes, read, int8, f32, f16, no_read, .. } = roof;
    let limits = roof.limits();
    schema::Roof {
        phase: phase.publish(),
        threads: *threads,
        cpus: cpus.publish(),
        reads_bytes: *reads_bytes,
        read: read.publish(),
        int8: int8.publish(),
        f32: f32.publish(),
        f16: f16.publish(),
        no_read: no_read.map(|why| why.name().to_owned()),
        limits: Some(schema::Limits {
            read: limits.read.publish(),
            int8: limits.int8.publish(),
            f32: limits.f32.publish(),
            f16: limits.f16.publish(),
        }),
    }
}

impl Publish for roof::Top {
    type Form = schema::Top;

    fn publish(&self) -> Self::Form {
        let Self { per_s, same_cpus, working_set_bytes, beyond, low, high, polluted, source } = *self;
        schema::Top {
            per_s,
            same_cpus,
            working_set_bytes,
            beyond,
            low: Some(low),
            high,
            polluted: Some(polluted),
            source: Some(source.publish()),
            kept_unix_ns: super::ceiling::kept(source),
        }
    }
}
