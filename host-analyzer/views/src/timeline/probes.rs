//! Operator probes on and off, and the controller's steps, as tracks of their own, the same in all timelines.

use super::label::{Label, Value};
use crate::words;
use profinfer_analysis::Analysis;
use profinfer_analysis::duty::stretches::{Stretch, What, probes, steps};
use profinfer_trace::model::{Model, SwitchReason};

/// The track of one process.
pub(crate) struct Track {
    pub(crate) process: u32,
    pub(crate) name: &'static str,
    /// By start; they do not overlap.
    pub(crate) stretches: Vec<Stretch>,
}

/// All tracks, by process: first the probes, then the controller. None where operators were captured all the time.
pub(crate) fn tracks(model: &Model, analysis: &Analysis, origin_ns: u64) -> Vec<Track> {
    let end = model.session.start_ns.saturating_add(analysis.duration_ns);
    let of = |name, all: Vec<Stretch>| -> Vec<Track> {
        let by_process = all.chunk_by(|a, b| a.pid == b.pid);
        by_process.map(|s| Track { process: s[0].pid, name, stretches: s.to_vec() }).collect()
    };
    let mut all = of("operator probes", probes(model, origin_ns, end));
    all.extend(of("controller", steps(model, origin_ns, end)));
    all
}

/// What a stretch says.
pub(crate) fn label(analysis: &Analysis, what: What) -> Label {
    let (name, args) = match what {
        What::On(reason) => ("on".to_owned(), vec![("reason", Value::Text(self::reason(reason).to_owned()))]),
        What::PuttingIn(reason) => {
            ("putting in".to_owned(), vec![("reason", Value::Text(self::reason(reason).to_owned()))])
        }
        What::TakingOut(reason) => {
            ("taking out".to_owned(), vec![("reason", Value::Text(self::reason(reason).to_owned()))])
        }
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
