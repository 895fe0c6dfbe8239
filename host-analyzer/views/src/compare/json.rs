//! The document.

use serde::Serialize;

use super::Names;
use crate::{SCHEMA, words};
use profinfer_analysis::compare::{self, Comparison, Item, Method, Note, Row, Value};

/// Everything that is written of a comparison.
#[derive(Serialize)]
pub(super) struct Document<'a> {
    schema: u32,
    verdict: Verdict,
    power: Option<Power>,
    same_work: bool,
    gate: Vec<GateItem<'a>>,
    selection: Selection,
    sides: Vec<Side<'a>>,
    notes: Vec<NoteRow>,
    change: Option<Change>,
    rows: Vec<RowOut<'a>>,
}

#[derive(Serialize)]
struct Verdict {
    code: &'static str,
    sentence: String,
    shift_share: Option<f64>,
    low_share: Option<f64>,
    high_share: Option<f64>,
    bound_share: Option<f64>,
    practical_share: f64,
    doubtful: bool,
    method: Option<&'static str>,
    coverage_share: Option<f64>,
    within_share: Option<f64>,
    between_share: Option<f64>,
    /// Whether that is what runs of one side lie apart.
    between_seen: Option<bool>,
}

#[derive(Serialize)]
struct Power {
    power_share: f64,
    scatter_share: f64,
    told_share: Option<f64>,
    runs: Option<usize>,
    sentence: String,
}

#[derive(Serialize)]
struct GateItem<'a> {
    thing: compare::Thing,
    which: &'a str,
    title: String,
    kind: compare::Kind,
    found: &'static str,
    other_work: bool,
    a: Vec<ValueOut<'a>>,
    b: Vec<ValueOut<'a>>,
    only_a: Vec<&'a str>,
    only_b: Vec<&'a str>,
    sentence: String,
}

/// A number, or texts, or nothing where it is not known.
#[derive(Serialize)]
#[serde(untagged)]
enum ValueOut<'a> {
    Number(f64),
    Texts(Vec<&'a str>),
    Unknown(Option<()>),
}

#[derive(Serialize)]
struct Selection {
    phase: &'static str,
    warm_up: usize,
    first_position: Option<u32>,
    last_position: Option<u32>,
    traced: bool,
    sentence: String,
}

#[derive(Serialize)]
struct Side<'a> {
    name: &'a str,
    mean_ns: Option<u64>,
    median_ns: Option<u64>,
    tokens_per_s: Option<f64>,
    spread_share: Option<f64>,
    runs: Vec<Run<'a>>,
}

#[derive(Serialize)]
struct Run<'a> {
    name: &'a str,
    tokens: usize,
    mean_ns: u64,
    median_ns: u64,
    half_share: Option<f64>,
    disturbed_share: Option<f64>,
}

#[derive(Serialize)]
struct NoteRow {
    code: &'static str,
    sentence: String,
}

#[derive(Serialize)]
struct Change {
    a_ns: i64,
    b_ns: i64,
    change_ns: i64,
}

#[derive(Serialize)]
struct RowOut<'a> {
    level: &'static str,
    class: &'static str,
    op: Option<&'a str>,
    tensor: Option<&'a str>,
    title: String,
    a_ns: i64,
    b_ns: i64,
    change_ns: i64,
    change_share: Option<f64>,
    p: Option<f64>,
    stands: Option<bool>,
}

pub(super) fn document<'a>(comparison: &'a Comparison, names: &'a Names) -> Document<'a> {
    let token = comparison.token_ns();
    let different = |n: &Note| matches!(n, Note::DifferentWork | Note::NoCommonPositions);
    Document {
        schema: SCHEMA,
        verdict: verdict(comparison),
        power: comparison.power.as_ref().map(|p| Power {
            power_share: compare::POWER,
            scatter_share: p.scatter,
            told_share: p.told,
            runs: p.runs,
            sentence: words::compare::power(p, comparison.choices.practical),
        }),
        same_work: comparison.verdict.code != compare::Code::DifferentWork
            && !comparison.notes.iter().any(different),
        gate: comparison.gate.iter().map(gate_item).collect(),
        selection: selection(comparison),
        sides: [0, 1].into_iter().map(|side| self::side(comparison, names, side)).collect(),
        notes: comparison
            .notes
            .iter()
            .map(|n| NoteRow { code: words::compare::note_code(n), sentence: words::compare::note(n) })
            .collect(),
        change: token.map(|[a_ns, b_ns]| Change { a_ns, b_ns, change_ns: b_ns - a_ns }),
        rows: comparison.rows.iter().map(|row| self::row(row, token)).collect(),
    }
}

fn verdict(comparison: &Comparison) -> Verdict {
    let v = &comparison.verdict;
    let (method, coverage_share) = match v.method {
        Some(Method::Ranks { coverage }) => (Some("ranks"), Some(coverage)),
        Some(Method::Spread { .. }) => (Some("spread"), None),
        None => (None, None),
    };
    let spread = match v.method {
        Some(Method::Spread { within, between, seen }) => Some((within, between, seen)),
        _ => None,
    };
    Verdict {
        code: v.code.code(),
        sentence: words::compare::verdict(comparison),
        shift_share: v.shift,
        low_share: v.interval.map(|i| i.0),
        high_share: v.interval.map(|i| i.1),
        bound_share: v.bound(),
        practical_share: v.practical,
        doubtful: v.doubtful,
        method,
        coverage_share,
        within_share: spread.map(|s| s.0),
        between_share: spread.map(|s| s.1),
        between_seen: spread.map(|s| s.2),
    }
}

fn gate_item(item: &Item) -> GateItem<'_> {
    GateItem {
        thing: item.key.thing,
        which: &item.key.which,
        title: words::compare::name(item),
        kind: item.kind,
        found: item.found.code(),
        other_work: item.other_work(),
        a: item.values[0].iter().map(value).collect(),
        b: item.values[1].iter().map(value).collect(),
        only_a: item.only_in(0).into_iter().collect(),
        only_b: item.only_in(1).into_iter().collect(),
        sentence: words::compare::item(item),
    }
}

/// A model has hundreds of weights, and all runs have the same: the lists of what differs are beside it.
const LISTED: usize = 32;

fn value(value: &Value) -> ValueOut<'_> {
    match value {
        Value::Unknown => ValueOut::Unknown(None),
        Value::Number(n) => ValueOut::Number(*n),
        Value::Texts(texts) if texts.len() > LISTED => ValueOut::Number(texts.len() as f64),
        Value::Texts(texts) => ValueOut::Texts(texts.iter().map(String::as_str).collect()),
    }
}

fn selection(comparison: &Comparison) -> Selection {
    let chosen = &comparison.selection;
    Selection {
        phase: "decode",
        warm_up: chosen.warm_up,
        first_position: chosen.positions.map(|p| p.0),
        last_position: chosen.positions.map(|p| p.1),
        traced: chosen.traced,
        sentence: words::compare::selection(comparison),
    }
}

fn side<'a>(comparison: &'a Comparison, names: &'a Names, side: usize) -> Side<'a> {
    let figures = &comparison.sides[side];
    let name = |i: usize| names.runs[side].get(i).map_or("", String::as_str);
    let mean = figures.mean_ns();
    Side {
        name: &names.sides[side],
        mean_ns: mean.map(|ns| ns.round() as u64),
        median_ns: figures.median_ns().map(|ns| ns.round() as u64),
        tokens_per_s: mean.filter(|ns| *ns > 0.0).map(|ns| 1e9 / ns),
        spread_share: figures.spread(),
        runs: figures
            .runs
            .iter()
            .enumerate()
            .map(|(i, run)| Run {
                name: name(i),
                tokens: run.tokens,
                mean_ns: run.mean_ns.round() as u64,
                median_ns: run.median_ns,
                half_share: run.half_share,
                disturbed_share: run.disturbed_share,
            })
            .collect(),
    }
}

fn row(row: &Row, token: Option<[i64; 2]>) -> RowOut<'_> {
    let text = |t: &'_ str| !t.is_empty();
    RowOut {
        level: row.level.code(),
        class: row.class.key(),
        op: Some(&*row.op).filter(|t| text(t)),
        tensor: Some(&*row.tensor).filter(|t| text(t)),
        title: words::compare::row(row),
        a_ns: row.side_ns[0],
        b_ns: row.side_ns[1],
        change_ns: row.change_ns(),
        change_share: token.filter(|t| t[0] > 0).map(|t| row.change_ns() as f64 / t[0] as f64),
        p: row.p,
        stands: row.stands,
    }
}
