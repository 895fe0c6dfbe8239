//! Gauges: values of the board's sensors, over the session and while tokens were generated.
//!
//! Stage: analysis. From: samples and `llama_decode` calls. To: one [`Gauge`] row each. Promises:
//! means are weighted by time, over the time with known values only. Bytes per token cover only
//! calls with known values throughout.

mod segments;

pub use segments::{Segment, segments};

use crate::shared::phase::Phases;
use profinfer_trace::model::{self, GaugeUnit, Model};

#[derive(Debug, Clone, PartialEq)]
pub struct Gauge {
    pub name: String,
    /// `frequency`, `temperature`, `load`, `ddr` or `power`.
    pub kind: &'static str,
    /// Unit of the figures: `hertz`, `millidegrees`, `percent`, `bytes_per_s` or `microwatts`.
    pub unit: &'static str,
    /// The file, or PMU/event.
    pub source: String,
    /// Time between two samples, ns.
    pub period_ns: u64,
    /// Whether the agent read it.
    pub attached: bool,
    /// Why it was not read, or why values or figures are absent.
    pub note: Note,
    /// Samples with a value.
    pub samples: u64,
    /// Samples without a value: the sensor could not be read.
    pub absent: u64,
    /// Over the complete session.
    pub whole: Option<Figures>,
    /// While decode calls ran.
    pub decode: Option<Figures>,
    /// For bytes: per token of the decode calls with known values throughout.
    pub decode_bytes_per_token: Option<f64>,
    /// Number of these tokens.
    pub decode_tokens: u64,
}

/// Why a gauge has no values or no figures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// In the agent's words; empty when there is no remark.
    Agent(String),
    /// It counted nothing, so it does not work on this board.
    CountedNothing,
}

/// Figures over some time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figures {
    /// Least value.
    pub min: f64,
    /// Mean, weighted by time.
    pub mean: f64,
    /// Greatest value.
    pub max: f64,
    /// Time with known values, ns.
    pub covered_ns: u64,
}

/// A time in which calls ran, and their tokens.
#[derive(Debug, Clone, Copy)]
struct Interval {
    start_ns: u64,
    end_ns: u64,
    tokens: u64,
}

/// All gauges, in the agent's order.
#[must_use]
pub fn gauges(model: &Model, phases: &Phases) -> Vec<Gauge> {
    let decode = decode_intervals(model, phases);
    model.gauges.iter().map(|g| gauge(g, &decode)).collect()
}

fn gauge(g: &model::Gauge, decode: &[Interval]) -> Gauge {
    let samples = g.values.iter().flatten().count() as u64;
    let mut segments = segments(g);
    let mut note = Note::Agent(g.note.clone());
    // A memory controller that moved nothing while a program ran: its counter does not work on this
    // board.
    if g.unit == GaugeUnit::Bytes && !segments.is_empty() && segments.iter().all(|s| s.value == 0.0) {
        segments.clear();
        note = Note::CountedNothing;
    }
    let whole = Interval { start_ns: 0, end_ns: u64::MAX, tokens: 0 };
    let (bytes, tokens) = match g.unit {
        GaugeUnit::Bytes => per_token(&segments, decode),
        _ => (0.0, 0),
    };
    Gauge {
        name: g.name.clone(),
        kind: g.kind.name(),
        unit: unit(g.unit),
        source: g.source.clone(),
        period_ns: g.period_ns,
        attached: g.attached,
        note,
        samples,
        absent: g.values.len() as u64 - samples,
        whole: figures(&segments, &[whole]),
        decode: figures(&segments, decode),
        decode_bytes_per_token: (tokens > 0).then(|| bytes / tokens as f64),
        decode_tokens: tokens,
    }
}

const fn unit(unit: GaugeUnit) -> &'static str {
    match unit {
        GaugeUnit::Hertz => "hertz",
        GaugeUnit::Millidegrees => "millidegrees",
        GaugeUnit::Percent => "percent",
        GaugeUnit::Bytes => "bytes_per_s",
        GaugeUnit::Microwatts => "microwatts",
    }
}

/// Successful decode calls; overlapping calls of several contexts count as one.
fn decode_intervals(model: &Model, phases: &Phases) -> Vec<Interval> {
    let d = &model.llama_calls;
    let mut intervals: Vec<Interval> = Vec::new();
    for i in (0..d.len()).filter(|i| phases.llama_calls[*i] == phases.decode && d.status[*i] == 0) {
        let (start_ns, tokens) = (d.start_ns[i], u64::from(d.n_tokens[i]));
        let end_ns = start_ns.saturating_add(d.duration_ns[i]);
        match intervals.last_mut() {
            Some(last) if start_ns < last.end_ns => {
                last.end_ns = last.end_ns.max(end_ns);
                last.tokens += tokens;
            }
            _ => intervals.push(Interval { start_ns, end_ns, tokens }),
        }
    }
    intervals
}

/// Calls `see` with the index of an interval, a segment, and the length of their overlap. Both
/// lists are sorted by time, and do not overlap within themselves.
fn meet(segments: &[Segment], intervals: &[Interval], see: &mut dyn FnMut(usize, &Segment, u64)) {
    let mut first = 0;
    for (i, interval) in intervals.iter().enumerate() {
        while segments.get(first).is_some_and(|s| s.end_ns < interval.start_ns) {
            first += 1;
        }
        for s in segments[first..].iter().take_while(|s| s.start_ns <= interval.end_ns) {
            let (from, to) = (s.start_ns.max(interval.start_ns), s.end_ns.min(interval.end_ns));
            // Values that only touch the interval do not count. The last sample, which has no
            // length, does.
            let point = s.start_ns == s.end_ns && s.start_ns >= interval.start_ns;
            if to > from || point {
                see(i, s, to.saturating_sub(from));
            }
        }
    }
}

fn figures(segments: &[Segment], intervals: &[Interval]) -> Option<Figures> {
    let (mut min, mut max, mut sum, mut covered_ns) = (f64::INFINITY, f64::NEG_INFINITY, 0.0, 0u64);
    meet(segments, intervals, &mut |_, s, ns| {
        (min, max) = (min.min(s.value), max.max(s.value));
        sum += s.value * ns as f64;
        covered_ns += ns;
    });
    let mean = match covered_ns {
        // A single value is its own mean.
        0 => Some(min).filter(|_| min == max)?,
        ns => sum / ns as f64,
    };
    Some(Figures { min, mean, max, covered_ns })
}

/// Bytes and tokens of the intervals in which the rate is known throughout.
fn per_token(segments: &[Segment], intervals: &[Interval]) -> (f64, u64) {
    let mut seen = vec![(0.0, 0u64); intervals.len()];
    meet(segments, intervals, &mut |i, s, ns| {
        seen[i].0 += s.value * ns as f64 / 1e9;
        seen[i].1 += ns;
    });
    let whole = intervals.iter().zip(seen).filter(|(i, (_, ns))| *ns == i.end_ns - i.start_ns && *ns > 0);
    whole.fold((0.0, 0), |(bytes, tokens), (i, (b, _))| (bytes + b, tokens + i.tokens))
}
