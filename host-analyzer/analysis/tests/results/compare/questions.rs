//! Other questions than generated text: prompts, and tokens that come out of guesses.

use profinfer_analysis::compare::{Choices, Code, Comparison, Level, Note, Run};
use profinfer_analysis::ladder::{Question, StepKind};
use profinfer_trace::model::{Layer, Model, Topology, TopologyId};
use profinfer_trace::test_support::tables::{Spec, model};
use profinfer_views::words::compare as words;

use crate::models::calls;
use crate::models::graph::{outer_graph, span};
use crate::models::planted::{Plant, each, prompts};
use crate::models::rows::tensor;
use crate::replay::questions::{DECODE, calls as of_a_process};
use crate::server;
use crate::speculative::always;

const EXACT: Choices = Choices { spread: 0.0, practical: 0.02, warm_up: 3, different_work: false };

fn questions(a: &Model, b: &Model) -> Vec<Comparison> {
    Comparison::of_questions(&[vec![Run::all(a)], vec![Run::all(b)]], EXACT)
}

/// Each level sums to both sides' times.
fn sums(c: &Comparison) {
    for level in Level::ALL {
        let rows = || c.rows.iter().filter(|r| r.level == level);
        let sum = [0, 1].map(|side: usize| rows().map(|r| r.side_ns[side]).sum::<i64>());
        assert_eq!(Some(sum), c.unit_ns(), "{level:?}");
    }
}

/// Forty prompts of four tokens. A call takes 400 ns, and the worker has 80 ns more to do on side B.
#[test]
fn prompts_are_compared_per_token() {
    let slow = prompts(each(|_| Plant { work: 80, ..Plant::default() }));
    let all = questions(&prompts(each(|_| Plant::default())), &slow);
    let [c] = &all[..] else { panic!("{} questions", all.len()) };
    assert_eq!((c.question, c.unit_ns(), c.verdict.code), (Question::Prompt, Some([100, 120]), Code::Slower));
    sums(c);
    assert_eq!(c.selection.sizes.iter().collect::<Vec<_>>(), [&4]);
    let run = &c.sides[0].runs[0];
    assert_eq!((run.calls, run.units, run.half_share), (37, 148, Some(0.0)));
    let said = words::verdict(c);
    assert!(said.starts_with("B is slower: 120 vs 100 ns per prompt token"), "{said}");
    assert!(
        words::selection(c).starts_with("Compared: completely traced calls that read prompts of 4 tokens")
    );
}

/// Twenty prompts, each with an image, whose encoder has one operator of this length, ns.
fn images(operator_ns: u64) -> Model {
    let at = |i: u64| 10_000 * (i + 1);
    let rows: Vec<_> = (0..20)
        .flat_map(|i| [(DECODE, 7, 30, at(i), at(i) + 100), (DECODE, 7, 1, at(i) + 110, at(i) + 200)])
        .collect();
    let mut m = of_a_process(&rows);
    let nodes = vec![tensor(&mut m.texts, "patches", "CONV_2D", "f32")];
    m.topologies.rows.push(Topology { pid: 1, n_nodes: 1, nodes, complete: true });
    for i in 0..20_u32 {
        outer_graph(&mut m, at(i.into()) - operator_ns - 50, operator_ns + 20);
        m.graph_calls.layer[i as usize] = Layer::Backend;
        m.graph_calls.topology[i as usize] = Some(TopologyId(0));
        span(&mut m, i, 1, [0, 0], [5, operator_ns, 0]);
    }
    m
}

/// An encoder is outside of the model's calls. Of 450 ns, 50 are its graph's and the application's.
#[test]
fn encoders_of_images_are_compared_apart() {
    let all = questions(&images(400), &images(500));
    let of: Vec<Question> = all.iter().map(|c| c.question).collect();
    assert_eq!(of, [Question::Decode, Question::Prompt, Question::Encode]);
    assert!(all[..2].iter().all(|c| c.verdict.shift == Some(0.0)), "text is as fast");
    let c = &all[2];
    assert_eq!((c.unit_ns(), c.verdict.code), (Some([450, 550]), Code::Slower));
    sums(c);
    let operators: Vec<_> = c
        .rows
        .iter()
        .filter(|r| r.level == Level::Tensor && r.change_ns() != 0)
        .map(|r| (r.step, r.op.as_str(), r.tensor.as_str(), r.change_ns()))
        .collect();
    assert_eq!(operators, [(StepKind::Encoder, "CONV_2D", "patches", 100)]);
}

/// Calls that read prompts of these lengths; a token takes 10 ns, a call 100 more.
fn texts(lengths: &[u32]) -> Model {
    let parts: Vec<[server::Part; 1]> = lengths.iter().map(|n| [(0, 0, *n, *n)]).collect();
    let calls: Vec<(u64, u64, &[server::Part])> = (0..)
        .zip(&parts)
        .map(|(i, parts)| (i * 10_000, 100 + 10 * u64::from(parts[0].2), &parts[..]))
        .collect();
    server::model(&calls)
}

#[test]
fn calls_of_equal_numbers_of_tokens_are_compared() {
    let all = questions(&texts(&[20, 50, 20, 50]), &texts(&[20, 70, 20]));
    let [c] = &all[..] else { panic!("{} questions", all.len()) };
    // Four calls are too few to leave out three, and too few for an interval.
    assert_eq!((c.selection.warm_up, c.sides[0].runs[0].calls, c.sides[1].runs[0].calls), (0, 2, 2));
    assert_eq!((c.unit_ns(), c.verdict.code, c.verdict.interval), (Some([15, 15]), Code::TooFewRuns, None));
    // Without a common number, all are: then it matters how many tokens they have.
    let all = questions(&texts(&[50, 60]), &texts(&[20, 30]));
    assert!(all[0].notes.contains(&Note::Sizes { mean: [55.0, 25.0] }), "{:?}", all[0].notes);
}

/// Texts that are cut into three parts: a later part takes longer, in each text alike.
#[test]
fn parts_of_texts_repeat_their_times() {
    let text = |slower: u64| {
        let part: Vec<[server::Part; 1]> = (0..3).map(|part| [(0, 80 * part, 80, 80)]).collect();
        let at = |i: u64| (i * 10_000, 1_600 + 800 * (i % 3) + slower, &part[(i % 3) as usize][..]);
        server::model(&(0..12).map(at).collect::<Vec<_>>())
    };
    let all = questions(&text(0), &text(240));
    let c = &all[0];
    assert_eq!((c.question, c.selection.warm_up), (Question::Prompt, 3));
    // 2,400 ns for 80 tokens in the mean, then 2,640.
    assert!(c.sides.iter().all(|side| side.runs[0].half_share.unwrap() < 1e-9), "{:?}", c.sides);
    assert_eq!((c.unit_ns(), c.verdict.code), (Some([30, 33]), Code::Slower));
}

#[test]
fn what_comes_out_of_guesses_is_compared() {
    // 10 ns pass after each of five calls of 140 ns in all; two tokens come out, then four.
    let run = |accepted| Run::compute(&calls::model(&always(accepted, 20), true));
    let (few, many) = (run(1), run(3));
    assert!(few.calls[1..].iter().all(|c| (c.units, c.time_ns) == (2, 190)), "{:?}", few.calls);
    let c = Comparison::new(&[few], &[many], EXACT);
    let [a, b] = c.unit_ns().unwrap();
    assert!(a == 95 && (47..=48).contains(&b), "{a} {b}");
    sums(&c);
}

#[test]
fn prompts_and_tokens_of_one_recording_are_two_questions() {
    let run = |seed| model(&Spec { seed, tokens: 24, ..Spec::default() });
    let all = questions(&run(1), &run(2));
    assert_eq!(all.iter().map(|c| c.question).collect::<Vec<_>>(), [Question::Decode, Question::Prompt]);
    all.iter().for_each(sums);
    // What only one side has is not compared.
    let all = questions(&run(1), &texts(&[20, 30]));
    assert_eq!(all.iter().map(|c| c.question).collect::<Vec<_>>(), [Question::Prompt]);
}
