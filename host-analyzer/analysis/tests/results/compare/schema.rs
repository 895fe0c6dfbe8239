//! compare.json: no name can leave its place.

use profinfer_analysis::compare::{Comparison, Run};
use profinfer_views::compare::{Names, json};
use profinfer_views::terminal;
use serde_json::Value;

use super::{compare, model_of, run_of, runs};

fn document(c: &Comparison, names: &Names) -> Value {
    let mut bytes = Vec::new();
    json(std::slice::from_ref(c), names, &mut bytes).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

/// Comparisons of few and of enough runs, as they are written.
pub(crate) fn written() -> Vec<Vec<u8>> {
    let some =
        [compare(&[run_of(0)], &[run_of(90)]), compare(&runs(&[0, 1, 2, 3]), &runs(&[45, 46, 47, 48]))];
    let written = |c: &Comparison| {
        let mut bytes = Vec::new();
        json(std::slice::from_ref(c), &Names::default(), &mut bytes).unwrap();
        bytes
    };
    some.iter().map(written).collect()
}

#[test]
fn hostile_names_stay_where_they_are() {
    const HOSTILE: &str = "\u{1b}[2J</script>\u{202e}\n";
    let hostile = {
        let mut m = model_of(1);
        let name = m.texts.intern(HOSTILE);
        m.topologies.rows[0].nodes[0].desc = name;
        m.topologies.rows[0].nodes[0].name = name;
        m.topologies.rows[0].nodes[5].name = name;
        m.session.kernel = HOSTILE.to_owned();
        Run::compute(&m)
    };
    for different_work in [false, true] {
        let choices = profinfer_analysis::compare::Choices { different_work, ..Default::default() };
        let c = Comparison::new(&[run_of(0)], std::slice::from_ref(&hostile), choices);
        let names = Names {
            sides: [HOSTILE.to_owned(), HOSTILE.to_owned()],
            runs: [vec![HOSTILE.to_owned()], vec![HOSTILE.to_owned()]],
        };
        let mut text = Vec::new();
        terminal::compare::compare(std::slice::from_ref(&c), &names, 100, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        // Colours are the only escapes.
        assert!(!text.contains("\u{1b}[2J") && !text.contains('\u{202e}'), "{text:?}");
        let data = document(&c, &names);
        assert_eq!(data["sides"][0]["name"], HOSTILE);
        let mut page = Vec::new();
        profinfer_views::compare::page(std::slice::from_ref(&c), &names, &mut page).unwrap();
        let page = String::from_utf8(page).unwrap();
        let element = page.split("id=\"comparison\">").nth(1).unwrap();
        let data = element.split("</script>").next().unwrap().trim();
        // Base64: no text of a recording can end the element.
        let base64 = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
        assert!(data.len() > 100 && data.chars().all(base64), "{data}");
    }
}

/// The tables of the terminal add up, too: the shown rows and all others sum to the token's change.
#[test]
fn the_terminal_shows_the_sum() {
    let c = compare(&[run_of(0)], &[run_of(90)]);
    let mut text = Vec::new();
    terminal::compare::compare(std::slice::from_ref(&c), &Names::default(), 100, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    let totals: Vec<&str> = text.lines().filter(|l| l.starts_with("total")).collect();
    assert!(
        !totals.is_empty()
            && totals.iter().all(|l| l.contains("450 ns") && l.contains("540 ns") && l.contains("+90 ns")),
        "{text}"
    );
    assert!(text.contains("B is slower: 540 vs 450 ns per token (+20 %;"), "{text}");
}
