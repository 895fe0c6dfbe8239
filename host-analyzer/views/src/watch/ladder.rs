//! Where the time of a token went: in the last seconds, then since the session began.

use ratatui::style::Style;
use ratatui::text::Line;

use super::screen::Seen;
use super::{BAD, DIM, WARN};
use crate::terminal::ladder::{per_unit, step_lines, sum_lines, title, units};
use crate::terminal::style::Colour;
use crate::words;
use profinfer_analysis::ladder::Question;

/// Columns from which on a step of the operators has room for its figures.
const WIDE: usize = 120;

/// The ladder of decode tokens, or of prompts while there is no token.
pub(super) fn lines(seen: &Seen, width: usize) -> Vec<Line<'static>> {
    let (ladders, replay) = (&seen.analysis.ladder, &seen.analysis.replay);
    let ladder = ladders.of(Question::Decode).or_else(|| ladders.of(Question::Prompt));
    let mut lines = Vec::new();
    let mut push = |colour: Option<Colour>, text: Vec<String>| {
        lines.extend(text.into_iter().map(|text| Line::styled(text, style(colour))));
    };
    match ladder {
        Some(ladder) => {
            push(None, vec![title(ladder)]);
            for step in &ladder.steps {
                let label = if width < WIDE { words::ladder::short_label } else { words::ladder::label };
                let (colour, text) = step_lines(step, label(step, ladder, replay), ladder, width);
                push(colour, text);
            }
        }
        None => push(None, vec!["No token was generated in this window.".to_owned()]),
    }
    if !replay.scheduler {
        let text = "Without --levels all, delays by other programs may be in any of these steps.";
        push(Some(Colour::Dim), vec![text.to_owned()]);
    }
    let question = ladder.map_or(Question::Decode, |ladder| ladder.question);
    for (question, sum) in seen.totals.iter().filter(|(of, _)| *of == question) {
        let seen = format!("{} seen since the session began", units(*question, sum.units));
        push(None, vec![String::new(), format!("{seen}: {}", per_unit(*question, sum))]);
        sum_lines(sum, width).into_iter().for_each(|(colour, text)| push(colour, text));
    }
    lines
}

const fn style(colour: Option<Colour>) -> Style {
    match colour {
        Some(Colour::Bad) => BAD,
        Some(Colour::Warn) => WARN,
        Some(Colour::Dim) => DIM,
        _ => Style::new(),
    }
}
