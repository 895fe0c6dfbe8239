//! The part of `tune.json` that is estimated from one recording.

use super::words;
use crate::published::Publish;
use profinfer_analysis::tune::{EstimatedSetting, Prediction, Share};
use profinfer_schema as schema;

pub(super) fn document(prediction: &Prediction) -> schema::TuningPrediction {
    let (m, settings) = (&prediction.makeup, &prediction.settings);
    schema::TuningPrediction {
        choice: prediction.choice.map(|i| words::tune::name(&settings[i])),
        plausible: settings.iter().filter(|s| s.plausible).map(words::tune::name).collect(),
        cached: prediction.cached,
        memory_share: prediction.memory_share,
        read: prediction.read.publish(),
        recorded: schema::RecordedSetting {
            tokens: m.tokens.publish(),
            threads: m.threads,
            cpus: m.cpus.clone(),
            token_ns: m.token_ns,
            half_ns: m.half_ns,
            probes_ns: m.probes_ns,
            barriers: m.barriers,
            between_operators_ns: m.between_ns,
            serial_ns: m.serial_ns,
            waits_ns: m.waits_ns,
            taken_ns: m.taken_ns,
            other_ns: m.other_ns,
            operators: m.operators.iter().map(operator).collect(),
        },
        settings: settings.iter().map(row).collect(),
    }
}

fn operator(share: &Share) -> schema::OperatorShare {
    schema::OperatorShare {
        desc: share.desc.clone(),
        rows: share.rows,
        weights: share.product,
        arithmetic: share.arithmetic.name().to_owned(),
        ns: share.ns,
        bytes: share.bytes,
    }
}

fn row(setting: &EstimatedSetting) -> schema::PredictedSetting {
    schema::PredictedSetting {
        name: words::tune::name(setting),
        threads: setting.threads,
        cpus: words::tune::cpus(&setting.cpus),
        core: setting.core.clone(),
        token_ns: setting.token_ns,
        low_ns: setting.low_ns,
        high_ns: setting.high_ns,
        recorded: setting.recorded,
        plausible: setting.plausible,
        sure: setting.sure,
    }
}
