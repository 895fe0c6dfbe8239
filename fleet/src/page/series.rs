//! Series of a fleet: captures of the same work on the same device, by time.

use super::chart;
use super::text;
use crate::ask::{Answer, Value};

/// Maximum number of charts on the page. The table of builds has all series.
const MOST: usize = 24;

pub(super) struct Point {
    pub(super) date: String,
    pub(super) engine: String,
    pub(super) speed: f64,
}

pub(super) struct Series {
    pub(super) board: String,
    pub(super) title: String,
    pub(super) points: Vec<Point>,
    /// Number of captures before the change, if it is significant.
    pub(super) change: Option<usize>,
}

const KEYS: [&str; 6] = ["board", "cpu_model", "model", "weights_hash", "threads", "device"];

/// All series, in the order of the answer: by series and time.
pub(super) fn of(captures: &Answer, regressions: &Answer) -> Vec<Series> {
    let key = |a: &Answer, row: &[Value]| KEYS.map(|k| a.get(row, k).clone());
    let mut all: Vec<([Value; 6], Series)> = Vec::new();
    for row in &captures.rows {
        let shown = |column| captures.get(row, column).shown();
        let Some(speed) = captures.get(row, "tokens_per_s").number().filter(|s| s.is_finite()) else {
            continue;
        };
        let point = Point { date: shown("date"), engine: shown("engine"), speed };
        let key = key(captures, row);
        match all.last_mut().filter(|(last, _)| *last == key) {
            Some((_, series)) => series.points.push(point),
            None => {
                let device = shown("device");
                let parts = [shown("board"), device, shown("model"), format!("{} threads", shown("threads"))];
                let title = parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join(" · ");
                all.push((key, Series { board: shown("board"), title, points: vec![point], change: None }));
            }
        }
    }
    for row in regressions.rows.iter().filter(|row| !matches!(regressions.get(row, "stands"), Value::Null)) {
        let key = key(regressions, row);
        if let Some((_, series)) = all.iter_mut().find(|(k, _)| *k == key) {
            series.change = regressions.get(row, "captures_before").number().map(|n| n as usize);
        }
    }
    all.into_iter().map(|(_, series)| series).collect()
}

/// A chart per series: those that changed first, then those with the most captures.
pub(super) fn section(all: &[Series]) -> String {
    let mut order: Vec<&Series> = all.iter().collect();
    order.sort_by_key(|s| (s.change.is_none(), std::cmp::Reverse(s.points.len())));
    let figures = order.iter().take(MOST).map(|series| {
        format!("<figure><figcaption>{}</figcaption>{}</figure>\n", text(&series.title), chart::of(series))
    });
    let left = order.len().saturating_sub(MOST);
    let more = if left == 0 {
        String::new()
    } else {
        format!("<p class=\"nothing\">{left} more series are in the table below.</p>")
    };
    format!(
        "<section><h2>Series</h2><p class=\"about\">Tokens a second of each capture, oldest first. The line is the median of a build; \
         a dashed line is where the speed changed.</p><div class=\"charts\">{}</div>{more}</section>\n",
        figures.collect::<String>()
    )
}
