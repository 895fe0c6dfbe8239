//! A draft that is hardly ever right, and one that is nearly always right.

use super::{Run, find, findings, kept, trace};
use crate::support::{Parts, model, parts, tool};

const TOKENS: &str = "160";

/// Speculative decoding of a target with a draft of four tokens each time.
fn drafted(parts: &Parts, target: &str, draft: &str) -> Option<Run> {
    let program = tool("llama-speculative-simple")?;
    let (target, draft) = (model(parts, target), model(parts, draft));
    let models = ["--spec-type", "draft-simple", "-m", &target, "-md", &draft, "--spec-draft-n-max", "4"];
    let rest = ["--temp", "0", "-n", TOKENS, "-t", "1", "-p", "a b c d"];
    Some(Run::compute(&[&[program.to_str().unwrap()][..], &models, &rest].concat()))
}

/// The target alone.
fn plain(parts: &Parts, target: &str) -> Option<Run> {
    let (program, target) = (tool("llama-completion")?, model(parts, target));
    let words = [program.to_str().unwrap(), "-m", &target, "--temp", "0", "-n", TOKENS, "-t", "1"];
    Some(Run::compute(&[&words[..], &["-p", "a b c d", "-no-cnv", "--ignore-eos"]].concat()))
}

/// Two models that share only the vocabulary.
#[test]
#[ignore = "ci/promise.sh runs it"]
fn a_draft_of_poor_acceptance() {
    let Some(parts) = parts() else { return };
    let Some(drafted) = drafted(&parts, "dense-f32", "dense-q4k") else { return };
    let Some(plain) = plain(&parts, "dense-f32") else { return };
    kept(&parts, "draft", &drafted, &plain);
}

/// A draft that generates like its target.
#[test]
#[ignore = "ci/promise.sh runs it"]
fn a_draft_that_is_right_raises_no_alarm() {
    let Some(parts) = parts() else { return };
    let Some(run) = drafted(&parts, "spec-target", "spec-draft") else { return };
    let trace = trace(&parts, &run);
    let f = findings(&trace);
    assert!(find(&f, "draft").is_none(), "{f:#?}");
    let row = &profinfer_analysis::Analysis::compute(&trace).speculative[0];
    println!("{row:?}");
    assert!(row.accepted_share.is_some_and(|share| share > 0.5), "{row:?}");
}
