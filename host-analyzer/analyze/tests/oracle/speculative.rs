//! Speculative decoding, compared with the engine's own report.

use profinfer_analysis::Analysis;
use profinfer_analysis::ladder::Question;
use profinfer_analysis::phase::Phase;

use crate::support::{model, parts, record, tool};

/// Draft tokens, accepted tokens and tokens equal the tool's. No later call shows the result of the last round:
/// what the tool removes after it does.
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
        assert_eq!((s.drafted, s.open_rounds), (number("n_drafted"), 0));
        assert_eq!((s.emitted, s.accepted), (number("n_predict"), number("n_accept")));
        // Two or three trials, the prompt, and every other call of the target verifies. The
        // headline excludes the draft.
        let of = |phase| a.token.calls.iter().filter(move |c| c.phase == phase);
        assert_eq!(of(Phase::BatchDecode).count() as u64 + of(Phase::Decode).count() as u64, s.rounds);
        assert!(
            of(Phase::Draft).all(|c| c.context == s.draft) && of(Phase::Draft).count() as u64 >= s.rounds
        );
        assert!(of(Phase::Prefill).all(|c| c.context == s.target) && of(Phase::WarmUp).count() >= 2);
        // The speed is that of the tokens that came out, with the draft's time.
        let decode = a.ladder.of(Question::Decode).unwrap();
        let (tokens, took) = decoded(&said);
        assert_eq!((decode.units, tokens), (s.emitted, s.emitted));
        assert!(decode.measured_ns <= took + ROUNDED_NS, "{} of {took} ns", decode.measured_ns);
        let draft: u64 = of(Phase::Draft).map(|c| c.duration_ns).sum();
        assert!(decode.measured_ns > draft, "{} ns, {draft} in the draft", decode.measured_ns);
        assert_eq!(a.token.requests.len(), 1);
        // The first one comes from the call with the prompt's last token.
        assert_eq!(a.token.requests[0].generated + 1, s.emitted);
    }
}

/// The tool gives its time in milliseconds.
const ROUNDED_NS: u64 = 1_000_000;

/// `decoded N tokens in T seconds` of the tool: tokens, and ns.
fn decoded(said: &str) -> (u64, u64) {
    let line = said.lines().find(|l| l.contains("decoded")).unwrap_or_else(|| panic!("{said}"));
    let words: Vec<&str> = line.split_whitespace().collect();
    let after = |word: &str| words[words.iter().position(|w| *w == word).unwrap() + 1];
    (after("decoded").parse().unwrap(), (after("in").parse::<f64>().unwrap() * 1e9) as u64)
}

/// Guesses from n-grams: tokens that came out, with single tokens between the verifications.
#[test]
fn the_speed_of_lookups_is_the_tools_own() {
    let Some(parts) = parts() else { return };
    let Some(program) = tool("llama-lookup") else { return };
    let model = model(&parts, "smollm2");
    let text = "one two three four five six seven eight";
    let rest = ["-m", &model, "--temp", "0", "-n", "70", "-t", "2", "-p", text, "--spec-draft-n-max", "8"];
    let (trace, output) = record(&parts, &[], &[&[program.to_str().unwrap()][..], &rest].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    let (tokens, took) = decoded(&said);
    let a = Analysis::compute(&trace);
    let decode = a.ladder.of(Question::Decode).unwrap();
    println!("{:?} {tokens} tokens, {took} ns; {} of {} ns", a.speculative, decode.units, decode.measured_ns);
    assert!(a.speculative.iter().any(|s| s.rounds > 0 && s.draft.is_none()), "{said}");
    // The tool counts the prompt's own token, and those of a last round with guesses, which nothing follows.
    let rest = tokens - decode.units;
    assert!((0..=10).contains(&rest), "{tokens} tokens, {} on the ladder", decode.units);
    // The tool's clock starts after the call of the prompt's last token, which gives the first one.
    let generates = |p: &Phase| matches!(p, Phase::Decode | Phase::BatchDecode);
    let (calls, first) = (&trace.llama_calls, a.phases.llama_calls.iter().position(generates).unwrap());
    let end = |i: usize| calls.start_ns[i] + calls.duration_ns[i];
    let measured = decode.measured_ns - (end(first) - end(first - 1));
    assert!(measured <= took + took / 50, "{measured} of {took} ns");
}
