//! `summary.json`: every figure of a session except the single spans.
//!
//! Stage: view. From: session, analysis. To: one JSON object, `profinfer_schema::Summary`.

use std::io::{self, Write};

use crate::published::{self, Publish};
use crate::words::heading::heading;
use profinfer_analysis::Analysis;
use profinfer_analysis::findings::Findings;
use profinfer_analysis::ladder::{LadderSum, Question};
use profinfer_schema::{DRAFT, SCHEMA, Summary};
use profinfer_trace::model::Model;

/// Writes the summary.
///
/// # Errors
/// Those of `out`.
pub fn summary(model: &Model, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &document(model, analysis))?;
    out.write_all(b"\n")
}

/// The content of `summary.json`.
#[must_use]
pub fn document(model: &Model, analysis: &Analysis) -> Summary {
    let findings = Findings::compute(model, analysis);
    Summary {
        schema: SCHEMA,
        draft: DRAFT,
        heading: heading(&model.session, analysis, &findings.headline).publish(),
        session: published::session::session(&model.session, analysis.duration_ns),
        ending: analysis.ending.publish(),
        health: analysis.health.publish(),
        capture: analysis.capture.publish(),
        findings: findings.publish(),
        ladders: ladders(analysis),
        ladders_of_pieces: ladder_sums(&analysis.ladders_of_pieces),
        engines: analysis.engine.publish(),
        weights: analysis.weight.publish(),
        tokens: analysis.token.publish(),
        server: analysis.server.publish(),
        speculative: analysis.speculative.publish(),
        kv: analysis.kv.publish(),
        critical_paths: analysis.dag.iter().filter_map(|d| d.path.publish()).collect(),
        budget: analysis.budget.publish(),
        graphs: analysis.graph.publish(),
        op_types: published::op::types(analysis),
        operators: published::op::operators(analysis),
        work: published::work::work(analysis),
        backends: analysis.accelerator.publish(),
        nested_calls: analysis.nested.publish(),
        experts: analysis.expert.publish(),
        threads: analysis.thread.publish(),
        counters: analysis.counted.publish(),
        gauges: analysis.gauge.publish(),
        conditions: analysis.conditions.publish(),
        ceilings: analysis.ceiling.all.publish(),
        sched: analysis.sched.publish(),
        tracks: analysis.track.publish(),
        cost: analysis.cost.publish(),
    }
}

/// The ladders of a part of a session, in the form of `summary.json`.
#[must_use]
pub fn ladders(analysis: &Analysis) -> Vec<profinfer_schema::Ladder> {
    published::ladder::ladders(&analysis.ladder, &analysis.replay)
}

/// The ladders of several parts as one per question.
#[must_use]
pub fn ladder_sums(sums: &[(Question, LadderSum)]) -> Vec<profinfer_schema::LadderSum> {
    sums.iter().map(|(question, sum)| published::ladder::sum(*question, sum)).collect()
}

/// The findings of a part of a session, in the form of `summary.json`.
#[must_use]
pub fn findings(findings: &Findings) -> profinfer_schema::Findings {
    findings.publish()
}
