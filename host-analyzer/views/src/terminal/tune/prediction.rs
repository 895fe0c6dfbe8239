//! Estimated settings on the terminal: what to try, the curve, then the parts of a token's time.

use std::io::{self, Write};

use super::super::style::{Colour, Sheet, bar, cut, table, wrapped, write_table};
use super::BAR;
use crate::words::{duration, one_line, tune as words};
use profinfer_analysis::tune::Prediction;

/// Writes the estimate in at most `width` columns. `source` is the recording, if settings are to be
/// tried next.
///
/// # Errors
/// Those of `out`.
pub fn prediction(
    prediction: &Prediction,
    source: Option<&str>,
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    let out = &mut Sheet::new(out, width);
    for (i, sentence) in words::estimated(prediction, source).iter().enumerate() {
        let colour = match (i, prediction.choice) {
            (0, Some(_)) => Colour::Good,
            (0, None) => Colour::Warn,
            _ => Colour::Dim,
        };
        for line in wrapped(sentence, out.width()) {
            writeln!(out, "{}", colour.paint(&line))?;
        }
    }
    writeln!(out)?;
    let best = prediction.settings.iter().map(|s| s.token_ns).fold(f64::INFINITY, f64::min);
    let mut t = table(&["estimated", "cores", "token", "t/s", "", ""]);
    for setting in &prediction.settings {
        t.add_row([
            cut(&words::name(setting), 24),
            cut(&one_line(setting.core.as_deref().unwrap_or("–")), 20),
            duration(setting.token_ns.round() as u64),
            words::range(setting),
            bar(best / setting.token_ns.max(1.0), BAR),
            words::standing_of(setting).to_owned(),
        ]);
    }
    write_table(&mut t, out)?;
    writeln!(out)?;
    let recorded = &prediction.makeup;
    let of = format!("{} tokens, {} threads", recorded.tokens, recorded.threads);
    let mut t = table(&[&of, "per token", "scales with"]);
    for (part, time, scales) in words::parts(prediction) {
        t.add_row([part, time, scales.to_owned()]);
    }
    write_table(&mut t, out)?;
    out.left_out()
}
