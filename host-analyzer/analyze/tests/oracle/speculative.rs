//! Speculative decoding, compared with the engine's own report.

use profinfer_analysis::Analysis;
use profinfer_analysis::phase::Phase;

use crate::support::{model, parts, record, tool};

/// Draft tokens, accepted tokens and tokens equal the tool's. No later call shows the result of the
/// last round, but the tool counts it as tokens and as accepted tokens; these two must agree.
#[test]
fn counts_equal_the_tools_own() {
    let Some(parts) = parts() else { return };
    let Some(program) = tool("llama-speculative-simple") else { return };
    let (target, draft) = (model(&parts, "spec-target"), model(&parts, "spec-draft"));
    for n in ["23", "40"] {
        let models = ["--spec-type", "draft-simple", "-m", &target, "-md", &draft, "--spec-draft-n-max", "4"];
        let rest = ["--temp", "0", "-n", n, "-t", "1", "-p", "a b c d"];
        let command = [&[program.to_str().unwrap()][..], &models, &rest].concat();
        let (trace, output) = record(&parts, &[], &command);
        assert!(trace.health.damage.is_empty() && !trace.health.cut_short(), "{:#?}", trace.health);
        let said = String::from_utf8_lossy(&output.stderr);
        let number = |name: &str| -> u64 {
            let line = said.lines().find(|l| l.contains(name)).unwrap_or_else(|| panic!("{said}"));
            line.rsplit('=').next().unwrap().split_whitespace().next().unwrap().parse().unwrap()
        };
        let a = Analysis::compute(&trace);
        assert_eq!(a.speculative.len(), 1);
        let s = &a.speculative[0];
        println!("{s:?}");
        assert_eq!((s.drafted, s.open_rounds), (number("n_drafted"), 1));
        let last = number("n_predict") - s.emitted;
        assert!((1..=5).contains(&last), "{last} tokens of the last round");
        assert_eq!(s.accepted + last - 1, number("n_accept"));
        // Two or three trials, the prompt, and every other call of the target verifies. The
        // headline excludes the draft.
        let of = |phase| a.token.calls.iter().filter(move |c| c.phase == phase);
        assert_eq!(of(Phase::BatchDecode).count() as u64 + of(Phase::Decode).count() as u64, s.rounds);
        assert!(
            of(Phase::Draft).all(|c| c.context == s.draft) && of(Phase::Draft).count() as u64 >= s.rounds
        );
        assert!(of(Phase::Prefill).all(|c| c.context == s.target) && of(Phase::WarmUp).count() >= 2);
        assert_eq!(a.token.requests.len(), 1);
        assert_eq!(a.token.requests[0].generated, s.emitted + 1);
    }
}
