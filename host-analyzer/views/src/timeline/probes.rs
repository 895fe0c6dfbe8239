//! Operator probes on and off, and the controller's steps, as rows of the timeline.

use super::label::{Label, Value};
use super::row::{Content, Row};
use crate::words;
use profinfer_analysis::Analysis;
use profinfer_analysis::duty::stretches::{Stretch, What, probes, steps};
use profinfer_trace::model::{Model, SwitchReason};

/// All rows: the probes of each process, then the controller of each process. There are none
/// if operators were captured all the time.
pub(super) fn rows(model: &Model, analysis: &Analysis, origin_ns: u64) -> Vec<Row<'static>> {
    let end = model.session.start_ns.saturating_add(analysis.duration_ns);
    let by_process = |name: &str, all: Vec<Stretch>| -> Vec<Row<'static>> {
        let row = |stretches: &[Stretch]| Row {
            process: stretches[0].pid,
            name: name.to_owned(),
            rank: 0,
            content: Content::Probes(stretches.to_vec()),
        };
        all.chunk_by(|a, b| a.pid == b.pid).map(row).collect()
    };
    let mut all = by_process("operator probes", probes(model, origin_ns, end));
    all.extend(by_process("controller", steps(model, origin_ns, end)));
    all
}

pub(super) fn label(analysis: &Analysis, what: What) -> Label {
    let because = |reason| vec![("reason", Value::Text(self::reason(reason).to_owned()))];
    let (name, args) = match what {
        What::On(reason) => ("on".to_owned(), because(reason)),
        What::PuttingIn(reason) => ("putting in".to_owned(), because(reason)),
        What::TakingOut(reason) => ("taking out".to_owned(), because(reason)),
        What::Step(row) => match analysis.capture.steps.get(row) {
            Some(step) => {
                let name = format!("duty {:.0} %", step.after_share * 100.0);
                (name, vec![("reason", Value::Text(words::capture::reason(step)))])
            }
            None => ("duty".to_owned(), Vec::new()),
        },
    };
    Label { name, categories: vec!["probes".to_owned()], args }
}

const fn reason(reason: SwitchReason) -> &'static str {
    match reason {
        SwitchReason::Begin => "begin",
        SwitchReason::Duty => "duty",
        SwitchReason::Controller => "controller",
        SwitchReason::Filter => "filter",
        SwitchReason::End => "end",
    }
}
