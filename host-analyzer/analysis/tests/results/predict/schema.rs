//! predict.json: its figures are those of the prediction, and no name can leave its place.

use profinfer_analysis::ceiling::Ceilings;
use profinfer_analysis::predict::{Bracket, Census, Refusal};
use profinfer_trace::model::{CeilingKind, Model};
use profinfer_views::predict::{Answer, Names, json};
use profinfer_views::terminal;
use serde_json::Value;

use super::board::{Made, Q4, Q5, Q8};
use super::predict;
use crate::models::rows::ceiling;

fn document(answer: &Answer, names: &Names) -> Value {
    let mut bytes = Vec::new();
    json(answer, names, &mut bytes).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

fn predicted() -> Answer {
    let of = |layers, embd, dtype| Made { layers, embd, dtype }.run();
    let runs = [of(2, 64, Q8), of(4, 128, Q8), of(2, 64, Q4), of(4, 128, Q4)];
    Answer::Predicted(Box::new(predict(Made { layers: 7, embd: 96, dtype: Q5 }, &runs)))
}

/// A prediction, a bracket and a refusal, as they are written.
pub(crate) fn written() -> Vec<Vec<u8>> {
    let refused = Answer::Refused(Refusal::Board { asked: "a".to_owned(), found: "b".to_owned() });
    let written = |answer: &Answer| {
        let mut bytes = Vec::new();
        json(answer, &Names::default(), &mut bytes).unwrap();
        bytes
    };
    [predicted(), bracketed(), refused].iter().map(written).collect()
}

#[test]
fn figures_of_the_file_are_those_of_the_prediction() {
    let answer = predicted();
    let names = Names { model: "m".to_owned(), recordings: ["a", "b", "c", "d"].map(str::to_owned).to_vec() };
    let file = document(&answer, &names);
    assert_eq!(
        (&file["code"], &file["threads"], &file["left_out"][3]["recording"]),
        (&"predicted".into(), &1.into(), &"d".into())
    );
    let Answer::Predicted(p) = &answer else { panic!("{answer:?}") };
    assert_eq!(file["decode"]["tokens_per_s"].as_f64(), Some(p.decode_per_s()));
    assert_eq!(file["types"][0]["seen"], false);
    let parts = &file["parts"];
    let sum: u64 = ["products_ns", "attention_ns", "others_ns", "between_ns"]
        .iter()
        .map(|k| parts[k].as_u64().unwrap())
        .sum();
    assert!(sum.abs_diff(file["decode"]["token_ns"].as_u64().unwrap()) <= 2);
}

#[test]
fn hostile_names_stay_where_they_are() {
    const HOSTILE: &str = "\u{1b}[2J\u{202e}\n";
    let names = Names { model: HOSTILE.to_owned(), recordings: vec![HOSTILE.to_owned(); 4] };
    let refused = Answer::Refused(Refusal::Board { asked: HOSTILE.to_owned(), found: HOSTILE.to_owned() });
    for answer in [predicted(), refused] {
        let mut seen = Vec::new();
        terminal::predict::predict(&answer, &names, 80, &mut seen).unwrap();
        let seen = String::from_utf8(seen).unwrap();
        assert!(!seen.contains("[2J\u{202e}") && !seen.contains('\u{202e}'), "{seen}");
        assert!(seen.lines().all(|l| l.chars().count() <= 200), "{seen}");
        let _ = document(&answer, &names);
    }
}

/// 8 GB/s on one thread, 12 on two.
fn board() -> Model {
    let ceilings = vec![
        ceiling(CeilingKind::Read, &[0], 8_000_000_000),
        ceiling(CeilingKind::Read, &[0, 1], 12_000_000_000),
        ceiling(CeilingKind::Int8, &[0, 1], 100_000_000_000),
    ];
    Model { ceilings, ..Model::default() }
}

fn bracketed() -> Answer {
    let made = Made { layers: 2, embd: 64, dtype: Q8 };
    let census = Census::new(&made.file().read().unwrap(), 1).unwrap();
    let bracket = Bracket::compute(&census, &Ceilings::compute(&board()), None).unwrap();
    Answer::Bracket(Box::new((census, bracket)))
}

/// A bracket contains what the ceilings allow: 12 GB/s on two threads, of which 25 to 95 % are
/// reached.
#[test]
fn a_bracket_from_ceilings() {
    let model = board();
    let made = Made { layers: 2, embd: 64, dtype: Q8 };
    let census = Census::new(&made.file().read().unwrap(), 1).unwrap();
    let bracket = Bracket::compute(&census, &Ceilings::compute(&model), None).unwrap();
    assert_eq!((bracket.threads, bracket.read.per_s), (2, 12_000_000_000));
    let bytes = census.streamed_bytes() as f64;
    assert!(
        (bracket.decode_ns.0 - bytes / 12.0 / 0.95).abs() < 1e-6
            && (bracket.decode_ns.1 - bytes / 12.0 / 0.25).abs() < 1e-6
    );
    // 64 × 64 and twice 64 × 128 in two layers, and 64 × 96: two operations each.
    let operations = 2.0 * (2.0 * (4_096.0 + 2.0 * 8_192.0) + 6_144.0);
    let prefill = bracket.prefill_ns.unwrap();
    assert!(
        (prefill.0 - operations / 100.0 / 0.7).abs() < 1e-6
            && (prefill.1 - operations / 100.0 / 0.05).abs() < 1e-6
    );
    assert_eq!(
        Bracket::compute(&census, &Ceilings::compute(&model), Some(1)).unwrap().read.per_s,
        8_000_000_000
    );
    assert!(Bracket::compute(&census, &Ceilings::compute(&model), Some(3)).is_none());
    // By the bytes that a token of this model reads: twice as fast in a cache.
    let mut cached = Model { ceilings: model.ceilings.clone(), ..Model::default() };
    for read in cached.ceilings.iter_mut().filter(|c| c.kind == CeilingKind::Read) {
        let rate = read.median;
        read.points = crate::ceilings::points(&[(census.streamed_bytes(), 2 * rate), (1 << 30, rate)]);
    }
    let bracket = Bracket::compute(&census, &Ceilings::compute(&cached), None).unwrap();
    assert_eq!(
        (bracket.read.per_s, bracket.read.working_set_bytes),
        (24_000_000_000, Some(census.streamed_bytes()))
    );
    assert!((bracket.decode_ns.0 - bytes / 24.0 / 0.95).abs() < 1e-6);
    let file = document(&Answer::Bracket(Box::new((census, bracket))), &Names::default());
    assert_eq!((&file["code"], &file["decode"]["interval"]), (&"bracket".into(), &"ceilings".into()));
    assert_eq!(&file["read"]["per_s"], &serde_json::Value::from(24_000_000_000_u64));
}
