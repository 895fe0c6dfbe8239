//! `compare.json` as structs.

use super::Names;
use crate::published::Publish;
use crate::words;
use profinfer_analysis::compare::{self, Comparison, Item, Method, Note, Row, Value};
use profinfer_analysis::ladder::Question;
use profinfer_schema as schema;
use profinfer_schema::{DRAFT, SCHEMA};

/// The content of `compare.json`: the first comparison, and those of other questions in `others`.
#[must_use]
pub fn document(comparisons: &[Comparison], names: &Names) -> schema::Comparison {
    let Some((first, others)) = comparisons.split_first() else { return schema::Comparison::default() };
    let different = |n: &Note| matches!(n, Note::DifferentWork | Note::NoCommonPositions);
    schema::Comparison {
        schema: SCHEMA,
        draft: DRAFT,
        same_work: first.verdict.code != compare::Code::DifferentWork && !first.notes.iter().any(different),
        gate: first.gate.iter().map(gate_item).collect(),
        compared: question(first, names),
        others: others.iter().map(|other| question(other, names)).collect(),
    }
}

fn question(comparison: &Comparison, names: &Names) -> schema::QuestionComparison {
    let unit = comparison.unit_ns();
    let note = |n: &Note| schema::Note {
        code: words::compare::note_code(n).to_owned(),
        sentence: words::compare::note(n, comparison.question),
    };
    schema::QuestionComparison {
        question: comparison.question.publish(),
        title: words::compare::title(comparison.question).to_owned(),
        unit: words::compare::unit(comparison.question).to_owned(),
        verdict: verdict(comparison),
        power: comparison.power.as_ref().map(|p| schema::Power {
            power_share: compare::POWER,
            variation_share: p.scatter,
            detectable_share: p.told,
            runs: p.runs.publish(),
            sentence: words::compare::power(p, comparison.choices.practical),
        }),
        selection: selection(comparison),
        sides: [0, 1].into_iter().map(|side| self::side(comparison, names, side)).collect(),
        notes: comparison.notes.iter().map(note).collect(),
        change: unit.map(|[a_ns, b_ns]| schema::Change { a_ns, b_ns, change_ns: b_ns - a_ns }),
        rows: comparison.rows.iter().map(|row| self::row(row, comparison, unit)).collect(),
    }
}

fn verdict(comparison: &Comparison) -> schema::ComparisonVerdict {
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
    schema::ComparisonVerdict {
        code: v.code.code().to_owned(),
        sentence: words::compare::verdict(comparison),
        shift_share: v.shift,
        low_share: v.interval.map(|i| i.0),
        high_share: v.interval.map(|i| i.1),
        bound_share: v.bound(),
        practical_share: v.practical,
        doubtful: v.doubtful,
        method: method.map(str::to_owned),
        coverage_share,
        within_share: spread.map(|s| s.0),
        between_share: spread.map(|s| s.1),
        between_seen: spread.map(|s| s.2),
    }
}

fn gate_item(item: &Item) -> schema::GateItem {
    let only = |side| item.only_in(side).into_iter().map(str::to_owned).collect();
    schema::GateItem {
        thing: item.key.thing.publish(),
        which: item.key.which.publish(),
        title: words::compare::name(item),
        kind: item.kind.publish(),
        found: item.found.code().to_owned(),
        other_work: item.other_work(),
        a: item.values[0].iter().map(value).collect(),
        b: item.values[1].iter().map(value).collect(),
        only_a: only(0),
        only_b: only(1),
        sentence: words::compare::item(item),
    }
}

/// Longest list of texts. A model has hundreds of weights, the same in all runs; the lists of
/// differences are separate.
const LISTED: usize = 32;

fn value(value: &Value) -> schema::ThingValue {
    match value {
        Value::Unknown => schema::ThingValue::Unknown(None),
        Value::Number(n) => schema::ThingValue::Number(*n),
        Value::Texts(texts) if texts.len() > LISTED => schema::ThingValue::Number(texts.len() as f64),
        Value::Texts(texts) => schema::ThingValue::Texts(texts.iter().cloned().collect()),
    }
}

fn selection(comparison: &Comparison) -> schema::Selection {
    let chosen = &comparison.selection;
    schema::Selection {
        warm_up: chosen.warm_up.publish(),
        first_position: chosen.positions.map(|p| p.0),
        last_position: chosen.positions.map(|p| p.1),
        sizes: chosen.sizes.iter().copied().collect(),
        traced: chosen.traced,
        sentence: words::compare::selection(comparison),
    }
}

fn side(comparison: &Comparison, names: &Names, side: usize) -> schema::Side {
    let figures = &comparison.sides[side];
    let name = |i: usize| names.runs[side].get(i).cloned().unwrap_or_default();
    let mean = figures.mean_ns();
    schema::Side {
        name: names.sides[side].clone(),
        mean_ns: mean.map(|ns| ns.round() as u64),
        median_ns: figures.median_ns().map(|ns| ns.round() as u64),
        tokens_per_s: mean
            .filter(|ns| *ns > 0.0 && comparison.question != Question::Encode)
            .map(|ns| 1e9 / ns),
        spread_share: figures.spread(),
        runs: figures
            .runs
            .iter()
            .enumerate()
            .map(|(i, run)| schema::Run {
                name: name(i),
                calls: run.calls.publish(),
                units: run.units,
                mean_ns: run.mean_ns.round() as u64,
                median_ns: run.median_ns,
                half_share: run.half_share,
                disturbed_share: run.disturbed_share,
            })
            .collect(),
    }
}

fn row(row: &Row, comparison: &Comparison, unit: Option<[i64; 2]>) -> schema::ChangeRow {
    let programs = &comparison.programs;
    let text = |t: &str| (!t.is_empty()).then(|| t.to_owned());
    schema::ChangeRow {
        level: row.level.code().to_owned(),
        step: row.step.publish(),
        culprit: row.step.program().map(|id| programs.name(id).to_owned()),
        module: row.module.map(|module| module.publish()),
        op: text(&row.op),
        tensor: text(&row.tensor),
        title: words::compare::row(row, programs),
        a_ns: row.side_ns[0],
        b_ns: row.side_ns[1],
        change_ns: row.change_ns(),
        change_share: unit.filter(|t| t[0] > 0).map(|t| row.change_ns() as f64 / t[0] as f64),
        p: row.p,
        stands: row.stands,
    }
}
