//! The part of `tune.json` that is foreseen from one recording.

use serde::Serialize;

use super::words;
use profinfer_analysis::roof::Top;
use profinfer_analysis::tune::{Foreseen, Prediction, Share};

#[derive(Serialize)]
pub(super) struct Document<'a> {
    choice: Option<String>,
    plausible: Vec<String>,
    cached: bool,
    memory_share: f64,
    read: Option<Top>,
    recorded: Recorded<'a>,
    settings: Vec<Row<'a>>,
}

#[derive(Serialize)]
struct Recorded<'a> {
    tokens: usize,
    threads: u32,
    cpus: &'a [u16],
    token_ns: f64,
    half_ns: Option<f64>,
    probes_ns: f64,
    barriers: f64,
    between_operators_ns: f64,
    serial_ns: f64,
    waits_ns: f64,
    taken_ns: f64,
    other_ns: f64,
    operators: Vec<Operator<'a>>,
}

#[derive(Serialize)]
struct Operator<'a> {
    desc: &'a str,
    rows: u64,
    weights: bool,
    arithmetic: &'static str,
    ns: f64,
    bytes: f64,
}

#[derive(Serialize)]
struct Row<'a> {
    name: String,
    threads: u32,
    cpus: String,
    core: Option<&'a str>,
    token_ns: f64,
    low_ns: f64,
    high_ns: f64,
    recorded: bool,
    plausible: bool,
    sure: bool,
}

pub(super) fn document(prediction: &Prediction) -> Document<'_> {
    let (m, settings) = (&prediction.makeup, &prediction.settings);
    Document {
        choice: prediction.choice.map(|i| words::tune::name(&settings[i])),
        plausible: settings.iter().filter(|s| s.plausible).map(words::tune::name).collect(),
        cached: prediction.cached,
        memory_share: prediction.memory_share,
        read: prediction.read,
        recorded: Recorded {
            tokens: m.tokens,
            threads: m.threads,
            cpus: &m.cpus,
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

fn operator(share: &Share) -> Operator<'_> {
    Operator {
        desc: &share.desc,
        rows: share.rows,
        weights: share.product,
        arithmetic: share.arithmetic.name(),
        ns: share.ns,
        bytes: share.bytes,
    }
}

fn row(setting: &Foreseen) -> Row<'_> {
    Row {
        name: words::tune::name(setting),
        threads: setting.threads,
        cpus: words::tune::cpus(&setting.cpus),
        core: setting.core.as_deref(),
        token_ns: setting.token_ns,
        low_ns: setting.low_ns,
        high_ns: setting.high_ns,
        recorded: setting.recorded,
        plausible: setting.plausible,
        sure: setting.sure,
    }
}
