//! `compare.html` in a real browser: it shows the data of compare.json, loads nothing, and no name
//! becomes part of the page.

use profinfer_analysis::compare::{Choices, Comparison, Run};
use profinfer_views::compare::{Names, json, page};
use serde_json::Value;

use crate::HOSTILE;
use crate::browser::node;
use profinfer_trace::test_support::tables::{Spec, model};

/// A run like that of an engine, with a hostile name among its operators.
fn run(seed: u64, threads: u32) -> Run {
    let mut m = model(&Spec { seed, tokens: 24, threads, ..Spec::default() });
    let hostile = m.texts.intern(HOSTILE);
    for topology in &mut m.topologies.rows {
        topology.nodes[2].name = hostile;
    }
    m.session.start_unix_ns = seed;
    Run::compute(&m)
}

fn opened(comparisons: &[Comparison]) -> Option<(Value, Value)> {
    let runs = comparisons[0]
        .sides
        .each_ref()
        .map(|s| (0..s.runs.len()).map(|i| format!("{HOSTILE} {i}")).collect());
    let names = Names { sides: [HOSTILE.to_owned(), "b".to_owned()], runs };
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("compare.html");
    let (mut html, mut data) = (Vec::new(), Vec::new());
    page(comparisons, &names, &mut html).unwrap();
    json(comparisons, &names, &mut data).unwrap();
    std::fs::write(&path, html).unwrap();
    let output = node("tests/compare.mjs", &[&path])?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let shown: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(shown["problems"], Value::Array(Vec::new()));
    assert_eq!(shown["requests"], Value::Array(Vec::new()));
    assert_eq!(shown["hostile"], Value::Null);
    Some((shown, serde_json::from_slice(&data).unwrap()))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

#[test]
fn the_page_of_a_comparison_shows_its_data() {
    let side = |from: u64, threads| (from..from + 4).map(|seed| run(seed, threads)).collect::<Vec<_>>();
    let comparison = Comparison::new(&side(1, 2), &side(11, 3), Choices::default());
    let Some((shown, data)) = opened(std::slice::from_ref(&comparison)) else { return };
    assert_eq!(shown["code"], data["verdict"]["code"]);
    assert_eq!(shown["sentence"], data["verdict"]["sentence"]);
    assert_eq!(shown["interval"], true);
    let codes: Vec<&Value> = list(&data["notes"]).iter().map(|n| &n["code"]).collect();
    assert_eq!(list(&shown["notes"]).iter().collect::<Vec<_>>(), codes);
    // Every difference of the gate, in its order.
    let differs = list(&data["gate"]).iter().filter(|i| i["found"] == "different" || i["found"] == "mixed");
    let sentences: Vec<&str> = differs.map(|i| i["sentence"].as_str().unwrap()).collect();
    assert!(!sentences.is_empty());
    assert!(
        list(&shown["differs"]).iter().zip(&sentences).all(|(s, want)| s.as_str().unwrap().ends_with(want))
            && list(&shown["differs"]).len() == sentences.len(),
        "{:?} {sentences:?}",
        shown["differs"]
    );
    // The dots are in the order of the means.
    let mut dots: Vec<(u64, f64)> = list(&shown["dots"])
        .iter()
        .map(|d| (d["mean"].as_u64().unwrap(), d["x"].as_f64().unwrap()))
        .collect();
    let mut means: Vec<u64> = list(&data["sides"])
        .iter()
        .flat_map(|s| list(&s["runs"]))
        .map(|r| r["mean_ns"].as_u64().unwrap())
        .collect();
    dots.sort_by_key(|d| d.0);
    means.sort_unstable();
    assert_eq!(dots.iter().map(|d| d.0).collect::<Vec<_>>(), means);
    assert!(dots.windows(2).all(|w| w[0].1 <= w[1].1), "{dots:?}");
    // Every row of every level, the largest change first, as in the file.
    for level in ["step", "operator", "tensor"] {
        let rows: Vec<&Value> = list(&data["rows"]).iter().filter(|r| r["level"] == level).collect();
        let table = list(&shown["tables"][format!("rows-{level}")]);
        assert_eq!(table.len(), rows.len(), "{level}");
        for (cells, row) in table.iter().zip(rows) {
            for key in ["a_ns", "b_ns", "change_ns"] {
                assert_eq!(cells[key].as_str().unwrap(), row[key].to_string(), "{level} {row}");
            }
        }
    }
}

#[test]
fn the_page_of_different_work_has_no_rows() {
    let other = {
        let mut m = model(&Spec { seed: 3, tokens: 24, layers: 3, ..Spec::default() });
        m.session.start_unix_ns = 3;
        Run::compute(&m)
    };
    let comparison = Comparison::new(&[run(1, 2)], &[other], Choices::default());
    let Some((shown, data)) = opened(std::slice::from_ref(&comparison)) else { return };
    assert_eq!(
        (&shown["code"], &data["verdict"]["code"]),
        (&"different_work".into(), &"different_work".into())
    );
    assert_eq!(shown["tables"]["rows-step"], Value::Null);
    assert!(list(&shown["differs"]).iter().any(|d| d.as_str().unwrap().starts_with("different work")));
}
