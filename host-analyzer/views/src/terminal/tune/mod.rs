//! Measured settings on the terminal: the recommendation, then the curve.

mod prediction;

use std::io::{self, Write};

use super::style::{Colour, Sheet, bar, cut, table, wrapped, write_table};
use crate::words::{duration, one_line, tune as words};
use profinfer_analysis::tune::{Setting, Tried, Tuning};

pub use prediction::prediction;

/// Width of a bar.
const BAR: usize = 8;

/// Writes the measured settings in at most `width` columns.
///
/// # Errors
/// Those of `out`.
pub fn tune(tuning: &Tuning, settings: &[Setting], width: usize, out: &mut dyn Write) -> io::Result<()> {
    let out = &mut Sheet::new(out, width);
    for (i, sentence) in words::advice(tuning, settings).iter().enumerate() {
        let sure = tuning.choice.is_some() && tuning.open.is_empty();
        let colour = if sure && i == 0 { Colour::Good } else { Colour::Warn };
        for line in wrapped(sentence, out.width()) {
            writeln!(out, "{}", colour.paint(&line))?;
        }
    }
    writeln!(out)?;
    let mut t = table(&["setting", "token", "t/s", "", "", "longer by", "prompt token", "runs"]);
    let fastest = tuning.fastest.and_then(|i| tuning.tried[i].as_ref()).map_or(0, |t| t.token_ns);
    for (setting, tried) in settings.iter().zip(&tuning.tried) {
        let name = cut(&one_line(&setting.name), 24);
        let Some(tried) = tried else {
            t.add_row([name, "–".to_owned()]);
            continue;
        };
        t.add_row([
            name,
            duration(tried.token_ns),
            words::figure(1e9 / tried.token_ns.max(1) as f64),
            bar(fastest as f64 / tried.token_ns.max(1) as f64, BAR),
            words::standing(tried.standing).to_owned(),
            words::longer(tried),
            tried.prompt_ns.map_or_else(|| "–".to_owned(), duration),
            tried.side.runs.len().to_string(),
        ]);
    }
    write_table(&mut t, out)?;
    sensors(tuning, settings, out)?;
    out.left_out()
}

/// Clocks and power, if there are sensors.
fn sensors(tuning: &Tuning, settings: &[Setting], out: &mut Sheet<'_>) -> io::Result<()> {
    let rows = || settings.iter().zip(&tuning.tried).filter_map(|(s, t)| Some((s, t.as_ref()?)));
    let any = |of: fn(&Tried) -> bool| rows().any(|(_, t)| of(t));
    if !any(|t| !t.clocks.is_empty() || !t.watts.is_empty()) {
        return Ok(());
    }
    let mut t = table(&["setting", "clocks while tokens were generated", "power", "energy per token"]);
    for (setting, tried) in rows() {
        let clocks: Vec<String> =
            tried.clocks.iter().map(|(name, hz)| format!("{} {:.0} MHz", one_line(name), hz / 1e6)).collect();
        let watts: Vec<String> = tried
            .watts
            .iter()
            .map(|(name, w)| format!("{} {} W", one_line(name), words::figure(*w)))
            .collect();
        t.add_row([
            cut(&one_line(&setting.name), 24),
            clocks.join(", "),
            watts.join(", "),
            tried.joules.map_or_else(|| "–".to_owned(), |j| format!("{} J", words::figure(j))),
        ]);
    }
    write_table(&mut t, out)
}
