//! A comparison on the terminal: verdict, differences, runs, and the parts of the change.

use std::io::{self, Write};

use super::style::{Colour, Sheet, cut, table, write_table};
use crate::compare::Names;
use crate::words::compare as words;
use crate::words::{duration, one_line};
use profinfer_analysis::compare::{Code, Comparison, Found, Item, Level, Row};
use profinfer_analysis::ladder::Question;

/// Maximum number of rows per level; compare.json has all.
const SHOWN: usize = 12;

/// A row with a smaller change, as a share of a unit's time on side A, is not shown.
const SMALL: f64 = 0.001;

/// Writes a comparison in at most `width` columns: the first one, and those of other questions after it.
///
/// # Errors
/// Those of `out`.
pub fn compare(
    comparisons: &[Comparison],
    names: &Names,
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let out = &mut Sheet::new(out, width);
    let Some((first, others)) = comparisons.split_first() else { return Ok(()) };
    gate(first, out)?;
    question(first, names, out)?;
    for other in others {
        writeln!(out)?;
        writeln!(out, "{}", Colour::Strong.paint(words::title(other.question)))?;
        question(other, names, out)?;
    }
    out.left_out()
}

fn question(comparison: &Comparison, names: &Names, out: &mut Sheet<'_>) -> io::Result<()> {
    let colour = match comparison.verdict.code {
        Code::Faster | Code::NoDifferenceBeyond => Colour::Good,
        Code::Slower | Code::DifferentWork => Colour::Bad,
        Code::TooFewRuns | Code::Undecided => Colour::Warn,
    };
    for line in super::style::wrapped(&words::verdict(comparison), out.width()) {
        writeln!(out, "{}", colour.paint(&line))?;
    }
    if let Some(power) = &comparison.power {
        out.sentence(&words::power(power, comparison.choices.practical))?;
    }
    out.sentence(&words::selection(comparison))?;
    for note in &comparison.notes {
        out.sentence(&words::note(note, comparison.question))?;
    }
    runs(comparison, names, out)?;
    rows(comparison, out)
}

fn gate(comparison: &Comparison, out: &mut Sheet<'_>) -> io::Result<()> {
    let differs = |item: &&Item| matches!(item.found, Found::Different | Found::Mixed);
    for item in comparison.gate.iter().filter(differs) {
        let (colour, kind) =
            if item.other_work() { (Colour::Bad, "other work") } else { (Colour::Warn, "differs") };
        let text = format!("{kind}: {}", words::item(item));
        for line in super::style::wrapped(&text, out.width()) {
            writeln!(out, "{}", colour.paint(&line))?;
        }
    }
    for (found, what) in [(Found::Same, "the same"), (Found::Unknown, "unknown for some runs")] {
        let names = words::names(&comparison.gate, found);
        if !names.is_empty() {
            let text = format!("{what}: {}", names.join(", "));
            for line in super::style::wrapped(&text, out.width()) {
                writeln!(out, "{}", Colour::Dim.paint(&line))?;
            }
        }
    }
    writeln!(out)
}

fn runs(comparison: &Comparison, names: &Names, out: &mut Sheet<'_>) -> io::Result<()> {
    let units = if comparison.question == Question::Encode { "calls" } else { "tokens" };
    let mut t = table(&["run", "side", units, "mean", "median", "±"]);
    for (side, letter) in ["A", "B"].into_iter().enumerate() {
        for (i, run) in comparison.sides[side].runs.iter().enumerate() {
            let name = names.runs[side].get(i).map_or("", String::as_str);
            t.add_row(vec![
                cut(&one_line(name), 40),
                letter.to_owned(),
                run.units.to_string(),
                duration(run.mean_ns.round() as u64),
                duration(run.median_ns),
                run.half_share
                    .map_or_else(|| "–".to_owned(), |h| words::change(h).trim_start_matches('+').to_owned()),
            ]);
        }
    }
    write_table(&mut t, out)
}

fn rows(comparison: &Comparison, out: &mut Sheet<'_>) -> io::Result<()> {
    let Some([a, b]) = comparison.unit_ns() else { return Ok(()) };
    let time = format!("time per {}", words::unit(comparison.question));
    let of_a = format!("of A's {}", words::unit(comparison.question));
    let many = comparison.rows.iter().any(|row| row.p.is_some());
    for level in Level::ALL {
        let what = match level {
            Level::Step => time.as_str(),
            Level::Module => "by module",
            Level::Operator => "by operator",
            Level::Tensor => "by tensor",
        };
        let of_level: Vec<&Row> = comparison.rows.iter().filter(|row| row.level == level).collect();
        // The other levels repeat the steps without operators.
        let shows = |row: &&&Row| {
            let own = level == Level::Step || row.module.is_some() || !row.op.is_empty();
            own && row.change_ns().unsigned_abs() as f64 >= SMALL * a as f64
        };
        let shown: Vec<&&Row> = of_level.iter().filter(shows).take(SHOWN).collect();
        if shown.is_empty() && level != Level::Step {
            continue;
        }
        let headers = [what, "A", "B", "change", of_a.as_str(), if many { "certain" } else { "" }];
        let mut t = table(&headers[..if many { 6 } else { 5 }]);
        let mut rest = [a, b];
        for row in &shown {
            rest = [rest[0] - row.side_ns[0], rest[1] - row.side_ns[1]];
            t.add_row(line(&words::row(row, &comparison.programs), row.side_ns, a, many, row.stands));
        }
        t.add_row(line("all others", rest, a, many, None));
        t.add_row(line("total", [a, b], a, many, None));
        write_table(&mut t, out)?;
    }
    Ok(())
}

fn line(name: &str, side_ns: [i64; 2], unit: i64, many: bool, stands: Option<bool>) -> Vec<String> {
    let change = side_ns[1] - side_ns[0];
    let share = if unit > 0 { words::change(change as f64 / unit as f64) } else { "–".to_owned() };
    let stands = match stands {
        Some(true) => "yes",
        Some(false) => "no",
        None => "",
    };
    let time = |ns: i64| if ns < 0 { words::change_ns(ns) } else { duration(ns.unsigned_abs()) };
    let mut cells = vec![cut(name, 44), time(side_ns[0]), time(side_ns[1]), words::change_ns(change), share];
    cells.extend(many.then(|| stands.to_owned()));
    cells
}
